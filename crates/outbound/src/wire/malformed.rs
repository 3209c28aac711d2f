//! What a server sent is not HTTP/1.1 as we take it.

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the answer has {0}")]
pub(crate) struct Malformed(pub(crate) &'static str);
