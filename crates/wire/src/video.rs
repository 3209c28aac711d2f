//! Queued videos: quoted, queued, and fetched from links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A video to be made.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VideoQueueRequest {
    /// A video model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// What it should show, in words; the model says how many characters it takes.
    #[schemars(length(min = 1, max = 20_000))]
    pub prompt: String,
    /// How long it should be: one of the model's durations, such as `5s`.
    pub duration: VideoDuration,
    /// What it should not show.
    #[schemars(length(max = 10_000))]
    pub negative_prompt: Option<String>,
    /// One of the model's. Default: its first.
    pub aspect_ratio: Option<AspectRatio>,
    /// One of the model's; its first unless said.
    pub resolution: Option<Resolution>,
    /// For models that enlarge videos; 2 unless said.
    #[schemars(range(min = 1, max = 4))]
    pub upscale_factor: Option<u8>,
    /// Whether it has sound, for models that leave the choice; true unless said.
    pub audio: Option<bool>,
    /// The picture that it begins with: a data URL, or a public address.
    pub image_url: Option<String>,
    /// The picture that it ends with.
    pub end_image_url: Option<String>,
    /// A WAV or MP3 file of at most 15 MB.
    pub audio_url: Option<String>,
    /// An MP4, MOV or WebM file.
    pub video_url: Option<String>,
    #[schemars(length(max = 9))]
    pub reference_image_urls: Option<Vec<String>>,
    #[schemars(length(max = 3))]
    pub reference_video_urls: Option<Vec<String>>,
    /// They need a picture or a video that they go with.
    #[schemars(length(max = 3))]
    pub reference_audio_urls: Option<Vec<String>>,
    /// Who and what appears in it.
    #[schemars(length(max = 4))]
    pub elements: Option<Vec<VideoElement>>,
    #[schemars(length(max = 4))]
    pub scene_image_urls: Option<Vec<String>>,
    /// Pictures that frames of the video show, of 24 frames a second, for models that take them.
    #[schemars(length(max = 10))]
    pub keyframes: Option<Vec<VideoKeyframe>>,
    /// A document or a web page that the video is about, for models that take one.
    #[schemars(length(max = 1))]
    pub reference_document_urls: Option<Vec<String>>,
    /// What is done with the references, for models that leave the choice.
    pub omni_reference_task_type: Option<ReferenceTask>,
    /// What the caller confirms to providers that ask for it.
    pub consents: Option<Consents>,
}

/// Somebody or something that appears in a video.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VideoElement {
    pub frontal_image_url: Option<String>,
    #[schemars(length(max = 3))]
    pub reference_image_urls: Option<Vec<String>>,
    pub video_url: Option<String>,
}

/// A picture that one frame of a video shows.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VideoKeyframe {
    /// A data URL, or a public address.
    pub image_url: String,
    /// From 0 to the duration in seconds times 24; each at most once.
    pub frame_index: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Consents {
    pub seedance: Option<SeedanceConsent>,
}

/// Each must be true.
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
            /// As it is written.
            pub const fn name(self) -> &'static str {
                match self { $($name::$word => $text),+ }
            }
        }
    };
}

words! {
    /// How long a video is.
    VideoDuration {
        S2 = "2s", S3 = "3s", S4 = "4s", S5 = "5s", S6 = "6s", S7 = "7s", S8 = "8s", S9 = "9s",
        S10 = "10s", S11 = "11s", S12 = "12s", S13 = "13s", S14 = "14s", S15 = "15s", S16 = "16s",
        S18 = "18s", S20 = "20s", S25 = "25s", S30 = "30s", OneGeneration = "1 gen", Auto = "Auto",
    }
}

words! {
    /// Width by height.
    AspectRatio {
        R1x1 = "1:1", R2x3 = "2:3", R3x2 = "3:2", R3x4 = "3:4", R4x3 = "4:3", R4x5 = "4:5",
        R5x4 = "5:4", R9x16 = "9:16", R9x21 = "9:21", R16x9 = "16:9", R21x9 = "21:9",
    }
}

words! {
    /// What is done with the references of a video; `editing` is `edit` and `extension` is `extend`.
    ReferenceTask {
        Auto = "auto", Reference = "reference", Edit = "edit", Extend = "extend",
        Editing = "editing", Extension = "extension",
    }
}

impl ReferenceTask {
    /// Its shorter name, where it has two.
    pub const fn short_name(self) -> &'static str {
        match self {
            ReferenceTask::Editing => ReferenceTask::Edit.name(),
            ReferenceTask::Extension => ReferenceTask::Extend.name(),
            other => other.name(),
        }
    }
}

words! {
    /// How many lines a video has, or how much it is enlarged.
    Resolution {
        P256 = "256p", P360 = "360p", P480 = "480p", P540 = "540p", P580 = "580p", P720 = "720p",
        P1080 = "1080p", P1440 = "1440p", P2160 = "2160p", K4 = "4k", X2 = "2x", X4 = "4x",
        True1080 = "true_1080p",
    }
}

impl VideoDuration {
    /// None where the model decides.
    pub fn seconds(self) -> Option<u64> {
        self.name().strip_suffix('s').and_then(|digits| digits.parse().ok())
    }
}

/// A video that was queued.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VideoQueued {
    pub model: String,
    pub queue_id: String,
    /// Where the video will be, for private models: open without a credential for 24 hours; `DELETE`
    /// revokes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download_url: Option<String>,
}

/// What a video would cost. Fields that the model has no use for are passed over.
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
    /// True unless said.
    pub audio: Option<bool>,
    pub video_url: Option<String>,
    /// In seconds.
    #[schemars(range(min = 0))]
    pub reference_video_total_duration: Option<f64>,
}

/// The name in a link.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct LinkPath {
    #[schemars(length(max = 64))]
    pub id: String,
}

/// What makes a link good.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct LinkQuery {
    /// In seconds since 1970.
    pub expires: i64,
    #[schemars(length(max = 64))]
    pub signature: String,
}
