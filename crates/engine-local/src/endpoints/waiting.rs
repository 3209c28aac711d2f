//! Whoever waits for a picture. When it goes away the work stops at its next step.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Dropped with the future of the request.
#[derive(Debug)]
pub(super) struct Waiting {
    is_wanted: Arc<AtomicBool>,
}

impl Waiting {
    /// What tells the work whether anybody still waits.
    pub(super) fn watch(&self) -> impl Fn() -> bool + Send + 'static {
        let is_wanted = Arc::clone(&self.is_wanted);
        move || is_wanted.load(Ordering::Acquire)
    }
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting { is_wanted: Arc::new(AtomicBool::new(true)) }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::Release);
    }
}
