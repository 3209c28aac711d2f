//! What happens to every request whatever it asks for: ids, logs, headers, compression, CORS.
//!
//! Layers are for transport only. Who may call, how often and at what price is decided in
//! [`crate::call`], in the open.

pub mod server;
mod tally;

mod attend;
mod cors;
mod dress;

use axum::Router;
use axum::http::Extensions;

use self::attend::Attend;
use crate::app::Shared;

/// The 32 hexadecimal digits that name a request in headers, logs and usage rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    /// The id that this request was given when it arrived.
    pub(crate) fn of(extensions: &Extensions) -> RequestId {
        extensions.get::<RequestId>().cloned().expect("every request is given an id on arrival")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Wraps the routes in everything that all of them share.
pub fn wrap(routes: Router<Shared>, app: &Shared) -> Router<Shared> {
    routes.layer(Attend::new(app))
}
