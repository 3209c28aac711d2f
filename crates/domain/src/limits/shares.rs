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

use crate::limits::tiers::Allowed;
use crate::limits::window::{Exceeded, Standing, Subject};

/// Number of shares that a node's part of a window is divided into.
const SHARES: u64 = 20;
/// Above this number of windows, ended windows are removed at most every `SWEEP_MS`.
const WINDOWS_SWEPT: usize = 16_384;
const SWEEP_MS: i64 = 5_000;

/// The shared total after an addition; `None` if the counter did not answer in time.
pub type Added = Option<u64>;

/// Counters shared by all nodes. Every method returns quickly, even when the backend fails.
pub trait SharedCounts: Send + Sync {
    /// Adds to a counter and returns the new total.
    fn add<'a>(
        &'a self,
        name: &'a str,
        many: u64,
    ) -> Pin<Box<dyn Future<Output = Added> + Send + 'a>>;

    /// Announces to other nodes that an address is blocked.
    fn tell_blocked(&self, address: IpAddr, until: Timestamp);

    /// The number of nodes, as far as known.
    fn nodes(&self) -> u64;
}

/// The shares that this node has taken.
#[derive(Debug, Default)]
pub struct Shares {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    shares: HashMap<Subject, Share>,
    /// Earliest time of the next sweep.
    next_sweep_ms: i64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Share {
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
pub enum Taking {
    Decided(Result<Standing, Exceeded>),
    /// Another share is needed first: add `many` to the counter named `name`, then call `taken`.
    Ask(Ask),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    pub name: String,
    pub many: u64,
    /// The part of `many` that was admitted earlier without the counter.
    uncounted: u64,
    subject: Subject,
    window: i64,
}

impl Shares {
    /// Admits a request if this node's share is not used up.
    pub fn take(&self, subject: Subject, allowed: Allowed, now: Timestamp, nodes: u64) -> Taking {
        let window = subject.window(now);
        let mut table = self.lock();
        table.sweep(now);
        let share = table.share(subject, window);
        if 0 < share.left {
            share.left -= 1;
            share.used += 1;
        } else if share.is_spent {
            return Taking::Decided(Err(Exceeded::Requests(share.standing(subject, allowed, now))));
        } else {
            let uncounted = std::mem::take(&mut share.uncounted);
            let many = uncounted + (allowed.requests / SHARES / nodes.max(1)).max(1);
            let name = subject.name_of(window);
            return Taking::Ask(Ask { name, many, uncounted, subject, window });
        }
        Taking::Decided(Ok(share.standing(subject, allowed, now)))
    }

    /// Admits the request that asked for a share, if the share is not empty. Without a total it is
    /// admitted within this node's part of the limit.
    pub fn taken(
        &self,
        ask: &Ask,
        total: Added,
        allowed: Allowed,
        (now, nodes): (Timestamp, u64),
    ) -> Result<Standing, Exceeded> {
        let mut table = self.lock();
        let share = table.share(ask.subject, ask.window);
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
        let standing = share.standing(ask.subject, allowed, now);
        if is_let_in { Ok(standing) } else { Err(Exceeded::Requests(standing)) }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // A panic cannot leave the table in a broken state, so a poisoned lock is used as it is.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn share(&mut self, subject: Subject, window: i64) -> &mut Share {
        let share = self.shares.entry(subject).or_default();
        if share.window != window {
            *share = Share { window, ..Share::default() };
        }
        share
    }

    fn sweep(&mut self, now: Timestamp) {
        if WINDOWS_SWEPT < self.shares.len() && self.next_sweep_ms <= now.ms() {
            self.next_sweep_ms = now.ms() + SWEEP_MS;
            self.shares.retain(|subject, share| subject.window(now) <= share.window);
        }
    }
}

impl Share {
    fn standing(&self, subject: Subject, allowed: Allowed, now: Timestamp) -> Standing {
        let used = self.taken.saturating_sub(self.left).max(self.used);
        let requests_left = allowed.requests.saturating_sub(used);
        let resets_at = subject.resets_at(self.window);
        Standing { allowed, requests_left, tokens_left: None, resets_at, now }
    }
}

#[cfg(test)]
mod tests;
