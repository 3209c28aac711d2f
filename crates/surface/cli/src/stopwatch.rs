//! Monotonic time, independent of the system clock.

use std::time::{Duration, Instant};

use ledger::MonotonicClock;

pub(crate) struct SystemStopwatch {
    started: Instant,
}

impl SystemStopwatch {
    pub(crate) fn start() -> SystemStopwatch {
        SystemStopwatch { started: Instant::now() }
    }
}

impl MonotonicClock for SystemStopwatch {
    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
