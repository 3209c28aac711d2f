//! Errors in the form of Anthropic's API.

use schemars::JsonSchema;
use serde::Serialize;

/// The error response of `/messages` and `/messages/count_tokens`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessagesError {
    /// Always `error`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub error: MessagesFault,
    /// The id of the request, as in the header `request-id`.
    pub request_id: String,
}

/// The type and the description of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MessagesFault {
    /// Such as `invalid_request_error`, `billing_error` or `rate_limit_error`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub message: String,
}
