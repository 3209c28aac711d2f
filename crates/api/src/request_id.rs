//! The id of a request, and which request a task works for.

use std::future::Future;

use axum::http::Extensions;

tokio::task_local! {
    /// The request that is being worked for. Every line of the log names it.
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

    pub(crate) fn new(id: String) -> RequestId {
        RequestId(id)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
