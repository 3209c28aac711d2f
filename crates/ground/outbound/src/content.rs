//! The body of a request.

use bytes::buf::Chain;
use bytes::{Buf, Bytes};
use http::HeaderValue;
use http_body_util::Full;

/// A body and its media type. It can have three pieces, so that a large file between two parts of a
/// form is not copied.
pub struct RequestContent {
    pub(crate) media_type: HeaderValue,
    pub(crate) pieces: ContentPieces,
}

pub(crate) type ContentPieces = Chain<Bytes, Chain<Bytes, Bytes>>;
pub(crate) type OutboundBody = Full<ContentPieces>;

impl RequestContent {
    pub fn json(body: impl Into<Bytes>) -> RequestContent {
        let media_type = HeaderValue::from_static("application/json");
        RequestContent { media_type, pieces: chain_pieces(body.into(), Bytes::new(), Bytes::new()) }
    }

    /// A form that is encoded already.
    pub fn encoded_form(body: impl Into<Bytes>) -> RequestContent {
        let media_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        RequestContent { media_type, pieces: chain_pieces(body.into(), Bytes::new(), Bytes::new()) }
    }

    pub(crate) fn in_three(
        media_type: HeaderValue,
        before: Bytes,
        between: Bytes,
        after: Bytes,
    ) -> RequestContent {
        RequestContent { media_type, pieces: chain_pieces(before, between, after) }
    }

    pub fn media_type(&self) -> &HeaderValue {
        &self.media_type
    }

    /// The body in one piece.
    pub fn into_bytes(mut self) -> Bytes {
        self.pieces.copy_to_bytes(self.pieces.remaining())
    }
}

fn chain_pieces(before: Bytes, between: Bytes, after: Bytes) -> ContentPieces {
    before.chain(between.chain(after))
}
