//! What video models are and can do.

use super::named::named;
use crate::pricing::VideoPrice;

#[derive(Debug, Clone, PartialEq)]
pub struct VideoSpec {
    pub kind: VideoKind,
    /// Empty when the model takes no aspect ratio; the same holds for the next two.
    pub aspect_ratios: Vec<String>,
    pub resolutions: Vec<String>,
    /// As callers write them: `5s`, `1 gen` or `Auto`.
    pub durations: Vec<String>,
    pub audio: bool,
    /// Whether a caller may switch the audio off.
    pub audio_configurable: bool,
    pub prompt_characters_max: u64,
    /// Whether it can start from a picture although it needs none.
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
    /// What a video model starts from.
    pub enum VideoKind {
        ImageToVideo = "image-to-video",
        TextToVideo = "text-to-video",
        Video = "video",
    }
}

/// Which images a model takes as references; an absent limit is no limit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReferenceImageLimits {
    pub min_short_side_pixels: Option<u64>,
    pub min_aspect_ratio: Option<f64>,
    pub max_aspect_ratio: Option<f64>,
}
