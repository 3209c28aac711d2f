//! Finds the end of a response's body (RFC 9112, 6.3), incrementally.

use bytes::{Buf as _, Bytes};

use super::chunks::ChunkedDecoder;
use super::malformed::MalformedResponse;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyFraming {
    Counted {
        left: u64,
    },
    Chunked(ChunkedDecoder),
    /// The body ends with the connection.
    ToClose,
}

impl BodyFraming {
    pub(crate) const NOTHING: BodyFraming = BodyFraming::Counted { left: 0 };

    /// The next available piece of the body. `None` if all available bytes are consumed or the body
    /// is over.
    pub(crate) fn take(&mut self, unread: &mut Bytes) -> Result<Option<Bytes>, MalformedResponse> {
        let ready = match self {
            BodyFraming::Counted { left } => *left,
            BodyFraming::Chunked(chunks) => chunks.decode_to_data(unread)?,
            BodyFraming::ToClose => u64::MAX,
        };
        let count = usize::try_from(ready).unwrap_or(usize::MAX).min(unread.len());
        if count == 0 {
            return Ok(None);
        }
        let piece = unread.split_to(count);
        match self {
            BodyFraming::Counted { left } => *left -= count as u64,
            BodyFraming::Chunked(chunks) => {
                chunks.consume_data(count as u64);
                // The end may already be available. An error is reported after all bytes before it
                // were read.
                let _ = chunks.decode_to_data(unread);
            }
            BodyFraming::ToClose => {}
        }
        Ok(Some(piece))
    }

    pub(crate) fn is_over(&self) -> bool {
        match self {
            BodyFraming::Counted { left } => *left == 0,
            BodyFraming::Chunked(chunks) => chunks.is_over(),
            BodyFraming::ToClose => false,
        }
    }

    /// A lower bound of the remaining bytes of the body.
    pub(crate) fn left_min(&self) -> u64 {
        match self {
            BodyFraming::Counted { left } => *left,
            BodyFraming::Chunked(chunks) => chunks.left_min(),
            BodyFraming::ToClose => 0,
        }
    }
}

/// Discards bytes. Frees the buffer once all of it is consumed.
pub(super) fn pass_over(unread: &mut Bytes, count: usize) {
    if count == unread.len() {
        *unread = Bytes::new();
    } else {
        unread.advance(count);
    }
}
