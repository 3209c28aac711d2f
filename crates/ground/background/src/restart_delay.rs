//! The delay before a loop restarts after a panic.

use std::time::Duration;

const DELAY_MIN: Duration = Duration::from_secs(1);
const DELAY_MAX: Duration = Duration::from_secs(60);
/// A loop that ran for this long before it panicked restarts after the shortest delay.
const STEADY_AFTER: Duration = Duration::from_secs(300);

/// Doubles with each consecutive panic.
#[derive(Debug, Default)]
pub(crate) struct RestartDelay {
    last: Option<Duration>,
}

impl RestartDelay {
    /// The delay after a run of this duration.
    pub(crate) fn after(&mut self, ran: Duration) -> Duration {
        let doubled = self.last.filter(|_| ran < STEADY_AFTER).map(|last| last * 2);
        let delay = doubled.unwrap_or(DELAY_MIN).min(DELAY_MAX);
        self.last = Some(delay);
        delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_a_minute_and_begins_anew_after_a_steady_run() {
        let mut delay = RestartDelay::default();
        let short = Duration::from_secs(2);
        let delays: Vec<u64> = (0..8).map(|_| delay.after(short).as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(delay.after(STEADY_AFTER), DELAY_MIN);
    }
}
