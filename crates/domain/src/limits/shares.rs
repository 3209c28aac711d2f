//! A window that several nodes count together, for strangers: callers that have no home.
//!
//! A node takes a small share of the window from a common count and lets requests in from it
//! without asking anybody; when the share is used up it takes the next. So all nodes together never
//! let in more than the limit, and what is lost in shares that nobody uses is at most a twentieth
//! of it. While the common count is away, each node lets in the limit divided by the number of
//! nodes, and counts that there when it is back.

use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use moment::Timestamp;

use crate::limits::tiers::Allowed;
use crate::limits::window::{Exceeded, Standing, Subject};

/// Into how many shares a node's part of a window is divided.
const SHARES: u64 = 20;
/// Beyond so many windows those that have ended are dropped, now and then.
const WINDOWS_SWEPT: usize = 16_384;
const SWEEP_MS: i64 = 5_000;

/// What was counted in all; none if that could not be known in time.
pub type Added = Option<u64>;

/// Counts that all nodes have in common. None of this takes long, whatever happens.
pub trait SharedCounts: Send + Sync {
    /// Adds to a count, and tells what it is then.
    fn add<'a>(
        &'a self,
        name: &'a str,
        many: u64,
    ) -> Pin<Box<dyn Future<Output = Added> + Send + 'a>>;

    /// Tells other nodes that an address is blocked.
    fn tell_blocked(&self, address: IpAddr, until: Timestamp);

    /// How many nodes there are, as far as is known.
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
    /// Not before this moment.
    next_sweep_ms: i64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Share {
    window: i64,
    /// Taken, and not used yet.
    left: u64,
    /// Let in by this node.
    used: u64,
    /// Taken by all nodes, when this one last asked.
    taken: u64,
    /// Let in while the common count was away, and not counted there yet.
    uncounted: u64,
    is_spent: bool,
}

/// What comes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taking {
    Decided(Result<Standing, Exceeded>),
    /// The next share has to be taken first: add `many` to the count of that name.
    Ask(Ask),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    pub name: String,
    pub many: u64,
    /// How much of that was let in before.
    uncounted: u64,
    subject: Subject,
    window: i64,
}

impl Shares {
    /// Lets a request in if there is something left of this node's share.
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

    /// Lets the request in that asked for a share, if the share has something in it. Without a
    /// count it is let in within this node's part of the limit.
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
        // A panic while counting leaves numbers, not broken structure: go on with them.
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
