//! Text and embedding models.

use schemars::JsonSchema;
use serde::Serialize;

use super::pricing::TokenPricing;
use super::spec::CommonSpec;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TextSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    pub available_context_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_completion_tokens: Option<u64>,
    pub capabilities: Capabilities,
    pub constraints: TextConstraints,
    pub pricing: TokenPricing,
}

/// The capabilities of a text model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    pub optimized_for_code: bool,
    pub supports_function_calling: bool,
    pub supports_audio_input: bool,
    pub supports_reasoning: bool,
    pub supports_reasoning_effort: bool,
    pub supports_response_schema: bool,
    pub supports_multiple_images: bool,
    pub supports_vision: bool,
    pub supports_video_input: bool,
    pub supports_web_search: bool,
    pub supports_log_probs: bool,
    pub supports_tee_attestation: bool,
    #[serde(rename = "supportsE2EE")]
    pub supports_e2ee: bool,
    pub supports_x_search: bool,
    /// The number format of the weights.
    pub quantization: Quantization,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort_options: Option<Vec<ReasoningEffort>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_reasoning_effort: Option<ReasoningEffort>,
    /// The maximum number of images per request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_images: Option<u64>,
    /// The maximum number of videos per request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_videos: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantization {
    Fp4,
    Fp8,
    Fp16,
    Bf16,
    Int8,
    Int4,
    NotAvailable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningEffort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// The sampling defaults of a text model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TextConstraints {
    pub temperature: DefaultValue,
    pub top_p: DefaultValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<DefaultValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<DefaultValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetition_penalty: Option<DefaultValue>,
}

/// The value used if a request does not set one.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct DefaultValue {
    /// Absent where the model's provider decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<f64>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddingSpec {
    #[serde(flatten)]
    pub common: CommonSpec,
    pub embedding_dimensions: u64,
    pub max_input_tokens: u64,
    pub supports_custom_dimensions: bool,
    pub pricing: TokenPricing,
}
