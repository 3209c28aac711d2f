//! Transport common to all routes: request ids, logs, headers, compression, CORS.
//!
//! Layers are for transport only. Authentication, limits and prices are decided in [`crate::call`].

pub mod addresses;
pub(crate) mod closing;
mod idle;
pub(crate) mod lasting;
pub mod server;
mod tally;
pub mod timeouts;

mod attend;
mod cors;
mod dress;
mod stream_progress;
mod unparsed;
mod unread;
mod unsent;
mod write_timeout;

use axum::Router;

use self::attend::Attend;
use crate::app::Shared;

/// Wraps the routes in the one layer that all of them share.
pub fn wrap(routes: Router<Shared>, app: &Shared) -> Router<Shared> {
    routes.layer(Attend::new(app))
}
