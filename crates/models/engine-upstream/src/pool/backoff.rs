//! The delay before the next attempt.

use std::time::Duration;

const FIRST_MS: u64 = 50;
const LONGEST_MS: u64 = 1_000;

/// A random delay whose maximum doubles with each attempt, so that requests that failed together do
/// not retry together. `attempt` counts from 1.
pub(super) fn retry_delay(attempt: u32, dice: u64) -> Duration {
    let doublings = attempt.saturating_sub(1).min(16);
    let longest_ms = (FIRST_MS << doublings).min(LONGEST_MS);
    Duration::from_millis(dice % (longest_ms + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_are_bounded() {
        let longest = |attempt| (0..5_000).map(|dice| retry_delay(attempt, dice)).max();
        let expected = [50, 100, 200, 400, 800, 1_000, 1_000];
        let found = [1, 2, 3, 4, 5, 6, 60].map(longest);
        assert_eq!(found, expected.map(|ms| Some(Duration::from_millis(ms))));
        assert_eq!(retry_delay(3, 0), Duration::ZERO);
    }
}
