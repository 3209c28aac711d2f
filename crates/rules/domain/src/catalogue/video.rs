//! Specifications of video models.

use super::named::named;
use crate::pricing::VideoPrice;

#[derive(Debug, Clone, PartialEq)]
pub struct VideoSpec {
    pub kind: VideoKind,
    /// Empty if the model takes no aspect ratio; likewise `resolutions` and `durations`.
    pub aspect_ratios: Vec<String>,
    pub resolutions: Vec<String>,
    /// As callers write them: `5s`, `1 gen` or `Auto`.
    pub durations: Vec<String>,
    pub audio: bool,
    /// True if a caller may turn the audio off.
    pub audio_configurable: bool,
    pub prompt_characters_max: u64,
    /// True if the model can start from an image but does not need one.
    pub image_input: bool,
    pub audio_input: bool,
    pub per_reference_audio: bool,
    pub video_input: bool,
    pub reference_image: ReferenceImageLimits,
    pub price: VideoPrice,
}

impl VideoSpec {
    pub fn takes_pictures(&self) -> bool {
        self.image_input || self.kind != VideoKind::TextToVideo
    }
}

named! {
    /// The input that a video model starts from.
    pub enum VideoKind {
        ImageToVideo = "image-to-video",
        TextToVideo = "text-to-video",
        Video = "video",
    }
}

/// Limits for reference images; `None` is no limit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReferenceImageLimits {
    pub min_short_side_pixels: Option<u64>,
    pub min_aspect_ratio: Option<f64>,
    pub max_aspect_ratio: Option<f64>,
}
