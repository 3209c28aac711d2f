//! Music and videos: work that is handed in, asked about, and fetched when it is done.
//!
//! The process that submits work may die before it is done. So what an engine needs to find it
//! again is in a [`Ticket`], which is stored before the work is polled.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::EngineError;

/// What is to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each job, and none is kept in a list"
)]
pub enum MediaRequest {
    Music(MusicRequest),
    Video(VideoRequest),
}

/// A piece of music.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MusicRequest {
    pub prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lyrics: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<u64>,
    pub is_instrumental: bool,
    /// The engine writes the lyrics, or improves them.
    pub optimizes_lyrics: bool,
    /// Its end leads into its beginning.
    pub is_loop: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// Such as `mp3`; the engine's own choice where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    pub seed: u64,
}

/// A video. Pictures, sounds and videos are data URLs or public addresses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VideoRequest {
    pub prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negative_prompt: Option<String>,
    /// None where the engine decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aspect_ratio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upscale_factor: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_audio: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reference_images: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reference_videos: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reference_audios: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub scene_images: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub elements: Vec<VideoElement>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub keyframes: Vec<Keyframe>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reference_documents: Vec<String>,
    /// What is done with the references: `auto`, `reference`, `edit` or `extend`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reference_task: Option<String>,
    pub seed: u64,
}

/// Somebody or something that appears in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VideoElement {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frontal_image: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reference_images: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<String>,
}

/// A picture that one frame of a video shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Keyframe {
    pub image: String,
    /// The number of the frame, of 24 a second.
    pub frame: u32,
}

/// What finds work again that was handed in: text of the engine's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket(pub String);

/// How work stands that was handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    Running(Advance),
    /// It can be fetched.
    Done,
    /// It ended without a result, for a reason that may be shown to its caller.
    Failed {
        message: String,
    },
    /// It ended without a result, and would again. The reason may be shown to its caller.
    Rejected {
        message: String,
    },
    /// The provider's policy forbids it.
    Refused(ContentRefusal),
    /// The engine does not know it, or knows it no more.
    Lost,
}

/// How far work has come that is not done, as far as its engine says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Advance {
    pub percent: Option<u8>,
    /// How many others the engine does first.
    pub ahead: Option<u64>,
}

/// Why a provider would not make something, and what it says to try instead.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentRefusal {
    pub message: String,
    pub suggested_prompt: Option<String>,
    pub recommended_model: Option<String>,
}

/// Something that was made. What it is is for its reader to see.
pub struct MediaFile {
    /// Ends with `None` only when the file is whole.
    pub bytes: BoxStream<'static, Result<Bytes, EngineError>>,
}

/// Something that makes music or videos with one model.
pub trait MediaEngine: Send + Sync {
    /// Refuses what the engine has no word for, before the work is queued.
    fn check(&self, _: &MediaRequest) -> Result<(), EngineError> {
        Ok(())
    }

    /// Hands the work in. `name` is the work's own, of letters, digits and hyphens; an engine that
    /// [knows work by its name](MediaEngine::knows_names) takes the same work twice and does it
    /// once.
    fn submit<'a>(
        &'a self,
        name: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<Ticket, EngineError>>;

    fn look<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<Progress, EngineError>>;

    /// Only for work that is [done](Progress::Done).
    fn fetch<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<MediaFile, EngineError>>;

    /// Asks the engine to stop. False if it cannot.
    fn cancel<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<bool, EngineError>>;

    /// Whether work that was handed in without an answer can be handed in again without being done
    /// twice.
    fn knows_names(&self) -> bool {
        false
    }

    /// Whether it fetches pictures and videos from addresses itself.
    fn takes_addresses(&self) -> bool {
        false
    }
}
