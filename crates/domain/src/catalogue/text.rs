//! What text and embedding models are and can do.

use std::collections::BTreeSet;

use super::Choices;
use super::named::named;
use crate::pricing::TokenPrice;

#[derive(Debug, Clone, PartialEq)]
pub struct TextSpec {
    pub tier: Tier,
    pub context_tokens: u64,
    pub max_completion_tokens: Option<u64>,
    pub capabilities: BTreeSet<Capability>,
    pub quantization: Quantization,
    /// Empty when the model does not let a caller choose how hard it thinks.
    pub reasoning_efforts: Choices<ReasoningEffort>,
    pub images_max: Option<u64>,
    pub videos_max: Option<u64>,
    pub sampling: Box<SamplingDefaults>,
    /// Fields that the upstream of the model is never sent, from callers or from defaults.
    pub dropped_fields: BTreeSet<ChatField>,
    pub price: TokenPrice,
}

impl TextSpec {
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
}

named! {
    /// How big a text model is; the rate limits of text models go by it.
    pub enum Tier {
        Xs = "XS",
        S = "S",
        M = "M",
        L = "L",
    }
}

named! {
    /// What a text model can do, by the names the operator's file uses.
    pub enum Capability {
        Code = "code",
        Tools = "tools",
        AudioInput = "audio_input",
        Reasoning = "reasoning",
        ReasoningEffort = "reasoning_effort",
        JsonSchema = "json_schema",
        MultipleImages = "multiple_images",
        Vision = "vision",
        VideoInput = "video_input",
        /// Reads PDF files as they are; callers are not told, and may try.
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
    pub enum Quantization {
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
    /// How hard a reasoning model thinks before it answers.
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
    /// A field of a chat that the operator can keep from a model's upstream, by its public name.
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

/// Sampling parameters that the operator sets, sent where a caller sends none. The upstream's own
/// defaults apply to those that are `None`.
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
    /// Whether a caller may ask for fewer dimensions.
    pub custom_dimensions: bool,
    pub price: TokenPrice,
}
