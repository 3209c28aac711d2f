//! The block after too many failures: more than twenty within thirty seconds, for thirty seconds.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use moment::Timestamp;

const FAILURES_MAX: usize = 20;
const WINDOW: Duration = Duration::from_secs(30);
const BLOCK: Duration = Duration::from_secs(30);
/// Maximum principals in the table. Beyond it the oldest entry is removed: an attacker with this
/// many addresses gains nothing from more attempts per address.
const PRINCIPALS_MAX: usize = 100_000;
/// Identical bodies, refused as malformed, that count as one failure.
const BODIES_PER_FAILURE: u32 = 10;
/// Different bodies remembered per principal.
const BODIES_MAX: usize = 8;
/// Old entries checked per counted failure, so that no single call pays for a full sweep.
const SWEPT_PER_FAILURE: usize = 4;

/// Counts recent failures per principal: a key, a wallet, or else an IP address.
pub struct RecentFailures<P> {
    table: Mutex<FailureTable<P>>,
}

#[derive(Debug)]
struct FailureTable<P> {
    records: HashMap<P, FailureRecord>,
    /// Each principal once, by the time it was added or last checked.
    order: VecDeque<(Timestamp, P)>,
}

#[derive(Debug, Default)]
struct FailureRecord {
    times: VecDeque<Timestamp>,
    blocked_until: Option<Timestamp>,
    /// The latest different bodies that were refused as malformed, the oldest first.
    bodies: VecDeque<RefusedBody>,
}

/// A body that was refused as malformed.
#[derive(Debug)]
struct RefusedBody {
    digest: u64,
    /// Requests with this body since it last counted as a failure.
    repeats: u32,
}

impl<P> Default for RecentFailures<P> {
    fn default() -> RecentFailures<P> {
        RecentFailures {
            table: Mutex::new(FailureTable { records: HashMap::new(), order: VecDeque::new() }),
        }
    }
}

impl<P: Eq + Hash + Clone> RecentFailures<P> {
    /// The end of the principal's block, if it is blocked.
    pub fn blocked_until(&self, principal: &P, now: Timestamp) -> Option<Timestamp> {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.records.get(principal)?.blocked_until.filter(|until| now < *until)
    }

    /// Counts one failure and returns the end of the block if this failure causes one. Responses
    /// sent while blocked are not failures and must not be counted, or the block would never end.
    pub fn count_failure(&self, principal: P, now: Timestamp) -> Option<Timestamp> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.forget_old(now);
        table.find_or_add_record(principal, now).count_failure(now)
    }

    /// Counts a request that was refused as malformed: a body counts the first time, and then once
    /// in ten. Returns as [`RecentFailures::count_failure`].
    pub fn count_bad_request(
        &self,
        principal: P,
        digest: u64,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.forget_old(now);
        let record = table.find_or_add_record(principal, now);
        if record.is_counted_body(digest) { record.count_failure(now) } else { None }
    }

    /// Applies a block from another node, for at most the length of our own blocks.
    pub fn apply_block(&self, principal: P, until: Timestamp, now: Timestamp) {
        let until = until.min(now.plus(BLOCK));
        if until <= now {
            return;
        }
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.forget_old(now);
        let record = table.find_or_add_record(principal, now);
        record.blocked_until = record.blocked_until.max(Some(until));
    }
}

impl<P: Eq + Hash + Clone> FailureTable<P> {
    fn find_or_add_record(&mut self, principal: P, now: Timestamp) -> &mut FailureRecord {
        let FailureTable { records, order } = self;
        records.entry(principal).or_insert_with_key(|principal| {
            order.push_back((now, principal.clone()));
            FailureRecord::default()
        })
    }

    /// Removes a few old entries: more than are added, so that the table shrinks as fast as it
    /// grows.
    fn forget_old(&mut self, now: Timestamp) {
        for _ in 0..SWEPT_PER_FAILURE {
            let is_full = PRINCIPALS_MAX <= self.records.len();
            let is_due = self.order.front().is_some_and(|(seen, _)| seen.plus(WINDOW) <= now);
            if !is_full && !is_due {
                return;
            }
            let Some((_, principal)) = self.order.pop_front() else { return };
            let is_live = self.records.get(&principal).is_some_and(|it| it.is_live(now));
            if is_live && !is_full {
                self.order.push_back((now, principal));
            } else {
                self.records.remove(&principal);
            }
        }
    }
}

impl FailureRecord {
    fn count_failure(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.times.retain(|time| now < time.plus(WINDOW));
        self.times.push_back(now);
        if self.times.len() <= FAILURES_MAX {
            return None;
        }
        self.times.clear();
        self.blocked_until = Some(now.plus(BLOCK));
        self.blocked_until
    }

