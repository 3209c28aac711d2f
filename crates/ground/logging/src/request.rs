//! The request that the current task works for; every log line of the task has its id.

use std::future::Future;

tokio::task_local! {
    static CURRENT: String;
}

/// Calls `tell` with the id of the current request, if there is one.
pub fn with_current(tell: impl FnOnce(&str)) {
    let _ = CURRENT.try_with(|id| {
        if !id.is_empty() {
            tell(id);
        }
    });
}

/// Runs `work` for the request `id`.
pub fn with_request_id<F: Future>(id: String, work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(id, work)
}

/// Runs `work` in another task for the same request.
pub fn with_current_request_id<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let id = CURRENT.try_with(String::clone).unwrap_or_default();
    CURRENT.scope(id, work)
}
