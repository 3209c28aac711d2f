//! Prices of models in the listing: one type per model type, every amount in USD and DIEM.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// A price in both currencies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Amount {
    pub usd: f64,
    pub diem: f64,
}

/// Prices of text and embedding models, per million tokens.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TokenPricing {
    pub input: Amount,
    pub output: Amount,
    /// Price of input tokens read from the prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_input: Option<Amount>,
    /// Price of input tokens written to the prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<Amount>,
    /// Price of input tokens written to the prompt cache for one hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<Amount>,
    /// Prices for long contexts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended: Option<ExtendedPricing>,
}

/// Prices that apply to the whole request if it exceeds the threshold.
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

/// Prices of image and upscale models, per image: `generation`, or `resolutions` if the price
/// depends on the resolution.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImagePricing {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<Amount>,
    /// Prices by resolution, such as `1K`, `2K` and `4K`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolutions: Option<BTreeMap<String, Amount>>,
    /// Prices by resolution and quality.
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

/// Prices of upscaling one image.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UpscalePricing {
    #[serde(rename = "2x")]
    pub double: Amount,
    #[serde(rename = "4x")]
    pub quadruple: Amount,
}

/// Prices of speech models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TtsPricing {
    /// Per million characters.
    pub input: Amount,
}

/// Prices of transcription models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AsrPricing {
    /// Per second of audio.
    pub per_audio_second: Amount,
}

/// Prices of image editing models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InpaintPricing {
    /// Per edit.
    pub inpaint: Amount,
    /// Per edit, by resolution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolutions: Option<BTreeMap<String, Amount>>,
    /// The price of additional input images.
    #[serde(rename = "inputImages", skip_serializing_if = "Option::is_none")]
    pub input_images: Option<InputImagesPricing>,
    /// Per edit, by resolution and quality.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<BTreeMap<String, QualityPricing>>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InputImagesPricing {
    /// The number of input images included in the price of an edit.
    pub included: u64,
    /// The price of each further image.
    pub additional: Amount,
}

/// Prices of music models, in exactly one of these forms.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MusicPricing {
    /// Per piece.
    Generation(Amount),
    /// Per piece, by length. The key is the maximum length in seconds.
    Durations(BTreeMap<u64, DurationAmount>),
    /// Per second of music.
    PerSecond(Amount),
    /// Per thousand characters of prompt and lyrics.
    PerThousandCharacters(Amount),
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DurationAmount {
    pub usd: f64,
    pub diem: f64,
    pub min_seconds: u64,
    pub max_seconds: u64,
}
