//! A connection to a server without TLS.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

pub(crate) enum PlainSocket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl PlainSocket {
    /// Reads available bytes without waiting; registers no wake-up.
    pub(crate) fn try_read(&self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            PlainSocket::Tcp(stream) => stream.try_read(room),
            PlainSocket::Unix(stream) => stream.try_read(room),
        }
    }

    pub(crate) fn poll_read_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            PlainSocket::Tcp(stream) => stream.poll_read_ready(context),
            PlainSocket::Unix(stream) => stream.poll_read_ready(context),
        }
    }

    pub(crate) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            PlainSocket::Tcp(stream) => poll_write_slices(Pin::new(stream), context, slices),
            PlainSocket::Unix(stream) => poll_write_slices(Pin::new(stream), context, slices),
        }
    }
}

impl AsyncRead for PlainSocket {
    fn poll_read(
        self: Pin<&mut PlainSocket>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            PlainSocket::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            PlainSocket::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

/// One slice is cheaper to write than a vectored write.
fn poll_write_slices(
    stream: Pin<&mut impl AsyncWrite>,
    context: &mut Context<'_>,
    slices: &[IoSlice<'_>],
) -> Poll<io::Result<usize>> {
    match slices {
        [only] => stream.poll_write(context, only),
        several => stream.poll_write_vectored(context, several),
    }
}
