//! The expected duration of a model's jobs, shown to callers.

use std::time::Duration;

/// Minimum finished jobs for an estimate.
const SAMPLES_MIN: usize = 20;

/// The 80th percentile of the durations; `default` if there are too few.
pub(crate) fn estimate_duration(mut took_ms: Vec<u64>, default: Duration) -> Duration {
    if took_ms.len() < SAMPLES_MIN {
        return default;
    }
    took_ms.sort_unstable();
    let place = (took_ms.len() * 4).div_ceil(5) - 1;
    Duration::from_millis(took_ms[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Duration = Duration::from_secs(60);

    #[test]
    fn the_default_counts_until_twenty_jobs_have_ended() {
        assert_eq!(estimate_duration(vec![1; 19], DEFAULT), DEFAULT);
        assert_eq!(estimate_duration(vec![1; 20], DEFAULT), Duration::from_millis(1));
    }

    #[test]
    fn four_of_five_jobs_are_within_it() {
        assert_eq!(
            estimate_duration((1..=100).rev().collect(), DEFAULT),
            Duration::from_millis(80)
        );
        assert_eq!(estimate_duration((1..=21).collect(), DEFAULT), Duration::from_millis(17));
    }
}