    fn is_counted_body(&mut self, digest: u64) -> bool {
        if let Some(known) = self.bodies.iter_mut().find(|body| body.digest == digest) {
            known.repeats = (known.repeats + 1) % BODIES_PER_FAILURE;
            return known.repeats == 0;
        }
        if BODIES_MAX <= self.bodies.len() {
            self.bodies.pop_front();
        }
        self.bodies.push_back(RefusedBody { digest, repeats: 0 });
        true
    }

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
        let failures = RecentFailures::default();
        for _ in 0..20 {
            assert_eq!(failures.count_failure("key", at(0)), None);
        }
        assert_eq!(failures.blocked_until(&"key", at(0)), None);
        assert_eq!(failures.count_failure("key", at(0)), Some(at(30)));
        assert_eq!(failures.blocked_until(&"key", at(29)), Some(at(30)));
        assert_eq!(failures.blocked_until(&"key", at(30)), None);
        assert_eq!(failures.blocked_until(&"other", at(0)), None);
    }

    #[test]
    fn of_ten_identical_bodies_that_are_malformed_one_counts() {
        let failures = RecentFailures::default();
        for _ in 0..200 {
            assert_eq!(failures.count_bad_request("agent", 1, at(0)), None);
        }
        assert_eq!(failures.count_bad_request("agent", 1, at(0)), Some(at(30)));
        for digest in 0..20 {
            assert_eq!(failures.count_bad_request("other", digest, at(0)), None);
        }
        assert_eq!(failures.count_bad_request("other", 20, at(0)), Some(at(30)));
    }

    #[test]
    fn few_different_bodies_are_remembered() {
        let failures = RecentFailures::default();
        for digest in 0..1_000 {
            failures.count_bad_request("key", digest, at(0));
        }
        let table = failures.table.lock().unwrap();
        assert_eq!(table.records["key"].bodies.len(), BODIES_MAX);
    }

    #[test]
    fn a_block_of_another_node_holds_here_and_no_longer_than_one_of_ours() {
        let failures = RecentFailures::default();
        failures.apply_block("key", at(10), at(0));
        assert_eq!(failures.blocked_until(&"key", at(9)), Some(at(10)));
        failures.apply_block("key", at(5), at(0));
        assert_eq!(failures.blocked_until(&"key", at(9)), Some(at(10)));
        failures.apply_block("other", at(9_999), at(0));
        assert_eq!(failures.blocked_until(&"other", at(1)), Some(at(30)));
        failures.apply_block("late", at(0), at(1));
        assert_eq!(failures.blocked_until(&"late", at(1)), None);
    }

    #[test]
    fn the_thirty_seconds_slide() {
        let failures = RecentFailures::default();
        for second in 0..40 {
            failures.count_failure("key", at(second * 2));
        }
        assert_eq!(failures.blocked_until(&"key", at(80)), None);
        for _ in 0..7 {
            failures.count_failure("key", at(80));
        }
        assert_eq!(failures.blocked_until(&"key", at(81)), Some(at(110)));
    }

    #[test]
    fn after_a_block_the_count_starts_again() {
        let failures = RecentFailures::default();
        for _ in 0..21 {
            failures.count_failure("key", at(0));
        }
        for _ in 0..20 {
            failures.count_failure("key", at(31));
        }
        assert_eq!(failures.blocked_until(&"key", at(31)), None);
    }

    #[test]
    fn the_table_is_bounded_and_old_principals_go_as_fast_as_new_ones_come() {
        let failures = RecentFailures::default();
        for number in 0..PRINCIPALS_MAX * 2 {
            failures.count_failure(number, at(0));
        }
        let size = || failures.table.lock().unwrap().records.len();
        assert!(size() <= PRINCIPALS_MAX);
        for number in 0..PRINCIPALS_MAX / 2 {
            failures.count_failure(usize::MAX - number % 2, at(100));
        }
        assert_eq!(size(), 2);
        assert_eq!(failures.table.lock().unwrap().order.len(), 2);
    }

    #[test]
    fn whoever_is_blocked_stays_blocked_while_others_are_forgotten() {
        let failures = RecentFailures::default();
        failures.count_failure(0, at(0));
        for _ in 0..21 {
            failures.count_failure(0, at(29));
        }
        for number in 1..1_000 {
            failures.count_failure(number, at(31));
        }
        assert_eq!(failures.blocked_until(&0, at(32)), Some(at(59)));
    }
}
