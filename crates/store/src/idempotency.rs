//! Answers that are kept, to be sent again for the same request with the same idempotency key.

use credits::OwnerId;
use moment::Timestamp;

/// An answer and the request it belongs to. Refusals are not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// What the request was; the same key may not stand for another one.
    pub fingerprint: [u8; 32],
    /// The headers that belong to the answer, in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub expires: Timestamp,
}

/// Whose answer it is, and under which key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AnswerKey {
    pub owner: OwnerId,
    pub key: String,
}

/// What is kept under a key, and how much the owner keeps in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Also when it has expired and was not dropped yet.
    pub answer: Option<KeptAnswer>,
    pub answers: u64,
    pub bytes: u64,
}

/// As HTTP writes them: neither a name nor a value can hold a line break.
pub fn headers_text(headers: &[(String, String)]) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
}

/// Reads what [`headers_text`] wrote.
pub fn headers_of(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
