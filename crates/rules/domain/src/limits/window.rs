//! Requests and tokens per minute, in fixed windows of 60 seconds.
//!
//! The headers promise a moment at which the window resets, so the window is fixed: a smoother
//! algorithm would still refuse right after the promised reset. The cost is a burst of up to twice
//! the limit across a reset. Each subject has its own phase, so that the resets are spread over the
//! minute.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashbrown::HashMap;
use moment::Timestamp;

use crate::limits::tiers::MinuteLimits;

const WINDOW_MS: i64 = 60_000;
const SHARDS: usize = 64;
/// Above this number of windows, a shard removes ended windows at most every `SWEEP_MS`: a sweep
/// for every request would be too slow.
const SHARD_WINDOWS_SWEPT: usize = 4096;
const SWEEP_MS: i64 = 5_000;

/// Counters for every subject with a request in the last minute.
pub struct WindowLimiter {
    shards: Vec<Mutex<LimiterShard>>,
}

#[derive(Debug, Default)]
struct LimiterShard {
    windows: HashMap<LimitSubject, MinuteWindow>,
    /// Earliest time of the next sweep.
    next_sweep_ms: i64,
}

/// The subject of a limit: an account or address, together with a model or a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LimitSubject(u64, u64);

#[derive(Debug, Default, Clone, Copy)]
struct MinuteWindow {
    number: i64,
    requests: u64,
    tokens: u64,
    /// Requests that were counted and given back.
    requests_returned: u64,
}

/// The values of the rate-limit headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitStatus {
    pub allowed: MinuteLimits,
    pub requests_left: u64,
    pub tokens_left: Option<u64>,
    pub resets_at: Timestamp,
    pub now: Timestamp,
}

/// Permission to run one request; its reserved tokens are corrected when the request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitAdmission {
    pub standing: RateLimitStatus,
    subject: LimitSubject,
    window: i64,
    tokens_reserved: u64,
}

/// The limit that was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExceededLimit {
    Requests(RateLimitStatus),
    Tokens(RateLimitStatus),
}

impl LimitSubject {
    pub fn new(who: impl Hash, what: impl Hash) -> LimitSubject {
        let digest = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, &who, &what).hash(&mut hasher);
            hasher.finish()
        };
        LimitSubject(digest(0), digest(1))
    }

    fn phase_ms(self) -> i64 {
        i64::try_from(self.1 % WINDOW_MS.unsigned_abs()).unwrap_or(0)
    }

    pub(super) fn window_number(self, now: Timestamp) -> i64 {
        (now.ms() + self.phase_ms()).div_euclid(WINDOW_MS)
    }

    /// The name of the shared counter for a window.
    pub(super) fn counter_name(self, window: i64) -> String {
        format!("{:016x}{:016x}:{window}", self.0, self.1)
    }

    pub(super) fn resets_at(self, window: i64) -> Timestamp {
        Timestamp::from_ms((window + 1) * WINDOW_MS - self.phase_ms())
    }
}

impl Default for WindowLimiter {
    fn default() -> WindowLimiter {
        WindowLimiter { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }
}

impl WindowLimiter {
    /// Counts one request and reserves its tokens, or refuses it without counting.
    pub fn admit(
        &self,
        subject: LimitSubject,
        allowed: MinuteLimits,
        tokens: u64,
        now: Timestamp,
    ) -> Result<LimitAdmission, ExceededLimit> {
        let number = subject.window_number(now);
        let mut shard = self.lock_shard(subject);
        if SHARD_WINDOWS_SWEPT < shard.windows.len() && shard.next_sweep_ms <= now.ms() {
            shard.next_sweep_ms = now.ms() + SWEEP_MS;
            shard.windows.retain(|other, window| other.window_number(now) <= window.number);
        }
        let window = shard.windows.entry(subject).or_default();
        if window.number != number {
            *window = MinuteWindow { number, ..MinuteWindow::default() };
        }
        if allowed.requests <= window.requests {
            return Err(ExceededLimit::Requests(window.limit_status(subject, allowed, now)));
        }
        // A single request larger than the whole limit is admitted alone in a fresh window;
        // otherwise it would always be refused.
        let is_over = allowed.tokens.is_some_and(|limit| limit < window.tokens + tokens);
        if is_over && 0 < window.tokens {
            return Err(ExceededLimit::Tokens(window.limit_status(subject, allowed, now)));
        }
        window.requests += 1;
        window.tokens += tokens;
        let standing = window.limit_status(subject, allowed, now);
        Ok(LimitAdmission { standing, subject, window: number, tokens_reserved: tokens })
    }

    /// Replaces the reserved tokens with the tokens used, in the window that admitted them.
    pub fn correct_tokens(&self, admission: LimitAdmission, tokens_used: u64) {
        let mut shard = self.lock_shard(admission.subject);
        let Some(window) = shard.windows.get_mut(&admission.subject) else { return };
        if window.number == admission.window {
            window.tokens = window.tokens.saturating_sub(admission.tokens_reserved) + tokens_used;
        }
    }

    /// Gives back a request that the service was too busy to run, in the window that admitted it;
    /// its tokens are corrected separately. Gives back at most as many as the limit, so that a
    /// caller who keeps the service busy itself is limited too. Returns the values after it.
    pub fn return_request(&self, admission: LimitAdmission) -> RateLimitStatus {
        let RateLimitStatus { allowed, now, .. } = admission.standing;
        let mut shard = self.lock_shard(admission.subject);
        let window = shard.windows.get_mut(&admission.subject);
        let Some(window) = window.filter(|window| window.number == admission.window) else {
            return admission.standing;
        };
        if window.requests_returned < allowed.requests {
            window.requests_returned += 1;
            window.requests = window.requests.saturating_sub(1);
        }
        window.limit_status(admission.subject, allowed, now)
    }

    /// The subject's current values, without counting anything.
    pub fn limit_status(
        &self,
        subject: LimitSubject,
        allowed: MinuteLimits,
        now: Timestamp,
    ) -> RateLimitStatus {
        let number = subject.window_number(now);
        let known = self.lock_shard(subject).windows.get(&subject).copied();
        let window = known.filter(|window| window.number == number);
        window
            .unwrap_or(MinuteWindow { number, ..MinuteWindow::default() })
            .limit_status(subject, allowed, now)
    }

    fn lock_shard(&self, subject: LimitSubject) -> MutexGuard<'_, LimiterShard> {
        let index = usize::try_from(subject.0 % SHARDS as u64).unwrap_or(0);
        // A panic cannot leave a shard in a broken state, so a poisoned lock is used as it is.
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MinuteWindow {
    fn limit_status(
        &self,
        subject: LimitSubject,
        allowed: MinuteLimits,
        now: Timestamp,
    ) -> RateLimitStatus {
        RateLimitStatus {
            allowed,
            requests_left: allowed.requests.saturating_sub(self.requests),
            tokens_left: allowed.tokens.map(|limit| limit.saturating_sub(self.tokens)),
            resets_at: subject.resets_at(self.number),
            now,
        }
    }
}

impl RateLimitStatus {
    pub fn until_reset(&self) -> Duration {
        self.resets_at.since(self.now)
    }
}

impl ExceededLimit {
    /// The name of the limit in the log.
    pub fn kind(&self) -> &'static str {
        match self {
            ExceededLimit::Requests(_) => "RPM",
            ExceededLimit::Tokens(_) => "TPM",
        }
    }

    pub fn limit_status(&self) -> &RateLimitStatus {
        match self {
            ExceededLimit::Requests(standing) | ExceededLimit::Tokens(standing) => standing,
        }
    }
}

#[cfg(test)]
mod tests;
