//! The latest refusals of callers, so that a page can show somebody their own mistakes.
//!
//! In memory and bounded: it helps to find a fault, and decides nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use access::Holder;
use axum::response::Response;
use credits::{KeyId, OwnerId};
use moment::Timestamp;

use crate::refusal::render::{Discovery, Words};
use crate::request_id::RequestId;

/// Of how many owners refusals are kept; beyond it, the one who was refused longest ago is
/// forgotten.
const OWNERS_MAX: usize = 500;
const CALLS_MAX: usize = 50;
const WORDS_CHARS_MAX: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct RefusedCalls(Mutex<HashMap<OwnerId, VecDeque<RefusedCall>>>);

#[derive(Debug, Clone)]
pub(crate) struct RefusedCall {
    pub(crate) at: Timestamp,
    pub(crate) request_id: String,
    pub(crate) path: &'static str,
    pub(crate) status: u16,
    pub(crate) words: String,
    /// None: a wallet asked.
    pub(crate) key: Option<KeyId>,
}

impl RefusedCalls {
    /// Remembers an answer if it is a refusal.
    pub(crate) fn note(
        &self,
        holder: &Holder,
        (path, request_id): (&'static str, RequestId),
        response: &Response,
        now: Timestamp,
    ) {
        let status = response.status();
        let is_question = response.extensions().get::<Discovery>().is_some();
        if is_question || !(status.is_client_error() || status.is_server_error()) {
            return;
        }
        let words = response.extensions().get::<Words>().map_or("", |Words(words)| words);
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

    /// The newest first.
    pub(crate) fn of(&self, owner: OwnerId) -> Vec<RefusedCall> {
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners.get(&owner).into_iter().flatten().rev().cloned().collect()
    }

    fn add(&self, owner: OwnerId, call: RefusedCall) {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if OWNERS_MAX <= owners.len() && !owners.contains_key(&owner) {
            let last = |calls: &VecDeque<RefusedCall>| calls.back().map(|call| call.at);
            let oldest = owners.iter().min_by_key(|(_, calls)| last(calls)).map(|(it, _)| *it);
            oldest.map(|it| owners.remove(&it));
        }
        let calls = owners.entry(owner).or_default();
        if CALLS_MAX <= calls.len() {
            calls.pop_front();
        }
        calls.push_back(call);
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
        let refused = RefusedCalls::default();
        for at in 0..60 {
            refused.add(owner(1), call(at));
        }
        let times: Vec<i64> = refused.of(owner(1)).iter().map(|it| it.at.ms()).collect();
        assert_eq!(times, (10..60).rev().collect::<Vec<_>>());
        assert!(refused.of(owner(2)).is_empty());
    }

    #[test]
    fn whoever_was_refused_longest_ago_is_forgotten_first() {
        let refused = RefusedCalls::default();
        for number in 0..OWNERS_MAX {
            refused.add(owner(number), call(i64::try_from(number).unwrap()));
        }
        refused.add(owner(0), call(10_000));
        refused.add(owner(OWNERS_MAX), call(10_001));
        assert_eq!(refused.of(owner(0)).len(), 2);
        assert!(refused.of(owner(1)).is_empty());
        assert_eq!(refused.of(owner(OWNERS_MAX)).len(), 1);
    }
}
