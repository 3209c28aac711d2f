//! Idempotency keys: the same request sent twice runs once, and is answered twice.
//!
//! A response is stored in the same transaction as its charge, and replayed for a day. A request
//! that ended without work (refused, unpaid, rate limited, no node reachable) stores nothing, so
//! that a retry runs again. Requests in progress are only in
//! [`SingleFlight`](single_flight::SingleFlight): the process that runs them is the only one that
//! writes to the database, and when it dies its holds die with it.

use std::fmt;
use std::time::Duration;

use moment::Timestamp;
use sha2::{Digest, Sha256};

/// Time for which a response is replayed.
pub const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum number of stored responses per owner.
pub const ANSWERS_PER_OWNER_MAX: u64 = 100_000;
/// The maximum bytes of stored responses per owner.
pub const BYTES_PER_OWNER_MAX: u64 = 1 << 30;

const KEY_BYTES_MAX: usize = 255;

/// An `Idempotency-Key`: 1 to 255 letters, digits, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub fn parse(text: &str) -> Result<IdempotencyKey, BadIdempotencyKey> {
        let is_short_enough = (1..=KEY_BYTES_MAX).contains(&text.len());
        let is_plain = text.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it));
        if is_short_enough && is_plain {
            return Ok(IdempotencyKey(text.to_owned()));
        }
        Err(BadIdempotencyKey)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("Idempotency-Key must be 1 to 255 letters, digits, underscores or hyphens")]
pub struct BadIdempotencyKey;

/// A hash of the request, so that a key cannot be reused for another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RequestFingerprint([u8; 32]);

impl RequestFingerprint {
    /// Hashes the request. The path includes the network; the body counts byte for byte.
    pub fn of_request(method: &str, path: &str, body: &[u8]) -> RequestFingerprint {
        let mut hasher = Sha256::new();
        for part in [method.as_bytes(), path.as_bytes(), body] {
            // The length goes first, so that parts cut at different places never hash alike.
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        RequestFingerprint(hasher.finalize().into())
    }

    pub fn from_bytes(bytes: [u8; 32]) -> RequestFingerprint {
        RequestFingerprint(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for RequestFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({:02x}{:02x}…)", self.0[0], self.0[1])
    }
}

/// The stored response of a key, as far as the decision needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredFingerprint {
    pub fingerprint: RequestFingerprint,
    pub expires_at: Timestamp,
}

/// The decision about a request that carries a key and is not in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdempotencyDecision {
    /// Run the request.
    Fresh,
    /// Return the stored response, without a charge.
    Replay,
    /// The key was used for another request: refuse, run nothing.
    Clash,
}

/// Decides by the response that is stored under the key.
pub fn decide_replay(
    found: Option<StoredFingerprint>,
    fingerprint: RequestFingerprint,
    now: Timestamp,
) -> IdempotencyDecision {
    match found {
        Some(stored) if now < stored.expires_at => {
            if stored.fingerprint == fingerprint {
                IdempotencyDecision::Replay
            } else {
                IdempotencyDecision::Clash
            }
        }
        _ => IdempotencyDecision::Fresh,
    }
}

#[cfg(test)]
mod tests;
