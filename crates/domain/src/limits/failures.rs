//! The block after too many failures: more than twenty within thirty seconds, for thirty seconds.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use moment::Timestamp;

const FAILURES_MAX: usize = 20;
const WINDOW: Duration = Duration::from_secs(30);
const BLOCK: Duration = Duration::from_secs(30);
/// Beyond this many principals, those whose failures are all old are forgotten.
const PRINCIPALS_SWEPT: usize = 50_000;

/// Remembers recent failures of each principal: a key, a wallet, or else an address.
pub struct Failures<P> {
    records: Mutex<HashMap<P, Record>>,
}

#[derive(Debug, Default)]
struct Record {
    times: VecDeque<Timestamp>,
    blocked_until: Option<Timestamp>,
}

impl<P> Default for Failures<P> {
    fn default() -> Failures<P> {
        Failures { records: Mutex::default() }
    }
}

impl<P: Eq + Hash> Failures<P> {
    /// Until when the principal is blocked, if it is.
    pub fn blocked_until(&self, principal: &P, now: Timestamp) -> Option<Timestamp> {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.get(principal)?.blocked_until.filter(|until| now < *until)
    }

    /// Counts one failure. Answers given while blocked are not failures and must not be counted,
    /// or the block would never end.
    pub fn count(&self, principal: P, now: Timestamp) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if PRINCIPALS_SWEPT < records.len() {
            records.retain(|_, record| record.is_live(now));
        }
        let record = records.entry(principal).or_default();
        record.times.retain(|time| now < time.plus(WINDOW));
        record.times.push_back(now);
        if FAILURES_MAX < record.times.len() {
            record.times.clear();
            record.blocked_until = Some(now.plus(BLOCK));
        }
    }
}

impl Record {
    fn is_live(&self, now: Timestamp) -> bool {
        let is_blocked = self.blocked_until.is_some_and(|until| now < until);
        is_blocked || self.times.back().is_some_and(|last| now < last.plus(WINDOW))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_ms(1_800_000_000_000).plus(Duration::from_secs(seconds))
    }

    #[test]
    fn twenty_failures_are_free_and_the_next_blocks_for_thirty_seconds() {
        let failures = Failures::default();
        for _ in 0..20 {
            failures.count("key", at(0));
        }
        assert_eq!(failures.blocked_until(&"key", at(0)), None);
        failures.count("key", at(0));
        assert_eq!(failures.blocked_until(&"key", at(29)), Some(at(30)));
        assert_eq!(failures.blocked_until(&"key", at(30)), None);
        assert_eq!(failures.blocked_until(&"other", at(0)), None);
    }

    #[test]
    fn the_thirty_seconds_slide() {
        let failures = Failures::default();
        for second in 0..40 {
            failures.count("key", at(second * 2));
        }
        assert_eq!(failures.blocked_until(&"key", at(80)), None);
        for _ in 0..7 {
            failures.count("key", at(80));
        }
        assert_eq!(failures.blocked_until(&"key", at(81)), Some(at(110)));
    }

    #[test]
    fn after_a_block_the_count_starts_again() {
        let failures = Failures::default();
        for _ in 0..21 {
            failures.count("key", at(0));
        }
        for _ in 0..20 {
            failures.count("key", at(31));
        }
        assert_eq!(failures.blocked_until(&"key", at(31)), None);
    }
}
