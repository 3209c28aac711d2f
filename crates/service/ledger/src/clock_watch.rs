//! Checks the wall clock against the monotonic clock: both must advance alike.
//!
//! Days, limits and expiries follow the wall clock, and the effects of a wrong one cannot be
//! undone: a lot that expired is gone, and a day that began does not begin again. So a clock that
//! jumps stops new work until it is right again, or until the operator restarts the service.

use std::sync::Arc;
use std::time::Duration;

use moment::Timestamp;

/// The largest tolerated difference between the wall clock and the time the stopwatch expects.
/// Machines with network time are within a second.
pub const CLOCK_JUMP_MAX: Duration = Duration::from_secs(60);

/// Interval at which the two clocks are aligned again, so that slow drift is followed.
const DRIFT_FOLLOWED_EVERY: Duration = Duration::from_secs(60);

/// Time after which a distrusted clock is accepted because the database's clock agrees: the two are
/// compared twice a second.
const FOLLOWED_AFTER: Duration = Duration::from_secs(3);

/// A monotonic clock, independent of what the wall clock is set to.
pub trait MonotonicClock: Send + Sync {
    /// Time since a fixed moment.
    fn elapsed(&self) -> Duration;
}

pub(crate) struct ClockWatch {
    stopwatch: Arc<dyn MonotonicClock>,
    /// The last moment at which both clocks agreed, by the wall clock; `elapsed` is the same by the
    /// stopwatch.
    wall: Timestamp,
    elapsed: Duration,
    started: Duration,
    is_trusted: bool,
    /// The stopwatch's time when the clock was first found wrong.
    distrusted_since: Option<Duration>,
}

impl ClockWatch {
    pub(crate) fn start(stopwatch: Arc<dyn MonotonicClock>, now: Timestamp) -> ClockWatch {
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

    /// True if the wall clock is within `CLOCK_JUMP_MAX` of the expected time. Logs a change.
    pub(crate) fn check_wall_clock(&mut self, now: Timestamp) -> bool {
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

    /// Accepts the wall clock, which the database's clock agrees with, once it was distrusted for
    /// longer than comparing the two takes.
    pub(crate) fn accept_wall_clock(&mut self, now: Timestamp) {
        let elapsed = self.stopwatch.elapsed();
        let Some(since) = self.distrusted_since else { return };
        if FOLLOWED_AFTER <= elapsed.saturating_sub(since) {
            (self.wall, self.elapsed) = (now, elapsed);
            self.check_wall_clock(now);
        }
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    /// Time since this watch was started.
    pub(crate) fn running_time(&self) -> Duration {
        self.stopwatch.elapsed().saturating_sub(self.started)
    }
}

fn log_change(is_right: bool, expected: Timestamp, now: Timestamp) {
    if is_right {
        tracing::info!("the clock is right again: charging resumes");
    } else {
        tracing::error!(
            clock.expected = %expected,
            clock.found = %now,
            "the clock has jumped from {expected} to {now}, so nothing new is charged: set it right, \
             or start the service anew if it is right now"
        );
    }
}
