//! What a model costs: one shape of price per model type, every amount in USD and in DIEM.

mod pictures;
mod queued;
mod tokens;

use std::collections::BTreeMap;

pub use money::Rate;
pub use queued::{QueuedLine, QueuedUnit};
pub use tokens::{TokenClass, TokenCounts, TokenLine};

/// Text and embedding models: by the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPrice {
    pub base: TokenRates,
    pub extended: Option<ExtendedPrice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenRates {
    pub input: Rate,
    pub output: Rate,
    /// Input read from the prompt cache; as other input when absent.
    pub cache_input: Option<Rate>,
    /// Input written to the prompt cache; as other input when absent.
    pub cache_write: Option<Rate>,
    /// Input written to the prompt cache for an hour; as `cache_write` when absent.
    pub cache_write_1h: Option<Rate>,
}

/// Other rates for requests with a long context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtendedPrice {
    pub above_context_tokens: u64,
    pub rates: TokenRates,
}

impl TokenPrice {
    /// The rates of a whole request: past the threshold the extended ones count for all of it.
    pub fn rates(&self, context_tokens: u64) -> &TokenRates {
        match &self.extended {
            Some(extended) if extended.above_context_tokens < context_tokens => &extended.rates,
            _ => &self.base,
        }
    }

    /// The price for requests that ask for no cache of an hour, whose hold need not cover one.
    pub fn without_hour_cache(self) -> TokenPrice {
        let without = |rates: TokenRates| TokenRates { cache_write_1h: None, ..rates };
        let extended = self.extended.map(|it| ExtendedPrice { rates: without(it.rates), ..it });
        TokenPrice { base: without(self.base), extended }
    }
}

/// Image and upscale models: by the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImagePrice {
    pub generation: ImageRates,
    /// Rates by resolution and quality, which win over `generation` where they exist.
    pub quality: BTreeMap<String, QualityRates>,
    pub upscale: UpscaleRates,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageRates {
    Flat(Rate),
    ByResolution(BTreeMap<String, Rate>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QualityRates {
    pub low: Rate,
    pub medium: Rate,
    pub high: Rate,
}

/// Enlarging one image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpscaleRates {
    /// Up to twice the width and height.
    pub double: Rate,
    /// Beyond that.
    pub quadruple: Rate,
}

/// Inpaint models: by the edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InpaintPrice {
    pub edit: Rate,
    /// Rates by resolution, which win over `edit` where they exist.
    pub resolutions: BTreeMap<String, Rate>,
    /// Rates by resolution and quality, which win over both.
    pub quality: BTreeMap<String, QualityRates>,
    pub input_images: Option<InputImagesPrice>,
}

/// What input images cost on top of the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputImagesPrice {
    /// How many are part of the edit's own price.
    pub included: u64,
    pub additional: Rate,
}

/// Music models: in one of four ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MusicPrice {
    PerGeneration(Rate),
    /// In rising order, without overlaps.
    ByDuration(Vec<DurationBand>),
    PerSecond(Rate),
    PerThousandCharacters(Rate),
}

/// One price for every length within it, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurationBand {
    pub min_s: u64,
    pub max_s: u64,
    pub rate: Rate,
}

/// Video models: a part for each video and a part for each second of it.
///
/// Callers never see this table; they ask for a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoPrice {
    pub per_generation: Option<Rate>,
    /// For resolutions that have no rates of their own.
    pub per_second: Option<VideoRates>,
    pub resolutions: BTreeMap<String, VideoRates>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VideoRates {
    pub silent: Rate,
    pub with_audio: Rate,
}

impl VideoPrice {
    /// What a second costs at this resolution; nothing where only the whole video has a price.
    pub fn rates(&self, resolution: Option<&str>) -> Option<VideoRates> {
        let own = resolution.and_then(|it| self.resolutions.get(it)).copied();
        own.or(self.per_second)
    }
}

#[cfg(test)]
mod tests;
