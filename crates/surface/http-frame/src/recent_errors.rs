//! Recent refusals of callers, for the console.
//!
//! Kept in memory, with limits: they help to find mistakes and decide nothing. The latest calls are
//! kept with their messages; all are counted by day.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use access::CredentialHolder;
use axum::response::Response;
use ledger_core::{KeyId, OwnerId};
use moment::Timestamp;

use crate::refusal::render::{PriceDiscovery, RefusalMessage};
use crate::request_id::RequestId;

/// Owners whose refusals are kept. Beyond this, the owner with the oldest last refusal is removed.
const OWNERS_MAX: usize = 500;
const CALLS_MAX: usize = 50;
const WORDS_CHARS_MAX: usize = 200;
/// UTC days that are counted, including today.
const DAYS_MAX: i64 = 14;

#[derive(Debug)]
pub struct RefusedCalls(Mutex<RefusalsByOwner>);

#[derive(Debug)]
struct RefusalsByOwner {
    by_id: HashMap<OwnerId, OwnerRefusals>,
    /// Owners that are not in `by_id` had no refusal since then, as far as is known.
    known_since: Timestamp,
}

/// The refusals of one owner.
#[derive(Debug)]
struct OwnerRefusals {
    calls: VecDeque<RefusedCall>,
    days: BTreeMap<i64, DayCount>,
    counted_since: Timestamp,
}

/// Error responses of one day.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct DayCount {
    /// 4xx: the request was refused.
    pub refused: u64,
    /// 5xx: the service or a provider failed.
    pub failed: u64,
}

/// The days with refusals, and the time since which the counts are complete.
#[derive(Debug)]
pub struct RefusalCounts {
    pub since: Timestamp,
    pub days: BTreeMap<i64, DayCount>,
}

#[derive(Debug, Clone)]
pub struct RefusedCall {
    pub at: Timestamp,
    pub request_id: String,
    pub path: &'static str,
    pub status: u16,
    pub words: String,
    /// None for a wallet.
    pub key: Option<KeyId>,
}

impl RefusedCalls {
    pub fn new(now: Timestamp) -> RefusedCalls {
        RefusedCalls(Mutex::new(RefusalsByOwner { by_id: HashMap::new(), known_since: now }))
    }

    /// Records a response if it is an error, except for price requests.
    pub(crate) fn record_response(
        &self,
        holder: &CredentialHolder,
        path: &'static str,
        request_id: RequestId,
        response: &Response,
        now: Timestamp,
    ) {
        let status = response.status();
        let is_question = response.extensions().get::<PriceDiscovery>().is_some();
        if is_question || !(status.is_client_error() || status.is_server_error()) {
            return;
        }
        let words =
            response.extensions().get::<RefusalMessage>().map_or("", |RefusalMessage(words)| words);
        let call = RefusedCall {
            at: now,
            request_id: request_id.as_str().to_owned(),
            path,
            status: status.as_u16(),
            words: words.chars().take(WORDS_CHARS_MAX).collect(),
            key: holder.key().map(|key| key.id),
        };
        self.add(holder.owner.id, call);
    }

    /// The refusals of an owner, newest first.
    pub fn list_by_owner(&self, owner: OwnerId) -> Vec<RefusedCall> {
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = owners.by_id.get(&owner).map(|it| &it.calls);
        calls.into_iter().flatten().rev().cloned().collect()
    }

    pub fn count_by_day(&self, owner: OwnerId) -> RefusalCounts {
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match owners.by_id.get(&owner) {
            Some(it) => RefusalCounts { since: it.counted_since, days: it.days.clone() },
            None => RefusalCounts { since: owners.known_since, days: BTreeMap::new() },
        }
    }

    fn add(&self, owner: OwnerId, call: RefusedCall) {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if OWNERS_MAX <= owners.by_id.len() && !owners.by_id.contains_key(&owner) {
            let last = |it: &OwnerRefusals| it.calls.back().map(|call| call.at);
            let oldest = owners.by_id.iter().min_by_key(|(_, it)| last(it)).map(|(id, _)| *id);
            oldest.map(|it| owners.by_id.remove(&it));
            owners.known_since = call.at;
        }
        let counted_since = owners.known_since;
        let refusals = owners.by_id.entry(owner).or_insert_with(|| OwnerRefusals {
            calls: VecDeque::new(),
            days: BTreeMap::new(),
            counted_since,
        });
        refusals.add(call);
    }
}

impl OwnerRefusals {
    fn add(&mut self, call: RefusedCall) {
        let today = call.at.unix_day();
        self.days.retain(|day, _| today - DAYS_MAX < *day);
        let count = self.days.entry(today).or_default();
        if call.status < 500 {
            count.refused += 1;
        } else {
            count.failed += 1;
        }
        if CALLS_MAX <= self.calls.len() {
            self.calls.pop_front();
        }
        self.calls.push_back(call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(at_ms: i64) -> RefusedCall {
        RefusedCall {
            at: Timestamp::from_ms(at_ms),
            request_id: at_ms.to_string(),
            path: "/chat/completions",
            status: 400,
            words: String::new(),
            key: None,
        }
    }

    fn owner(number: usize) -> OwnerId {
        OwnerId(uuid::Uuid::from_u128(number as u128))
    }

    #[test]
    fn the_newest_are_kept_and_come_first() {
        let refused = RefusedCalls::new(Timestamp::from_ms(0));
        for at in 0..60 {
            refused.add(owner(1), call(at));
        }
        let times: Vec<i64> = refused.list_by_owner(owner(1)).iter().map(|it| it.at.ms()).collect();
        assert_eq!(times, (10..60).rev().collect::<Vec<_>>());
        assert!(refused.list_by_owner(owner(2)).is_empty());
    }

    #[test]
    fn whoever_was_refused_longest_ago_is_forgotten_first() {
        let refused = RefusedCalls::new(Timestamp::from_ms(0));
        for number in 0..OWNERS_MAX {
            refused.add(owner(number), call(i64::try_from(number).unwrap()));
        }
        refused.add(owner(0), call(10_000));
        refused.add(owner(OWNERS_MAX), call(10_001));
        assert_eq!(refused.list_by_owner(owner(0)).len(), 2);
        assert!(refused.list_by_owner(owner(1)).is_empty());
        assert_eq!(refused.list_by_owner(owner(OWNERS_MAX)).len(), 1);
        let since = |number| refused.count_by_day(owner(number)).since.ms();
        assert_eq!((since(0), since(1), since(OWNERS_MAX)), (0, 10_001, 10_001));
    }

    #[test]
    fn all_are_counted_by_day_and_old_days_go() {
        let refused = RefusedCalls::new(Timestamp::from_ms(7));
        assert!(refused.count_by_day(owner(1)).days.is_empty());
        let on = |day, status| RefusedCall { at: Timestamp::start_of_day(day), status, ..call(0) };
        for _ in 0..60 {
            refused.add(owner(1), on(100, 400));
        }
        refused.add(owner(1), on(100, 503));
        refused.add(owner(1), on(113, 499));
        let first = DayCount { refused: 60, failed: 1 };
        let last = DayCount { refused: 1, failed: 0 };
        let counted = refused.count_by_day(owner(1));
        assert_eq!(counted.days, BTreeMap::from([(100, first), (113, last)]));
        assert_eq!(counted.since.ms(), 7);
        refused.add(owner(1), on(114, 500));
        let days: Vec<i64> = refused.count_by_day(owner(1)).days.into_keys().collect();
        assert_eq!(days, [113, 114]);
    }
}
