//! Finds the end of a response's body (RFC 9112, 6.3), incrementally.

use bytes::{Buf as _, Bytes};

use super::chunks::Chunks;
use super::malformed::Malformed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Counted {
        left: u64,
    },
    Chunked(Chunks),
    /// The body ends with the connection.
    ToClose,
}

impl Framing {
    pub(crate) const NOTHING: Framing = Framing::Counted { left: 0 };

    /// The next available piece of the body. `None` if all available bytes are consumed or the body
    /// is over.
    pub(crate) fn take(&mut self, unread: &mut Bytes) -> Result<Option<Bytes>, Malformed> {
        let ready = match self {
            Framing::Counted { left } => *left,
            Framing::Chunked(chunks) => chunks.seek(unread)?,
            Framing::ToClose => u64::MAX,
        };
        let count = usize::try_from(ready).unwrap_or(usize::MAX).min(unread.len());
        if count == 0 {
            return Ok(None);
        }
        let piece = unread.split_to(count);
        match self {
            Framing::Counted { left } => *left -= count as u64,
            Framing::Chunked(chunks) => {
                chunks.pass(count as u64);
                // The end may already be available. An error is reported after all bytes before it
                // were read.
                let _ = chunks.seek(unread);
            }
            Framing::ToClose => {}
        }
        Ok(Some(piece))
    }

    pub(crate) fn is_over(&self) -> bool {
        match self {
            Framing::Counted { left } => *left == 0,
            Framing::Chunked(chunks) => chunks.is_over(),
            Framing::ToClose => false,
        }
    }

    /// A lower bound of the remaining bytes of the body.
    pub(crate) fn left_min(&self) -> u64 {
        match self {
            Framing::Counted { left } => *left,
            Framing::Chunked(chunks) => chunks.left_min(),
            Framing::ToClose => 0,
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
