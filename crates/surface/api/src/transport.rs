//! Transport common to all routes: request ids, logs, headers, compression, CORS.
//!
//! Layers are for transport only. Authentication, limits and prices are decided in [`crate::call`].

pub(crate) mod body_guard;
pub mod connection_limits;
pub(crate) mod graceful_close;
mod idle;
mod request_metrics;
pub mod server;
pub mod timeouts;

mod cors;
mod cors_and_compression;
mod hyper_errors;
mod layer;
mod stream_progress;
mod unread_body;
mod unsent_bytes;
mod write_timeout;

use axum::Router;

use self::layer::TransportLayer;
use crate::app::SharedApp;

/// Wraps the routes in the one layer that all of them share.
pub fn wrap_routes(routes: Router<SharedApp>, app: &SharedApp) -> Router<SharedApp> {
    routes.layer(TransportLayer::new(app))
}
