//! Stored responses, to be replayed for the same request with the same idempotency key.

use ledger_core::OwnerId;
use moment::Timestamp;

/// A response and the request it belongs to. Refusals are not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResponse {
    /// The hash of the request; the same key is refused for another request.
    pub fingerprint: [u8; 32],
    /// The response headers to replay, in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub expires: Timestamp,
}

/// The owner and idempotency key of a stored response.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StoredResponseKey {
    pub owner: OwnerId,
    pub key: String,
}

/// The response stored under a key, and the totals of its owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredResponseLookup {
    /// Also set if it has expired and was not deleted yet.
    pub answer: Option<StoredResponse>,
    pub answers: u64,
    pub bytes: u64,
}

/// Headers in the form of HTTP; neither names nor values can contain a line break.
pub fn headers_text(headers: &[(String, String)]) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
}

/// Parses the text of [`headers_text`].
pub fn headers_of(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
