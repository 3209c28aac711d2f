//! Cancels image work at its next step when the caller disconnects.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Dropped with the request's future.
#[derive(Debug)]
pub(super) struct CallerWatch {
    is_wanted: Arc<AtomicBool>,
}

impl CallerWatch {
    /// Returns a function that is true until the request's future is dropped.
    pub(super) fn watch(&self) -> impl Fn() -> bool + Send + 'static {
        let is_wanted = Arc::clone(&self.is_wanted);
        move || is_wanted.load(Ordering::Acquire)
    }
}

impl Default for CallerWatch {
    fn default() -> CallerWatch {
        CallerWatch { is_wanted: Arc::new(AtomicBool::new(true)) }
    }
}

impl Drop for CallerWatch {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::Release);
    }
}
