//! Adds CORS headers and compression to responses, for the clients that ask for them.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures_util::future::BoxFuture;
use tower::{Layer, Service, ServiceExt};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::cors::CorsLayer;

use super::cors;

pub(super) struct Dress {
    cors: CorsLayer,
}

impl Dress {
    pub(super) fn new() -> Dress {
        Dress { cors: cors::layer() }
    }

    pub(super) fn call<S>(
        &self,
        inner: S,
        request: Request,
    ) -> BoxFuture<'static, Result<Response, Infallible>>
    where
        S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send + 'static,
    {
        // Each answer is packed for one reader: trying harder costs more than the bytes it saves.
        let compression = CompressionLayer::new()
            .gzip(true)
            .br(true)
            .quality(CompressionLevel::Fastest)
            .compress_when(is_worth_it());
        let dressed = self.cors.layer(compression.layer(inner));
        Box::pin(async move { Ok(dressed.oneshot(request).await?.map(Body::new)) })
    }
}

/// Sound and videos are small already, and one that is streamed must not wait in a compressor.
fn is_worth_it() -> impl Predicate {
    DefaultPredicate::new()
        .and(NotForContentType::const_new("audio/"))
        .and(NotForContentType::const_new("video/"))
}
