//! CORS: allows pages of any origin, because credentials here are headers, never cookies.

use std::time::Duration;

use axum::http::{HeaderName, Method};
use tower_http::cors::{Any, CorsLayer};

/// Response headers that browsers may read. x402 clients need the payment headers.
const EXPOSED: [&str; 34] = [
    "cf-ray",
    "content-disposition",
    "deprecation",
    "idempotent-replayed",
    "link",
    "payment-required",
    "payment-response",
    "retry-after",
    "retry-after-ms",
    "sunset",
    "x-balance-remaining",
    "x-next-cursor",
    "x-pagination-limit",
    "x-pagination-page",
    "x-pagination-total",
    "x-pagination-total-pages",
    "x-payment-response",
    "x-ratelimit-limit-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-request-id",
    "x-service-balance-diem",
    "x-service-balance-usd",
    "x-service-model-deprecation-date",
    "x-service-model-deprecation-warning",
    "x-service-model-id",
    "x-service-model-name",
    "x-service-model-router",
    "x-service-rpc-cost-usd",
    "x-service-rpc-credits",
    "x-service-version",
];

pub(super) fn build_cors_layer() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST, Method::PATCH, Method::DELETE])
        // Any header: SDKs add their own (`x-stainless-*`), and the x402 client even sends
        // `Access-Control-Expose-Headers`. The wildcard does not cover Authorization, so the layer
        // echoes the headers that the browser requests.
        .allow_headers(tower_http::cors::AllowHeaders::mirror_request())
        .expose_headers(EXPOSED.map(HeaderName::from_static))
        .max_age(Duration::from_secs(3600))
}
