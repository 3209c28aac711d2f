//! Model prices: one structure per model type, every amount in USD and in DIEM.

mod pictures;
mod queued;
mod rerank;
mod tokens;

use std::collections::BTreeMap;

pub use money::UnitRate;
pub use queued::{QueuedLine, QueuedUnit};
pub use rerank::RerankPrice;
pub use tokens::{TokenClass, TokenCounts, TokenLine};

/// Price of text and embedding models, per token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPrice {
    pub base: TokenRates,
    pub extended: Option<ExtendedPrice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenRates {
    pub input: UnitRate,
    pub output: UnitRate,
    /// Input read from the prompt cache. Default: the rate of other input.
    pub cache_input: Option<UnitRate>,
    /// Input written to the prompt cache. Default: the rate of other input.
    pub cache_write: Option<UnitRate>,
    /// Input written to the prompt cache for one hour. Default: `cache_write`.
    pub cache_write_1h: Option<UnitRate>,
}

/// Rates for requests with a long context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtendedPrice {
    pub above_context_tokens: u64,
    pub rates: TokenRates,
}

impl TokenPrice {
    /// The rates of a request. Above the threshold, the extended rates apply to all its tokens.
    pub fn rates(&self, context_tokens: u64) -> &TokenRates {
        match &self.extended {
            Some(extended) if extended.above_context_tokens < context_tokens => &extended.rates,
            _ => &self.base,
        }
    }

    /// The price without the one-hour cache, so that holds of requests that do not use it are
    /// lower.
    pub fn without_hour_cache(self) -> TokenPrice {
        let without = |rates: TokenRates| TokenRates { cache_write_1h: None, ..rates };
        let extended = self.extended.map(|it| ExtendedPrice { rates: without(it.rates), ..it });
        TokenPrice { base: without(self.base), extended }
    }
}

/// Price of image and upscale models, per image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImagePrice {
    pub generation: ImageRates,
    /// Rates by resolution and quality, which override `generation`.
    pub quality: BTreeMap<String, QualityRates>,
    pub upscale: UpscaleRates,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageRates {
    Flat(UnitRate),
    ByResolution(BTreeMap<String, UnitRate>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QualityRates {
    pub low: UnitRate,
    pub medium: UnitRate,
    pub high: UnitRate,
}

/// Price of upscaling one image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpscaleRates {
    /// Factors up to 2.
    pub double: UnitRate,
    /// Larger factors.
    pub quadruple: UnitRate,
}

/// Price of inpaint models, per edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InpaintPrice {
    pub edit: UnitRate,
    /// Rates by resolution, which override `edit`.
    pub resolutions: BTreeMap<String, UnitRate>,
    /// Rates by resolution and quality, which override both.
    pub quality: BTreeMap<String, QualityRates>,
    pub input_images: Option<InputImagesPrice>,
}

/// Price of input images in addition to the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputImagesPrice {
    /// Input images included in the edit's price.
    pub included: u64,
    pub additional: UnitRate,
}

/// Price of music models, in one of four ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MusicPrice {
    PerGeneration(UnitRate),
    /// In rising order, without overlaps.
    ByDuration(Vec<DurationBand>),
    PerSecond(UnitRate),
    PerThousandCharacters(UnitRate),
}

/// A price for lengths in this range, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurationBand {
    pub min_s: u64,
    pub max_s: u64,
    pub rate: UnitRate,
}

/// Price of video models: an amount per video and an amount per second.
///
/// Callers never see this table; they request a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoPrice {
    pub per_generation: Option<UnitRate>,
    /// For resolutions without rates of their own.
    pub per_second: Option<VideoRates>,
    pub resolutions: BTreeMap<String, VideoRates>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VideoRates {
    pub silent: UnitRate,
    pub with_audio: UnitRate,
}

impl VideoPrice {
    /// The rates per second at this resolution; `None` if only the whole video has a price.
    pub fn rates(&self, resolution: Option<&str>) -> Option<VideoRates> {
        let own = resolution.and_then(|it| self.resolutions.get(it)).copied();
        own.or(self.per_second)
    }
}

#[cfg(test)]
mod tests;
