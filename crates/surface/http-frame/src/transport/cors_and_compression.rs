//! Adds CORS headers and compression to responses, for the clients that ask for them.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http_body::Body as HttpBody;
use tower::{Layer, Service, ServiceExt};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{
    DefaultPredicate, NotForContentType, Predicate, SizeAbove,
};
use tower_http::cors::CorsLayer;

use super::cors;
use super::stream_progress::ResponseMemory;
use crate::static_content::AlreadyCompressed;

/// Shorter responses are not compressed: most refusals are shorter, and a compressor takes far more
/// memory than it would save in bytes.
const COMPRESSED_BYTES_MIN: u64 = 1024;
/// Memory of a compressor beside the response that it reads: measured, rounded up.
const COMPRESSOR_BYTES: usize = 256 * 1024;

pub(super) struct CorsAndCompression {
    cors: CorsLayer,
}

impl CorsAndCompression {
    pub(super) fn new() -> CorsAndCompression {
        CorsAndCompression { cors: cors::build_cors_layer() }
    }

    pub(super) fn call_service<S>(
        &self,
        inner: S,
        request: Request,
    ) -> BoxFuture<'static, Result<Response, Infallible>>
    where
        S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send + 'static,
    {
        // Each response is compressed for one client: higher levels cost more than they save.
        let compression = CompressionLayer::new()
            .gzip(true)
            .br(true)
            .quality(CompressionLevel::Fastest)
            .compress_when(compression_predicate());
        let dressed = self.cors.layer(compression.layer(inner.map_response(with_memory)));
        Box::pin(async move { Ok(dressed.oneshot(request).await?.map(Body::new)) })
    }
}

/// Records the memory of a response of known length; its compressed body has no length.
fn with_memory(mut response: Response) -> Response {
    let is_shared = response.extensions().get::<AlreadyCompressed>().is_some();
    let length = response.body().size_hint().exact().filter(|_| !is_shared);
    let compressor = if length < Some(COMPRESSED_BYTES_MIN) { 0 } else { COMPRESSOR_BYTES };
    if let Some(length) = length.and_then(|length| usize::try_from(length).ok()) {
        let memory = ResponseMemory(length.saturating_add(compressor));
        response.extensions_mut().insert(memory);
    }
    response
}

/// Audio and video are already compressed, and a streamed one must not be delayed in a compressor.
fn compression_predicate() -> impl Predicate {
    DefaultPredicate::new()
        .and(SizeAbove::new(COMPRESSED_BYTES_MIN))
        .and(NotForContentType::const_new("audio/"))
        .and(NotForContentType::const_new("video/"))
        .and(NotAlreadyCompressed)
}

#[derive(Debug, Clone, Copy)]
struct NotAlreadyCompressed;

impl Predicate for NotAlreadyCompressed {
    fn should_compress<B: HttpBody>(&self, response: &axum::http::Response<B>) -> bool {
        response.extensions().get::<AlreadyCompressed>().is_none()
    }
}
