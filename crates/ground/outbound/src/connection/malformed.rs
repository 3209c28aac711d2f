//! Violations of the HTTP/1.1 that is accepted here.

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the answer has {0}")]
pub(crate) struct MalformedResponse(pub(crate) &'static str);
