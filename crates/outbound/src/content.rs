//! The body of a request.

use bytes::buf::Chain;
use bytes::{Buf, Bytes};
use http::HeaderValue;
use http_body_util::Full;

/// A body and its media type. It can have three pieces, so that a large file between two parts of a
/// form is not copied.
pub struct Content {
    pub(crate) media_type: HeaderValue,
    pub(crate) pieces: Pieces,
}

pub(crate) type Pieces = Chain<Bytes, Chain<Bytes, Bytes>>;
pub(crate) type Body = Full<Pieces>;

impl Content {
    pub fn json(body: impl Into<Bytes>) -> Content {
        let media_type = HeaderValue::from_static("application/json");
        Content { media_type, pieces: pieces(body.into(), Bytes::new(), Bytes::new()) }
    }

    pub(crate) fn in_three(
        media_type: HeaderValue,
        before: Bytes,
        between: Bytes,
        after: Bytes,
    ) -> Content {
        Content { media_type, pieces: pieces(before, between, after) }
    }

    pub fn media_type(&self) -> &HeaderValue {
        &self.media_type
    }

    /// The body in one piece.
    pub fn into_bytes(mut self) -> Bytes {
        self.pieces.copy_to_bytes(self.pieces.remaining())
    }
}

fn pieces(before: Bytes, between: Bytes, after: Bytes) -> Pieces {
    before.chain(between.chain(after))
}
