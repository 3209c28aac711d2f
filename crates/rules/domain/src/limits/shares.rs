//! A rate-limit window that several nodes count together, for callers without a home node.
//!
//! A node takes a small share of the window from a shared counter and admits requests from it
//! without asking again; when the share is used up, it takes the next. So all nodes together never
//! admit more than the limit, and unused shares lose at most a twentieth of it. While the shared
//! counter is unavailable, each node admits the limit divided by the number of nodes, and adds
//! these requests to the counter when it is available again.

use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use moment::Timestamp;

use crate::limits::tiers::MinuteLimits;
use crate::limits::window::{ExceededLimit, LimitSubject, RateLimitStatus};

/// Number of shares that a node's part of a window is divided into.
const SHARES: u64 = 20;
/// Above this number of windows, ended windows are removed at most every `SWEEP_MS`.
const WINDOWS_SWEPT: usize = 16_384;
const SWEEP_MS: i64 = 5_000;

/// The shared total after an addition; `None` if the counter did not answer in time.
pub type SharedTotal = Option<u64>;

/// Counters shared by all nodes. Every method returns quickly, even when the backend fails.
pub trait SharedCounts: Send + Sync {
    /// Adds to a counter and returns the new total.
    fn add<'a>(
        &'a self,
        name: &'a str,
        many: u64,
    ) -> Pin<Box<dyn Future<Output = SharedTotal> + Send + 'a>>;

    /// Announces to other nodes that an address is blocked.
    fn announce_block(&self, address: IpAddr, until: Timestamp);

    /// The number of nodes, as far as known.
    fn node_count(&self) -> u64;
}

/// The shares that this node has taken.
#[derive(Debug, Default)]
pub struct WindowShares {
    table: Mutex<ShareTable>,
}

#[derive(Debug, Default)]
struct ShareTable {
    shares: HashMap<LimitSubject, NodeShare>,
    /// Earliest time of the next sweep.
    next_sweep_ms: i64,
}

#[derive(Debug, Default, Clone, Copy)]
struct NodeShare {
    window: i64,
    /// Taken from the shared counter and not used yet.
    left: u64,
    /// Requests admitted by this node.
    used: u64,
    /// Total taken by all nodes at this node's last request to the counter.
    taken: u64,
    /// Requests admitted while the shared counter was unavailable and not added to it yet.
    uncounted: u64,
    is_spent: bool,
}

/// The result of asking to admit a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShareDecision {
    Decided(Result<RateLimitStatus, ExceededLimit>),
    /// Another share is needed first: add `many` to the counter named `name`, then call `taken`.
    Ask(ShareRequest),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareRequest {
    pub name: String,
    pub many: u64,
    /// The part of `many` that was admitted earlier without the counter.
    uncounted: u64,
    subject: LimitSubject,
    window: i64,
}

impl WindowShares {
    /// Admits a request if this node's share is not used up.
    pub fn try_admit(
        &self,
        subject: LimitSubject,
        allowed: MinuteLimits,
        now: Timestamp,
        nodes: u64,
    ) -> ShareDecision {
        let window = subject.window_number(now);
        let mut table = self.lock();
        table.sweep(now);
        let share = table.share_for_window(subject, window);
        if 0 < share.left {
            share.left -= 1;
            share.used += 1;
        } else if share.is_spent {
            return ShareDecision::Decided(Err(ExceededLimit::Requests(
                share.limit_status(subject, allowed, now),
            )));
        } else {
            let uncounted = std::mem::take(&mut share.uncounted);
            let many = uncounted + (allowed.requests / SHARES / nodes.max(1)).max(1);
            let name = subject.counter_name(window);
            return ShareDecision::Ask(ShareRequest { name, many, uncounted, subject, window });
        }
        ShareDecision::Decided(Ok(share.limit_status(subject, allowed, now)))
    }

    /// Admits the request that asked for a share, if the share is not empty. Without a total it is
    /// admitted within this node's part of the limit.
    pub fn admit_with_total(
        &self,
        ask: &ShareRequest,
        total: SharedTotal,
        allowed: MinuteLimits,
        now: Timestamp,
        nodes: u64,
    ) -> Result<RateLimitStatus, ExceededLimit> {
        let mut table = self.lock();
        let share = table.share_for_window(ask.subject, ask.window);
        let is_let_in = match total {
            Some(total) => {
                let size = ask.many - ask.uncounted;
                let before = total.saturating_sub(size);
                let granted = allowed.requests.saturating_sub(before).min(size);
                share.is_spent |= granted < size;
                share.taken = share.taken.max(total);
                share.left += granted.saturating_sub(1);
                0 < granted
            }
            None => {
                let is_let_in = share.used < allowed.requests.div_ceil(nodes.max(1));
                share.uncounted += ask.uncounted + u64::from(is_let_in);
                is_let_in
            }
        };
        if is_let_in {
            share.used += 1;
        }
        let standing = share.limit_status(ask.subject, allowed, now);
        if is_let_in { Ok(standing) } else { Err(ExceededLimit::Requests(standing)) }
    }

    fn lock(&self) -> MutexGuard<'_, ShareTable> {
        // A panic cannot leave the table in a broken state, so a poisoned lock is used as it is.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShareTable {
    fn share_for_window(&mut self, subject: LimitSubject, window: i64) -> &mut NodeShare {
        let share = self.shares.entry(subject).or_default();
        if share.window != window {
            *share = NodeShare { window, ..NodeShare::default() };
        }
        share
    }

    fn sweep(&mut self, now: Timestamp) {
        if WINDOWS_SWEPT < self.shares.len() && self.next_sweep_ms <= now.ms() {
            self.next_sweep_ms = now.ms() + SWEEP_MS;
            self.shares.retain(|subject, share| subject.window_number(now) <= share.window);
        }
    }
}

impl NodeShare {
    fn limit_status(
        &self,
        subject: LimitSubject,
        allowed: MinuteLimits,
        now: Timestamp,
    ) -> RateLimitStatus {
        let used = self.taken.saturating_sub(self.left).max(self.used);
        let requests_left = allowed.requests.saturating_sub(used);
        let resets_at = subject.resets_at(self.window);
        RateLimitStatus { allowed, requests_left, tokens_left: None, resets_at, now }
    }
}

#[cfg(test)]
mod tests;
