//! A store that can be made to fail, for testing what callers are told then.

use std::sync::atomic::{AtomicBool, Ordering};

use store::StoreFuture;
use store::error::StoreError;
use store::intercept::Intercept;

/// Lets everything pass, until it is told to fail questions. Groups are written all the same.
#[derive(Default)]
pub struct Flaky {
    is_failing: AtomicBool,
}

impl Flaky {
    pub fn fail(&self) {
        self.is_failing.store(true, Ordering::SeqCst);
    }
}

impl Intercept for Flaky {
    fn answer<'a, T: Send + 'a>(&self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if self.is_failing.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Failed("told to fail".to_owned())) });
        }
        answer
    }
}
