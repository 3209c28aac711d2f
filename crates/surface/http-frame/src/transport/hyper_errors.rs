//! Replaces hyper's empty responses to malformed or oversized requests by our error envelope.
//!
//! Such a request never reaches a layer: hyper writes its own response. It is recognised by its
//! first line and by lacking our headers, and is replaced before it is written.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::version::VERSION;

/// Bytes still read when a connection is closed, so that the client can read the response.
const LEFT_BYTES_MAX: usize = 1024 * 1024;

/// First lines of hyper's responses, with the status and message that replace them.
const CANNED: [(&[u8], &str, &str); 3] = [
    (b"HTTP/1.1 400 Bad Request\r\n", "400 Bad request", "The HTTP request is malformed."),
    (b"HTTP/1.1 414 URI Too Long\r\n", "414 URI too long", "The URL is too long."),
    (
        b"HTTP/1.1 431 Request Header Fields Too Large\r\n",
        "431 Request header fields too large",
        "The request line and headers are too large. Send at most 64 KiB of them.",
    ),
];

/// A connection on which hyper's own error responses are replaced.
pub(super) struct ErrorReplacingStream<S> {
    inner: S,
    replacing: Option<PendingReplacement>,
    was_replaced: bool,
}

struct PendingReplacement {
    left: Bytes,
    /// Length of hyper's response, reported to hyper as written.
    instead_of: usize,
}

impl<S> ErrorReplacingStream<S> {
    pub(super) fn new(inner: S) -> ErrorReplacingStream<S> {
        ErrorReplacingStream { inner, replacing: None, was_replaced: false }
    }
}

/// The response to write instead of `bytes`, if they are one of hyper's own error responses.
fn find_replacement(bytes: &[u8]) -> Option<Bytes> {
    let (_, status, message) = CANNED.iter().find(|(line, _, _)| bytes.starts_with(line))?;
    let head = std::str::from_utf8(bytes).ok()?;
    if head.contains("x-request-id:") || !head.ends_with("\r\n\r\n") {
        return None;
    }
    let body = serde_json::json!({ "error": message }).to_string();
    let length = body.len();
    Some(Bytes::from(format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\nx-service-version: {VERSION}\r\n\r\n{body}"
    )))
}

impl<S: AsyncRead + Unpin> AsyncRead for ErrorReplacingStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ErrorReplacingStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.replacing.is_none()
            && bytes.starts_with(b"HTTP/1.1 4")
            && let Some(left) = find_replacement(bytes)
        {
            this.was_replaced = true;
            this.replacing = Some(PendingReplacement { left, instead_of: bytes.len() });
        }
        let Some(replacing) = &mut this.replacing else {
            return Pin::new(&mut this.inner).poll_write(context, bytes);
        };
        while replacing.left.has_remaining() {
            let inner = Pin::new(&mut this.inner);
            let written = ready!(inner.poll_write(context, &replacing.left))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            replacing.left.advance(written);
        }
        let instead_of = replacing.instead_of;
        this.replacing = None;
        Poll::Ready(Ok(instead_of))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = slices.iter().find(|slice| !slice.is_empty());
        match first {
            Some(first) if first.starts_with(b"HTTP/1.1 4") => self.poll_write(context, first),
            _ => Pin::new(&mut self.inner).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.inner).poll_shutdown(context))?;
        if self.was_replaced {
            self.discard_left(context);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> ErrorReplacingStream<S> {
    /// Discards received bytes. Closing with unread bytes would reset the connection.
    fn discard_left(&mut self, context: &mut Context<'_>) {
        let mut space = [0; 8 * 1024];
        let mut seen = 0;
        while seen < LEFT_BYTES_MAX {
            let mut buffer = ReadBuf::new(&mut space);
            match Pin::new(&mut self.inner).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => seen += buffer.filled().len(),
                _ => return,
            }
        }
    }
}
