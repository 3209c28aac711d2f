//! Error responses: one type per format of the specification.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The standard error response.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StandardError {
    /// A description of the error.
    pub error: String,
    /// A machine-readable code, present if the status alone is ambiguous.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
}

/// The response to an invalid request. It lists all errors at once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ValidationError {
    pub error: String,
    /// Errors by field: `_errors` at each level, and one nested object per invalid field.
    pub details: Details,
    /// The same errors as a flat list.
    pub issues: Vec<Issue>,
}

/// One level of a validation error's `details`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Details {
    /// The errors at this level.
    #[serde(rename = "_errors")]
    pub errors: Vec<String>,
    /// The invalid fields (or array indexes) below this level.
    #[serde(flatten)]
    pub fields: std::collections::BTreeMap<String, Details>,
}

/// One validation error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Issue {
    /// The kind of error, such as `invalid_type` or `too_small`.
    pub code: String,
    /// The path of the invalid value: field names and array indexes from the root.
    pub path: Vec<Value>,
    /// A description of the error.
    pub message: String,
}

/// The 402 response to a key that has reached its spending limit.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpendLimitError {
    pub error: String,
    /// `API_KEY_USD_SPEND_LIMIT_EXCEEDED` or `API_KEY_DIEM_SPEND_LIMIT_EXCEEDED`.
    pub code: &'static str,
    /// The limit that was reached, in the currency named by `code`.
    pub limit: f64,
    /// The period of the limit: `EPOCH`, `MONTH` or `LIFETIME`.
    pub limit_period: &'static str,
    /// The time when the count is reset; null for `LIFETIME`.
    pub resets_at: Option<String>,
}

/// The error response of the x402 endpoints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct X402Error {
    /// A machine-readable code.
    pub error: &'static str,
    /// A description of the error.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// The response for a video that the provider refused to generate.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContentPolicyError {
    pub error: ContentPolicyFault,
}

/// The details of a content policy violation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContentPolicyFault {
    pub message: String,
    /// The provider's content-policy type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// True if the credits were refunded.
    pub credits_refunded: bool,
    /// A model that may accept the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended_model: Option<String>,
}

/// The response for a failed job. It is the same for every retrieval.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GenerationFailed {
    pub error: String,
    /// Always `GENERATION_FAILED`.
    pub code: &'static str,
    /// True if the credits were refunded.
    pub credits_refunded: bool,
}

/// The response to a rejected audio prompt.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AudioRejection {
    pub error: String,
    /// An alternative prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_prompt: Option<String>,
}

/// The response to an upload that is too large.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PayloadTooLarge {
    /// Always `PAYLOAD_TOO_LARGE`.
    pub code: &'static str,
    pub error: String,
}
