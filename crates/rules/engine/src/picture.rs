//! Image requests and responses.

use std::time::Duration;

use bytes::Bytes;

use crate::FileKind;

/// An image file that this service decoded and encoded again itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFile {
    /// Cloning is cheap: the bytes are shared.
    pub bytes: Bytes,
    pub kind: FileKind,
    pub size: PictureSize,
}

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSize {
    pub width: u32,
    pub height: u32,
}

impl PictureSize {
    pub fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

/// The wanted image size, in every form that an engine may require.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedImageSize {
    pub size: PictureSize,
    /// For models that take an aspect ratio, such as `16:9`.
    pub aspect_ratio: Option<String>,
    /// For models that take a resolution tier, such as `2K`.
    pub resolution: Option<String>,
}

/// An image to generate.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageRequest {
    pub prompt: String,
    pub negative_prompt: Option<String>,
    pub frame: RequestedImageSize,
    pub steps: Option<u32>,
    pub cfg_scale: Option<f64>,
    /// The same seed and prompt give the same image if the engine is deterministic.
    pub seed: i64,
    /// `low`, `medium` or `high`.
    pub quality: Option<&'static str>,
    /// Strength of adapters (LoRA) in percent, for models that have them.
    pub adapter_strength: Option<u32>,
    /// The model may search the web.
    pub web_search: bool,
    /// Images whose style to apply; only for engines that [take
    /// them](crate::ImageEngine::takes_style_references).
    pub style_references: Vec<StyleReference>,
}

/// An image whose style is applied to the generated image.
#[derive(Debug, Clone, PartialEq)]
pub struct StyleReference {
    pub picture: ImageFile,
    /// Weight of the reference, from 0.1 to 1.
    pub strength: f64,
}

/// Images to edit according to a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct EditRequest {
    pub prompt: String,
    /// The first image is edited, the others are references. Never empty.
    pub pictures: Vec<ImageFile>,
    /// Transparent pixels of the mask may change. `None` allows all pixels to change.
    pub mask: Option<ImageFile>,
    pub frame: RequestedImageSize,
    pub quality: Option<&'static str>,
    pub seed: i64,
}

/// An image to enlarge.
#[derive(Debug, Clone, PartialEq)]
pub struct UpscaleRequest {
    pub picture: ImageFile,
    /// Factor from 1 (only enhances the image) to 4.
    pub scale: f64,
    /// The size of the result.
    pub size: PictureSize,
    /// Freedom to invent detail, from 0 to 1. `None`: no detail is invented.
    pub creativity: Option<f64>,
    /// Describes the wanted enhancement.
    pub prompt: Option<String>,
}

/// An image whose background is to be removed.
#[derive(Debug, Clone, PartialEq)]
pub struct CutOutRequest {
    pub picture: ImageFile,
}

/// The image that an engine returned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImageAnswer {
    /// The file as the engine encoded it, not yet validated.
    pub file: Bytes,
    /// Time in the engine's queue, if the engine reports it.
    pub waited: Option<Duration>,
    /// Result of the engine's own adult-content classifier, if it has one.
    pub is_adult: Option<bool>,
}
