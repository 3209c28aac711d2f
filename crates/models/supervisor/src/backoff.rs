//! The delay before the engine is restarted.

use std::time::Duration;

const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Uptime after which an exit no longer counts as a failed start.
pub(crate) const STEADY_AFTER: Duration = Duration::from_secs(60);

/// Doubles with each consecutive failure. The jitter covers the upper half of the delay, so that
/// machines that fail together do not restart together.
pub(crate) fn restart_delay(failures_in_a_row: u32, dice: u64) -> Duration {
    let doublings = failures_in_a_row.saturating_sub(1).min(16);
    let longest = FIRST_WAIT.saturating_mul(1 << doublings).min(LONGEST_WAIT);
    let half_ms = u64::try_from(longest.as_millis() / 2).unwrap_or(u64::MAX);
    Duration::from_millis(half_ms + dice % half_ms.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(failures: u32, least_ms: u64, most_ms: u64) {
        assert_eq!(restart_delay(failures, 0), Duration::from_millis(least_ms));
        assert_eq!(restart_delay(failures, most_ms - least_ms), Duration::from_millis(most_ms));
        assert_eq!(
            restart_delay(failures, most_ms - least_ms + 1),
            Duration::from_millis(least_ms)
        );
    }

    #[test]
    fn waits_double_up_to_half_a_minute() {
        check(1, 100, 200);
        check(2, 200, 400);
        check(5, 1600, 3200);
        check(100, 15_000, 30_000);
    }
}
