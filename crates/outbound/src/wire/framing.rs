//! Where the body of an answer ends (RFC 9112, 6.3), read off whatever bytes have come.

use bytes::{Buf as _, Bytes};

use super::chunks::Chunks;
use super::malformed::Malformed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Counted {
        left: u64,
    },
    Chunked(Chunks),
    /// It ends with the connection.
    ToClose,
}

impl Framing {
    pub(crate) const NOTHING: Framing = Framing::Counted { left: 0 };

    /// The next piece of the body that has come. Without one, all that has come is taken, or the
    /// body is over.
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
                // The end may be there already. An error is reported once all before it was read.
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

    /// The least number of bytes of the body that are to come.
    pub(crate) fn left_min(&self) -> u64 {
        match self {
            Framing::Counted { left } => *left,
            Framing::Chunked(chunks) => chunks.left_min(),
            Framing::ToClose => 0,
        }
    }
}

/// Takes bytes that nobody wants. Once all are taken their memory goes, too.
pub(super) fn pass_over(unread: &mut Bytes, count: usize) {
    if count == unread.len() {
        *unread = Bytes::new();
    } else {
        unread.advance(count);
    }
}
