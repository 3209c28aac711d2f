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

use std::sync::Arc;

use axum::Router;
use domain::entropy::EntropySource;
use moment::Clock;
use tokio_util::task::TaskTracker;

use self::layer::TransportLayer;

/// The parts of the service that the transport uses.
pub struct TransportContext<'a> {
    /// Sent as `x-service-host-name`; not sent if empty.
    pub host_name: &'a str,
    pub clock: Arc<dyn Clock>,
    /// Makes the ids of requests.
    pub entropy: Arc<dyn EntropySource>,
    /// Reads bodies that handlers have left unread.
    pub tasks: TaskTracker,
}

/// Wraps the routes in the one layer that all of them share.
pub fn wrap_routes<S: Clone + Send + Sync + 'static>(
    routes: Router<S>,
    context: TransportContext<'_>,
) -> Router<S> {
    routes.layer(TransportLayer::new(context))
}
