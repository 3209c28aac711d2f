//! One connection: TCP, TLS, or a Unix socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

/// Bytes to and from a server: over TCP, TLS or a Unix socket, with or without a tunnel.
pub(crate) struct OutboundStream {
    bytes: Box<dyn ByteConnection>,
    /// Set if a proxy reads the requests and needs absolute URLs in them.
    is_read_by_proxy: bool,
}

trait ByteConnection: Read + Write + Connection + Send + Sync + Unpin {}

impl<T: Read + Write + Connection + Send + Sync + Unpin> ByteConnection for T {}

impl OutboundStream {
    pub(crate) fn to_server(
        bytes: impl Read + Write + Connection + Send + Sync + Unpin + 'static,
    ) -> OutboundStream {
        OutboundStream { bytes: Box::new(bytes), is_read_by_proxy: false }
    }

    pub(crate) fn to_proxy(
        bytes: impl Read + Write + Connection + Send + Sync + Unpin + 'static,
    ) -> OutboundStream {
        OutboundStream { bytes: Box::new(bytes), is_read_by_proxy: true }
    }
}

impl Connection for OutboundStream {
    fn connected(&self) -> Connected {
        self.bytes.connected().proxy(self.is_read_by_proxy)
    }
}

impl Read for OutboundStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.bytes).poll_read(context, buffer)
    }
}

impl Write for OutboundStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.bytes).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.bytes).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.bytes).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.bytes.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.bytes).poll_write_vectored(context, buffers)
    }
}
