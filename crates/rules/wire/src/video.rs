//! Queued videos: quote, queue, and download by link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A video to generate.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VideoQueueRequest {
    /// A video model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// A description of the video. The maximum length depends on the model.
    #[schemars(length(min = 1, max = 20_000))]
    pub prompt: String,
    /// The length: one of the model's durations, such as `5s`.
    pub duration: VideoDuration,
    /// A description of content to avoid.
    #[schemars(length(max = 10_000))]
    pub negative_prompt: Option<String>,
    /// One of the model's aspect ratios. Default: its first.
    pub aspect_ratio: Option<AspectRatio>,
    /// One of the model's resolutions. Default: its first.
    pub resolution: Option<Resolution>,
    /// The upscaling factor: 1, 2 or 4, for models that upscale videos. Default: 2.
    #[schemars(range(min = 1, max = 4))]
    pub upscale_factor: Option<u8>,
    /// Generates sound, for models with `audio_configurable`. Default: true.
    pub audio: Option<bool>,
    /// The first frame: a data URL or a public URL of an image.
    pub image_url: Option<String>,
    /// The last frame: a data URL or a public URL of an image.
    pub end_image_url: Option<String>,
    /// A data URL or a public URL of a WAV or MP3 file of at most 15 MB.
    pub audio_url: Option<String>,
    /// A data URL or a public URL of an MP4, MOV or WebM file.
    pub video_url: Option<String>,
    #[schemars(length(max = 9))]
    pub reference_image_urls: Option<Vec<String>>,
    #[schemars(length(max = 3))]
    pub reference_video_urls: Option<Vec<String>>,
    /// Audio references. They require a reference image or video.
    #[schemars(length(max = 3))]
    pub reference_audio_urls: Option<Vec<String>>,
    /// People and objects that appear in the video.
    #[schemars(length(max = 4))]
    pub elements: Option<Vec<VideoElement>>,
    #[schemars(length(max = 4))]
    pub scene_image_urls: Option<Vec<String>>,
    /// Images for individual frames at 24 frames per second, for models that support keyframes.
    #[schemars(length(max = 10))]
    pub keyframes: Option<Vec<VideoKeyframe>>,
    /// A document or web page that the video is about, for models that accept one.
    #[schemars(length(max = 1))]
    pub reference_document_urls: Option<Vec<String>>,
    /// The use of the references, for models with a choice.
    pub omni_reference_task_type: Option<ReferenceTask>,
    /// Confirmations that some providers require.
    pub consents: Option<Consents>,
}

/// A person or object that appears in a video.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VideoElement {
    pub frontal_image_url: Option<String>,
    #[schemars(length(max = 3))]
    pub reference_image_urls: Option<Vec<String>>,
    pub video_url: Option<String>,
}

/// An image shown at one frame of a video.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VideoKeyframe {
    /// A data URL or a public URL.
    pub image_url: String,
    /// The frame number, from 0 to the duration in seconds times 24. Each may occur once.
    pub frame_index: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Consents {
    pub seedance: Option<SeedanceConsent>,
}

/// Confirmations for Seedance models. Each must be true.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SeedanceConsent {
    pub confirmed_terms_and_privacy: bool,
    pub confirmed_legal_right: bool,
    pub confirmed_screening_acknowledged: bool,
}

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($word:ident = $text:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
        pub enum $name { $(#[serde(rename = $text)] $word),+ }

        impl $name {
            /// Returns the value as it is written in JSON.
            pub const fn name(self) -> &'static str {
                match self { $($name::$word => $text),+ }
            }
        }
    };
}

words! {
    /// The length of a video.
    VideoDuration {
        S2 = "2s", S3 = "3s", S4 = "4s", S5 = "5s", S6 = "6s", S7 = "7s", S8 = "8s", S9 = "9s",
        S10 = "10s", S11 = "11s", S12 = "12s", S13 = "13s", S14 = "14s", S15 = "15s", S16 = "16s",
        S18 = "18s", S20 = "20s", S25 = "25s", S30 = "30s", OneGeneration = "1 gen", Auto = "Auto",
    }
}

words! {
    /// The aspect ratio, width by height.
    AspectRatio {
        R1x1 = "1:1", R2x3 = "2:3", R3x2 = "3:2", R3x4 = "3:4", R4x3 = "4:3", R4x5 = "4:5",
        R5x4 = "5:4", R9x16 = "9:16", R9x21 = "9:21", R16x9 = "16:9", R21x9 = "21:9",
    }
}

words! {
    /// The use of a video's references. `editing` is the same as `edit`, and `extension` the same
    /// as `extend`.
    ReferenceTask {
        Auto = "auto", Reference = "reference", Edit = "edit", Extend = "extend",
        Editing = "editing", Extension = "extension",
    }
}

impl ReferenceTask {
    /// Returns the shorter of two synonymous names.
    pub const fn short_name(self) -> &'static str {
        match self {
            ReferenceTask::Editing => ReferenceTask::Edit.name(),
            ReferenceTask::Extension => ReferenceTask::Extend.name(),
            other => other.name(),
        }
    }
}

words! {
    /// The height in lines, or the upscaling factor.
    Resolution {
        P256 = "256p", P360 = "360p", P480 = "480p", P540 = "540p", P580 = "580p", P720 = "720p",
        P1080 = "1080p", P1440 = "1440p", P2160 = "2160p", K4 = "4k", X2 = "2x", X4 = "4x",
        True1080 = "true_1080p",
    }
}

impl VideoDuration {
    /// Returns the length in seconds; None if the model decides it.
    pub fn seconds(self) -> Option<u64> {
        self.name().strip_suffix('s').and_then(|digits| digits.parse().ok())
    }
}

/// A queued video job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VideoQueued {
    pub model: String,
    pub queue_id: String,
    /// For private models: the URL of the video when it is complete. It needs no credential and is
    /// valid for 24 hours; `DELETE` revokes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download_url: Option<String>,
}

/// The parameters that determine the price of a video. Parameters that the model does not support
/// are ignored.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VideoQuoteRequest {
    /// A video model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    pub duration: VideoDuration,
    pub aspect_ratio: Option<AspectRatio>,
    pub resolution: Option<Resolution>,
    #[schemars(range(min = 1, max = 4))]
    pub upscale_factor: Option<u8>,
    /// Default: true.
    pub audio: Option<bool>,
    pub video_url: Option<String>,
    /// The total length of the reference videos in seconds.
    #[schemars(range(min = 0))]
    pub reference_video_total_duration: Option<f64>,
}

/// The path parameters of a download link.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct LinkPath {
    #[schemars(length(max = 64))]
    pub id: String,
}

/// The expiry and signature of a download link.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct LinkQuery {
    /// The expiry time in Unix seconds.
    pub expires: i64,
    #[schemars(length(max = 64))]
    pub signature: String,
}
