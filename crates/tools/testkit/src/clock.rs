//! The clock of a service under test, which only tests advance.

use std::sync::Arc;
use std::time::Duration;

use moment::{Clock, ManualClock};

/// The service's clock.
#[derive(Clone)]
pub struct TestClock(pub Arc<ManualClock>);

impl TestClock {
    pub fn advance_s(&self, seconds: u64) {
        self.0.advance(Duration::from_secs(seconds));
    }

    pub fn now_text(&self) -> String {
        self.0.now().to_string()
    }

    pub fn now_s(&self) -> i64 {
        self.0.now().seconds()
    }

    pub fn now_plus_s(&self, seconds: u64) -> String {
        self.0.now().plus(Duration::from_secs(seconds)).to_string()
    }
}
