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

mod attend;
mod cors;
mod dress;
mod unparsed;
mod unread;
mod write_timeout;

use axum::Router;
use axum::http::Extensions;

use self::attend::Attend;
use crate::app::Shared;

tokio::task_local! {
    /// The request that is being worked for. Every line of the log that is written meanwhile names
    /// it, whoever writes it.
    static CURRENT: RequestId;
}

/// Tells the id of the request that is being worked for, if there is one.
pub fn with_current_request(tell: impl FnOnce(&str)) {
    let _ = CURRENT.try_with(|RequestId(id)| {
        if !id.is_empty() {
            tell(id);
        }
    });
}

/// Work for a request, wherever it runs.
pub(crate) fn for_request<F: Future>(id: RequestId, work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(id, work)
}

/// Work that goes on in a task of its own, still for the same request.
pub(crate) fn for_same_request<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let id = CURRENT.try_with(RequestId::clone).unwrap_or_default();
    CURRENT.scope(id, work)
}

/// The 32 hexadecimal digits that name a request in headers, logs and usage rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    /// The id that this request was given when it arrived.
    pub(crate) fn of(extensions: &Extensions) -> RequestId {
        extensions.get::<RequestId>().cloned().expect("every request is given an id on arrival")
    }

    /// The id that another node has given a request.
    pub(crate) fn given(id: String) -> RequestId {
        RequestId(id)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Wraps the routes in everything that all of them share.
pub fn wrap(routes: Router<Shared>, app: &Shared) -> Router<Shared> {
    routes.layer(Attend::new(app))
}
