//! Which request a task works for. Every line that it writes names that request.

use std::future::Future;

tokio::task_local! {
    static CURRENT: String;
}

/// Tells the id of the request that is being worked for, if there is one.
pub fn with_current(tell: impl FnOnce(&str)) {
    let _ = CURRENT.try_with(|id| {
        if !id.is_empty() {
            tell(id);
        }
    });
}

/// Work for a request, wherever it runs.
pub fn work_for<F: Future>(id: String, work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(id, work)
}

/// Work that goes on in a task of its own, still for the same request.
pub fn work_for_same<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let id = CURRENT.try_with(String::clone).unwrap_or_default();
    CURRENT.scope(id, work)
}
