//! Ends streams that stay open and send no content.

use std::time::Duration;

use tokio::time::Instant;

/// How long an engine may send chunks without a word in them. Some do so while they think; one that
/// does so for longer than a whole answer may take will not answer any more.
const SILENCE_MAX: Duration = Duration::from_secs(600);

/// Watches how much was produced, and when it last became more.
pub(super) struct Silence {
    produced: u64,
    since: Instant,
}

impl Silence {
    pub(super) fn from(now: Instant) -> Silence {
        Silence { produced: 0, since: now }
    }

    /// Whether it has lasted too long.
    pub(super) fn is_over(&mut self, produced: u64, now: Instant) -> bool {
        if self.produced < produced {
            *self = Silence { produced, since: now };
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
        let mut silence = Silence::from(start);
        let mut is_over =
            |seconds, produced| silence.is_over(produced, start + Duration::from_secs(seconds));
        assert!(!is_over(600, 0));
        assert!(!is_over(600, 1));
        assert!(!is_over(1200, 1));
        assert!(is_over(1201, 1));
        assert!(!is_over(1202, 2), "it speaks again");
    }
}
