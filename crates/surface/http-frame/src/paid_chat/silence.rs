//! Ends streams that stay open and send no content.

use std::time::Duration;

use tokio::time::Instant;

/// Time that an engine may send chunks without content. Some do so while they reason; after longer
/// than any whole answer may take, no answer will come.
const SILENCE_MAX: Duration = Duration::from_secs(600);

/// Tracks when the count of produced tokens last grew.
pub(super) struct SilenceTimer {
    produced: u64,
    since: Instant,
}

impl SilenceTimer {
    pub(super) fn from(now: Instant) -> SilenceTimer {
        SilenceTimer { produced: 0, since: now }
    }

    /// True if nothing was produced for too long.
    pub(super) fn is_over(&mut self, produced: u64, now: Instant) -> bool {
        if self.produced < produced {
            *self = SilenceTimer { produced, since: now };
        }
        SILENCE_MAX < now - self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_produced_ends_a_silence() {
        let start = Instant::now();
        let mut silence = SilenceTimer::from(start);
        let mut is_over =
            |seconds, produced| silence.is_over(produced, start + Duration::from_secs(seconds));
        assert!(!is_over(600, 0));
        assert!(!is_over(600, 1));
        assert!(!is_over(1200, 1));
        assert!(is_over(1201, 1));
        assert!(!is_over(1202, 2), "it speaks again");
    }
}
