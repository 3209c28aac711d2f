//! What a model costs, as the listing shows it: one shape per type, every leaf in USD and DIEM.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// A price in both currencies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Amount {
    pub usd: f64,
    pub diem: f64,
}

/// Text and embedding models, per million tokens.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TokenPricing {
    pub input: Amount,
    pub output: Amount,
    /// Input tokens that were read from the prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_input: Option<Amount>,
    /// Input tokens that were written to the prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<Amount>,
    /// Input tokens that were written to the prompt cache for an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<Amount>,
    /// Rates for long contexts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended: Option<ExtendedPricing>,
}

/// Above the threshold these rates apply to the whole request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExtendedPricing {
    pub context_token_threshold: u64,
    pub input: Amount,
    pub output: Amount,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_input: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<Amount>,
}

/// Image and upscale models, per image: `generation`, or `resolutions` where the price goes by
/// resolution.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImagePricing {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<Amount>,
    /// By resolution, such as `1K`, `2K` and `4K`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolutions: Option<BTreeMap<String, Amount>>,
    /// By resolution and quality.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<BTreeMap<String, QualityPricing>>,
    pub upscale: UpscalePricing,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QualityPricing {
    pub low: Amount,
    pub medium: Amount,
    pub high: Amount,
}

/// Enlarging one image.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UpscalePricing {
    #[serde(rename = "2x")]
    pub double: Amount,
    #[serde(rename = "4x")]
    pub quadruple: Amount,
}

/// Speech models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TtsPricing {
    /// Per million characters.
    pub input: Amount,
}

/// Transcription models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AsrPricing {
    /// Per second of audio.
    pub per_audio_second: Amount,
}

/// Image editing models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InpaintPricing {
    /// Per edit.
    pub inpaint: Amount,
    /// Per edit, by resolution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolutions: Option<BTreeMap<String, Amount>>,
    /// What input images beyond the included ones cost.
    #[serde(rename = "inputImages", skip_serializing_if = "Option::is_none")]
    pub input_images: Option<InputImagesPricing>,
    /// Per edit, by resolution and quality.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<BTreeMap<String, QualityPricing>>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InputImagesPricing {
    /// How many input images the price of an edit includes.
    pub included: u64,
    /// Per image beyond those.
    pub additional: Amount,
}

/// Music models: exactly one way of pricing.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MusicPricing {
    /// Per piece.
    Generation(Amount),
    /// Per piece, by its length: the longest length in seconds of each price.
    Durations(BTreeMap<u64, DurationAmount>),
    /// Per second.
    PerSecond(Amount),
    /// Per thousand characters of the prompt.
    PerThousandCharacters(Amount),
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DurationAmount {
    pub usd: f64,
    pub diem: f64,
    pub min_seconds: u64,
    pub max_seconds: u64,
}
