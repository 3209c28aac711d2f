//! Inference errors in the formats that OpenAI's clients parse.

use schemars::JsonSchema;
use serde::Serialize;

/// An error object: returned for a prompt that exceeds the context, and for every error in a
/// stream.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InferenceError {
    pub error: InferenceFault,
}

/// The details of an inference error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InferenceFault {
    pub message: String,
    /// The error type, such as `invalid_request_error`, `server_error` or `api_error`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The invalid field, if there is one.
    pub param: Option<&'static str>,
    /// The error code, such as `context_length_exceeded` or `model_overloaded`.
    pub code: &'static str,
    /// Seconds to wait before a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// The response to a request that the model's engine rejected.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InferenceRejection {
    /// The engine's error message.
    pub error: String,
    pub request_id: String,
}

/// The response to invalid headers of an encrypted conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SealError {
    pub error: SealFault,
}

/// The details of a header error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SealFault {
    pub message: String,
    /// Always `invalid_request_error`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}
