//! What happens to every request whatever it asks for: ids, logs, headers, compression, CORS.
//!
//! Layers are for transport only. Who may call, how often and at what price is decided in
//! [`crate::call`].

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

/// Wraps the routes in everything that all of them share.
pub fn wrap(routes: Router<Shared>, app: &Shared) -> Router<Shared> {
    routes.layer(Attend::new(app))
}
