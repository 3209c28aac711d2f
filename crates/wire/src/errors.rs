//! The bodies of refusals: one type per envelope of the specification.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The standard error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StandardError {
    /// Description.
    pub error: String,
    /// What a program can branch on, where the status alone does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
}

/// The validation error: every fault of the request at once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ValidationError {
    pub error: String,
    /// Nested: `_errors` at each level, and one sub-object per offending field.
    pub details: Details,
    /// The same faults as a list.
    pub issues: Vec<Issue>,
}

/// One level of a validation error's `details`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Details {
    /// What is wrong at this level.
    #[serde(rename = "_errors")]
    pub errors: Vec<String>,
    /// The offending fields (or array indexes) below it.
    #[serde(flatten)]
    pub fields: std::collections::BTreeMap<String, Details>,
}

/// One fault of a request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Issue {
    /// The kind of fault, such as `invalid_type` or `too_small`.
    pub code: String,
    /// Where: field names and array indexes from the root.
    pub path: Vec<Value>,
    /// The fault in words.
    pub message: String,
}

/// The 402 of a key that has reached its own spending limit.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpendLimitError {
    pub error: String,
    /// `API_KEY_USD_SPEND_LIMIT_EXCEEDED` or `API_KEY_DIEM_SPEND_LIMIT_EXCEEDED`.
    pub code: &'static str,
    /// The limit that was reached, in its currency.
    pub limit: f64,
    /// The period the limit counts: `EPOCH`, `MONTH` or `LIFETIME`.
    pub limit_period: &'static str,
    /// When the count starts again; null if it never does.
    pub resets_at: Option<String>,
}

/// The error of the x402 endpoints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct X402Error {
    /// A machine-readable code.
    pub error: &'static str,
    /// The code in words.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// The answer to a video that its provider refused to make.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContentPolicyError {
    pub error: ContentPolicyFault,
}

/// What a provider's content policy objected to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContentPolicyFault {
    pub message: String,
    /// The provider's content-policy type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether the credits were given back.
    pub credits_refunded: bool,
    /// A model that may accept the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended_model: Option<String>,
}

/// The answer to a job that ended without a result, the same whenever it is asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GenerationFailed {
    pub error: String,
    /// Always `GENERATION_FAILED`.
    pub code: &'static str,
    /// Whether the credits were given back.
    pub credits_refunded: bool,
}

/// The answer to an audio prompt that was rejected.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AudioRejection {
    pub error: String,
    /// An alternative prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_prompt: Option<String>,
}

/// The answer to an upload that is too large.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PayloadTooLarge {
    /// Always `PAYLOAD_TOO_LARGE`.
    pub code: &'static str,
    pub error: String,
}
