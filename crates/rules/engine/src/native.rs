//! A request in the caller's own protocol, which an engine of the same protocol sends unchanged.
//!
//! Besides it, a [`ChatRequest`](crate::ChatRequest) always has its own translated form: for engines
//! of other protocols, and for counting tokens.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use serde_json::value::RawValue;

/// A protocol that callers and engines have in common, besides chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeProtocol {
    /// Anthropic's Messages API.
    Messages,
    /// OpenAI's Responses API.
    Responses,
}

/// The caller's request. An engine replaces the model's id and changes nothing else.
#[derive(Clone)]
pub struct NativeRequest {
    pub protocol: NativeProtocol,
    /// The JSON object as the caller sent it.
    pub body: Bytes,
    /// The bytes of `body` that are the value of `model`, with its quotes.
    pub model_span: Range<usize>,
    /// Headers of the protocol that the caller sent, such as `anthropic-beta`.
    pub headers: Vec<NativeHeader>,
}

/// Omits the body and the values of headers: they hold the caller's conversation.
impl fmt::Debug for NativeRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeRequest")
            .field("protocol", &self.protocol)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct NativeHeader {
    /// In lower case.
    pub name: String,
    pub value: String,
}

/// One event of an answer to a [`NativeRequest`], forwarded to the caller unchanged.
#[derive(Debug, Clone)]
pub struct NativeEvent {
    /// The event's `type`.
    pub kind: String,
    /// The event's JSON.
    pub data: Box<RawValue>,
}
