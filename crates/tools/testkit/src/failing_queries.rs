//! A store that can be made to fail, for tests of the resulting errors.

use std::sync::atomic::{AtomicBool, Ordering};

use store::StoreFuture;
use store::error::StoreError;
use store::intercept::StoreInterceptor;

/// Passes everything through until a test makes queries fail. Writes still succeed.
#[derive(Default)]
pub struct FailingQueries {
    is_failing: AtomicBool,
}

impl FailingQueries {
    pub fn fail(&self) {
        self.is_failing.store(true, Ordering::SeqCst);
    }
}

impl StoreInterceptor for FailingQueries {
    fn intercept_answer<'a, T: Send + 'a>(&self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if self.is_failing.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Failed("told to fail".to_owned())) });
        }
        answer
    }
}
