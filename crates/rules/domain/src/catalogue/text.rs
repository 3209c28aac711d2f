//! Specifications of text and embedding models.

use std::collections::BTreeSet;

use super::ChoiceList;
use super::named::named;
use crate::pricing::TokenPrice;

#[derive(Debug, Clone, PartialEq)]
pub struct TextSpec {
    pub tier: ModelTier,
    pub context_tokens: u64,
    pub max_completion_tokens: Option<u64>,
    pub capabilities: BTreeSet<TextCapability>,
    pub quantization: WeightQuantization,
    /// Empty if the model has no selectable reasoning effort.
    pub reasoning_efforts: ChoiceList<ReasoningEffort>,
    pub images_max: Option<u64>,
    pub videos_max: Option<u64>,
    pub sampling: Box<SamplingDefaults>,
    /// Fields that are removed from requests to the model's upstream, from callers and from
    /// defaults.
    pub dropped_fields: BTreeSet<ChatField>,
    pub price: TokenPrice,
}

impl TextSpec {
    pub fn has_capability(&self, capability: TextCapability) -> bool {
        self.capabilities.contains(&capability)
    }
}

named! {
    /// Size class of a text model, which selects its rate limits.
    pub enum ModelTier {
        Xs = "XS",
        S = "S",
        M = "M",
        L = "L",
    }
}

named! {
    /// Capabilities of text models, by their names in the configuration.
    pub enum TextCapability {
        Code = "code",
        Tools = "tools",
        AudioInput = "audio_input",
        Reasoning = "reasoning",
        ReasoningEffort = "reasoning_effort",
        JsonSchema = "json_schema",
        MultipleImages = "multiple_images",
        Vision = "vision",
        VideoInput = "video_input",
        /// Reads PDF files directly. Not listed to callers; any caller may try.
        Documents = "documents",
        WebSearch = "web_search",
        Logprobs = "logprobs",
        TeeAttestation = "tee_attestation",
        E2ee = "e2ee",
        XSearch = "x_search",
    }
}

named! {
    /// The number format of a model's weights.
    pub enum WeightQuantization {
        Fp4 = "fp4",
        Fp8 = "fp8",
        Fp16 = "fp16",
        Bf16 = "bf16",
        Int8 = "int8",
        Int4 = "int4",
        NotAvailable = "not-available",
    }
}

named! {
    /// Reasoning effort before the answer.
    pub enum ReasoningEffort {
        None = "none",
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
        Xhigh = "xhigh",
        Max = "max",
    }
}

named! {
    /// A chat field that the operator can remove from upstream requests, by its public name.
    pub enum ChatField {
        Temperature = "temperature",
        TopP = "top_p",
        TopK = "top_k",
        MinP = "min_p",
        MinTemp = "min_temp",
        MaxTemp = "max_temp",
        FrequencyPenalty = "frequency_penalty",
        PresencePenalty = "presence_penalty",
        RepetitionPenalty = "repetition_penalty",
        Seed = "seed",
        LogitBias = "logit_bias",
        Stop = "stop",
        StopTokenIds = "stop_token_ids",
        ParallelToolCalls = "parallel_tool_calls",
        ReasoningEffort = "reasoning_effort",
        Verbosity = "verbosity",
        PromptCacheKey = "prompt_cache_key",
        PromptCacheRetention = "prompt_cache_retention",
    }
}

/// Sampling parameters that the operator sets, used if the caller sends none. `None` leaves the
/// upstream's own default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SamplingDefaults {
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub top_k: Option<u32>,
    pub min_p: Option<f64>,
    pub min_temp: Option<f64>,
    pub max_temp: Option<f64>,
    pub frequency_penalty: Option<f64>,
    pub presence_penalty: Option<f64>,
    pub repetition_penalty: Option<f64>,
    pub seed: Option<i64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingSpec {
    pub dimensions: u64,
    pub max_input_tokens: u64,
    /// True if a caller may request fewer dimensions.
    pub custom_dimensions: bool,
    pub price: TokenPrice,
}
