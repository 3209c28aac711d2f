//! Words or pictures in, a picture out.

use std::time::Duration;

use bytes::Bytes;

use crate::FileKind;

/// A picture as a file that we have read and written ourselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Cloning them copies nothing.
    pub bytes: Bytes,
    pub kind: FileKind,
    pub size: PictureSize,
}

/// In pixels.
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

/// How large a picture shall be, in every way in which an engine may want to hear it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub size: PictureSize,
    /// For models that are asked for a ratio, such as `16:9`.
    pub aspect_ratio: Option<String>,
    /// For models that are asked for a tier, such as `2K`.
    pub resolution: Option<String>,
}

/// A picture to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageRequest {
    pub prompt: String,
    pub negative_prompt: Option<String>,
    pub frame: Frame,
    pub steps: Option<u32>,
    pub cfg_scale: Option<f64>,
    /// The same seed and the same words make the same picture, where an engine can do that.
    pub seed: i64,
    /// `low`, `medium` or `high`.
    pub quality: Option<&'static str>,
    /// In percent, for models with adapters.
    pub adapter_strength: Option<u32>,
    /// The model may look things up.
    pub web_search: bool,
    /// Pictures whose style it shall have; only for engines that
    /// [take them](crate::ImageEngine::takes_style_references).
    pub style_references: Vec<StyleReference>,
}

/// A picture whose style another shall have.
#[derive(Debug, Clone, PartialEq)]
pub struct StyleReference {
    pub picture: Picture,
    /// How much it counts, from 0.1 to 1.
    pub strength: f64,
}

/// Pictures to be changed as a text says.
#[derive(Debug, Clone, PartialEq)]
pub struct EditRequest {
    pub prompt: String,
    /// The first is what is changed, the others are what it is changed with. Never empty.
    pub pictures: Vec<Picture>,
    /// What is transparent in it may change; everything where there is none.
    pub mask: Option<Picture>,
    pub frame: Frame,
    pub quality: Option<&'static str>,
    pub seed: i64,
}

/// A picture to be enlarged.
#[derive(Debug, Clone, PartialEq)]
pub struct UpscaleRequest {
    pub picture: Picture,
    /// From 1, which only improves it, to 4.
    pub scale: f64,
    /// What the result shall measure.
    pub size: PictureSize,
    /// How much may be invented, from 0 to 1; nothing where it is absent.
    pub creativity: Option<f64>,
    /// What to improve it towards.
    pub prompt: Option<String>,
}

/// A picture whose background is to go.
#[derive(Debug, Clone, PartialEq)]
pub struct CutOutRequest {
    pub picture: Picture,
}

/// What an engine made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImageAnswer {
    /// The file as the engine wrote it. It has not been looked at.
    pub file: Bytes,
    /// How long the request waited at the engine before it was begun, if the engine tells.
    pub waited: Option<Duration>,
    /// Whether the engine's own classifier found something for adults, if it has one.
    pub is_adult: Option<bool>,
}
