//! Encodes a request for a connection of our own pool.

use std::io::{self, IoSlice, Write as _};
use std::task::{Context, Poll, ready};

use bytes::{Buf, BufMut, Bytes};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName};

use crate::content::{ContentPieces, RequestContent};
use crate::socket::PlainSocket;

/// Content up to this size is copied after the head: one slice is written faster than two.
const COPIED_BYTES_MAX: usize = 4 * 1024;
/// Maximum digits of a content length.
const LENGTH_DIGITS_MAX: usize = 20;
/// A head and the pieces of the content.
const SLICES_MAX: usize = 4;

/// The unwritten part of a request.
pub(crate) struct OutgoingRequest {
    head: Bytes,
    /// Content that was not copied after the head.
    body: Option<Box<ContentPieces>>,
    is_begun: bool,
}

/// A prepared head of POST requests, with gaps for the values that differ.
#[derive(Clone)]
pub(crate) struct PostHead {
    bytes: Bytes,
    media_type_at: usize,
    length_at: usize,
}

impl OutgoingRequest {
    /// A request without content.
    pub(crate) fn get(path: &str, headers: &HeaderMap) -> OutgoingRequest {
        OutgoingRequest::without_content("GET", path, headers, b"\r\n")
    }

    /// A PUT with empty content.
    pub(crate) fn put(path: &str, headers: &HeaderMap) -> OutgoingRequest {
        OutgoingRequest::without_content("PUT", path, headers, b"content-length: 0\r\n\r\n")
    }

    pub(crate) fn delete(path: &str, headers: &HeaderMap) -> OutgoingRequest {
        OutgoingRequest::without_content("DELETE", path, headers, b"\r\n")
    }

    fn without_content(
        method: &str,
        path: &str,
        headers: &HeaderMap,
        end: &[u8],
    ) -> OutgoingRequest {
        let mut head = first_line(method, path);
        for name in headers.keys() {
            if name != CONTENT_TYPE && name != CONTENT_LENGTH {
                push_header(&mut head, headers, name);
            }
        }
        head.extend_from_slice(end);
        OutgoingRequest { head: head.into(), body: None, is_begun: false }
    }

    /// True if the server may have received part of it.
    pub(crate) fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// Ready when the whole request is written.
    pub(crate) fn poll_write(
        &mut self,
        socket: &mut PlainSocket,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.head.has_remaining() || self.body.is_some() {
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let mut count = self.head.chunks_vectored(&mut slices);
            if let Some(body) = &self.body {
                count += body.chunks_vectored(&mut slices[count..]);
            }
            let written = ready!(socket.poll_write(context, &slices[..count]))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.is_begun = true;
            self.advance(written);
        }
        Poll::Ready(Ok(()))
    }

    fn advance(&mut self, written: usize) {
        let of_head = written.min(self.head.len());
        self.head.advance(of_head);
        if let Some(body) = &mut self.body {
            body.advance(written - of_head);
            self.body.take_if(|body| !body.has_remaining());
        }
    }
}

impl PostHead {
    /// The gaps are at the position of the media type in `headers`.
    pub(crate) fn new(path: &str, headers: &HeaderMap) -> PostHead {
        let mut bytes = first_line("POST", path);
        let (mut media_type_at, mut length_at) = (0, 0);
        for name in headers.keys() {
            if name == CONTENT_TYPE {
                bytes.extend_from_slice(b"content-type: ");
                media_type_at = bytes.len();
                bytes.extend_from_slice(b"\r\ncontent-length: ");
                length_at = bytes.len();
                bytes.extend_from_slice(b"\r\n");
            } else if name != CONTENT_LENGTH {
                push_header(&mut bytes, headers, name);
            }
        }
        bytes.extend_from_slice(b"\r\n");
        PostHead { bytes: bytes.into(), media_type_at, length_at }
    }

    pub(crate) fn fill(&self, content: RequestContent) -> OutgoingRequest {
        let (media_type, mut pieces) = (content.media_type, content.pieces);
        let length = pieces.remaining();
        let copied = if length <= COPIED_BYTES_MAX { length } else { 0 };
        let room = self.bytes.len() + media_type.len() + LENGTH_DIGITS_MAX + copied;
        let mut head = Vec::with_capacity(room);
        head.extend_from_slice(&self.bytes[..self.media_type_at]);
        head.extend_from_slice(media_type.as_bytes());
        head.extend_from_slice(&self.bytes[self.media_type_at..self.length_at]);
        write!(head, "{length}").expect("memory takes every byte");
        head.extend_from_slice(&self.bytes[self.length_at..]);
        head.put((&mut pieces).take(copied));
        let body = pieces.has_remaining().then(|| Box::new(pieces));
        OutgoingRequest { head: head.into(), body, is_begun: false }
    }
}

fn first_line(method: &str, path: &str) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\n").into_bytes()
}

fn push_header(head: &mut Vec<u8>, headers: &HeaderMap, name: &HeaderName) {
    for value in headers.get_all(name) {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_content_is_copied() {
        let form = PostHead::new("/", &HeaderMap::new());
        let short = form.fill(RequestContent::json(vec![b' '; COPIED_BYTES_MAX]));
        assert!(short.body.is_none() && COPIED_BYTES_MAX < short.head.len());

        let content = Bytes::from(vec![b' '; COPIED_BYTES_MAX + 1]);
        let long = form.fill(RequestContent::json(content.clone()));
        assert_eq!(long.body.unwrap().chunk().as_ptr(), content.as_ptr());
    }
}
