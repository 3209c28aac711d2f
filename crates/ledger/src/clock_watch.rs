//! Whether the wall clock can be trusted: it must advance as the monotonic clock does.
//!
//! Days, limits and expiries follow the wall clock, and what a wrong one has done to them cannot be
//! undone: a lot that expired is gone, and a day that was begun does not begin again. So a clock
//! that jumps stops new work until it is right again, or until somebody starts the service anew
//! with it.

use std::sync::Arc;
use std::time::Duration;

use moment::Timestamp;

/// How far the wall clock may be from where the stopwatch says it should be. Machines that keep
/// their time over the network are within a second.
pub const CLOCK_JUMP_MAX: Duration = Duration::from_secs(60);

/// How often the two clocks are aligned again, so that slow drift is followed.
const DRIFT_FOLLOWED_EVERY: Duration = Duration::from_secs(60);

/// How long a clock is distrusted before it is taken for right because the database's says the same:
/// the two are compared twice a second.
const FOLLOWED_AFTER: Duration = Duration::from_secs(3);

/// Measures time that passes, whatever the wall clock is set to.
pub trait Stopwatch: Send + Sync {
    /// Since a moment that does not change.
    fn elapsed(&self) -> Duration;
}

pub(crate) struct ClockWatch {
    stopwatch: Arc<dyn Stopwatch>,
    /// When both were seen to agree.
    wall: Timestamp,
    elapsed: Duration,
    started: Duration,
    is_trusted: bool,
    /// When the clock was first found wrong, by the stopwatch.
    distrusted_since: Option<Duration>,
}

impl ClockWatch {
    pub(crate) fn start(stopwatch: Arc<dyn Stopwatch>, now: Timestamp) -> ClockWatch {
        let elapsed = stopwatch.elapsed();
        ClockWatch {
            stopwatch,
            wall: now,
            elapsed,
            started: elapsed,
            is_trusted: true,
            distrusted_since: None,
        }
    }

    /// Whether the wall clock says what it should.
    pub(crate) fn trusts(&mut self, now: Timestamp) -> bool {
        let elapsed = self.stopwatch.elapsed();
        let passed = elapsed.saturating_sub(self.elapsed);
        let expected = self.wall.plus(passed);
        let is_right = now.since(expected).max(expected.since(now)) <= CLOCK_JUMP_MAX;
        if is_right && DRIFT_FOLLOWED_EVERY <= passed {
            (self.wall, self.elapsed) = (now, elapsed);
        }
        if is_right != self.is_trusted {
            log_change(is_right, expected, now);
        }
        self.is_trusted = is_right;
        self.distrusted_since =
            if is_right { None } else { self.distrusted_since.or(Some(elapsed)) };
        is_right
    }

    /// Takes the wall clock for right, which another clock agrees with, once it was distrusted for
    /// longer than comparing the two takes.
    pub(crate) fn follow(&mut self, now: Timestamp) {
        let elapsed = self.stopwatch.elapsed();
        let Some(since) = self.distrusted_since else { return };
        if FOLLOWED_AFTER <= elapsed.saturating_sub(since) {
            (self.wall, self.elapsed) = (now, elapsed);
            self.trusts(now);
        }
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    /// Since the start.
    pub(crate) fn running(&self) -> Duration {
        self.stopwatch.elapsed().saturating_sub(self.started)
    }
}

fn log_change(is_right: bool, expected: Timestamp, now: Timestamp) {
    if is_right {
        tracing::info!("the clock is right again, and charging goes on");
    } else {
        tracing::error!(
            clock.expected = %expected,
            clock.found = %now,
            "the clock has jumped from {expected} to {now}, so nothing new is charged: set it right, \
             or start the service anew if it is right now"
        );
    }
}
