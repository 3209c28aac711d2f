//! Measured durations and their percentiles.

use std::time::Duration;

#[derive(Debug, Default)]
pub struct DurationSamples {
    nanos: Vec<u64>,
}

impl DurationSamples {
    pub fn add(&mut self, duration: Duration) {
        self.nanos.push(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    pub fn merge(&mut self, other: DurationSamples) {
        self.nanos.extend(other.nanos);
    }

    pub fn len(&self) -> usize {
        self.nanos.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nanos.is_empty()
    }

    /// The duration that `permille` thousandths of the samples do not exceed.
    pub fn permille(&mut self, permille: usize) -> Duration {
        if self.nanos.is_empty() {
            return Duration::ZERO;
        }
        let last = self.nanos.len() - 1;
        let index = last * permille / 1000;
        let (_, nanos, _) = self.nanos.select_nth_unstable(index);
        Duration::from_nanos(*nanos)
    }
}
