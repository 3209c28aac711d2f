//! Faults of inference in the shapes that OpenAI's clients read.

use schemars::JsonSchema;
use serde::Serialize;

/// An error as an object: a prompt that does not fit, and every error inside a stream.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InferenceError {
    pub error: InferenceFault,
}

/// What went wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InferenceFault {
    pub message: String,
    /// Such as `invalid_request_error`, `server_error` or `api_error`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The field at fault, where there is one.
    pub param: Option<&'static str>,
    /// Such as `context_length_exceeded` or `model_overloaded`.
    pub code: &'static str,
    /// Seconds after which trying again may help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// The answer to a request that the model's engine rejected.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InferenceRejection {
    /// The engine's own words.
    pub error: String,
    pub request_id: String,
}

/// The answer to wrong headers of an encrypted conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SealError {
    pub error: SealFault,
}

/// What is wrong with the headers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SealFault {
    pub message: String,
    /// Always `invalid_request_error`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}
