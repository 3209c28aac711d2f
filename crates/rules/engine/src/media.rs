//! Music and videos: work that is submitted, polled, and downloaded when it is done.
//!
//! The submitting process may die before the work is done. So everything an engine needs to find
//! the work again is in a [`MediaTicket`], which is stored before the first poll.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::EngineError;

/// A request for music or a video.
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

/// A request for a piece of music.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MusicRequest {
    pub prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lyrics: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<u64>,
    pub is_instrumental: bool,
    /// The engine writes or improves the lyrics.
    pub optimizes_lyrics: bool,
    /// The end of the piece leads seamlessly into its beginning.
    pub is_loop: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// File format such as `mp3`; `None` uses the engine's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    pub seed: u64,
}

/// A request for a video. Images, audio and videos are given as data URLs or public URLs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VideoRequest {
    pub prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negative_prompt: Option<String>,
    /// In seconds; `None` uses the engine's default.
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
    pub keyframes: Vec<KeyframeImage>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reference_documents: Vec<String>,
    /// The use of the references: `auto`, `reference`, `edit` or `extend`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reference_task: Option<String>,
    pub seed: u64,
}

/// A person or object that appears in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VideoElement {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frontal_image: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reference_images: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<String>,
}

/// An image that one frame of a video shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KeyframeImage {
    pub image: String,
    /// The frame's index, at 24 frames per second.
    pub frame: u32,
}

/// The engine's own reference to submitted work, used to find it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaTicket(pub String);

/// The state of submitted work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaStatus {
    Running(MediaProgress),
    /// The result can be downloaded.
    Done,
    /// Failed. The message may be shown to the caller.
    Failed {
        message: String,
    },
    /// Failed, and a retry would fail again. The message may be shown to the caller.
    Rejected {
        message: String,
    },
    /// The provider's content policy forbids the request.
    Refused(ContentRefusal),
    /// The engine does not know the ticket, or no longer does.
    Lost,
}

/// Progress of unfinished work, as far as the engine reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MediaProgress {
    pub percent: Option<u8>,
    /// The number of jobs ahead in the engine's queue.
    pub ahead: Option<u64>,
}

/// A provider's reason for refusing a request, with its suggestions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentRefusal {
    pub message: String,
    pub suggested_prompt: Option<String>,
    pub recommended_model: Option<String>,
}

/// A generated file. Its format is not declared: the reader detects it from the content.
pub struct MediaFile {
    /// Ends with `None` only when the file is complete.
    pub bytes: BoxStream<'static, Result<Bytes, EngineError>>,
}

/// Makes music or videos with one model.
pub trait MediaEngine: Send + Sync {
    /// Rejects requests that the engine's protocol cannot express, before the work is queued.
    fn check(&self, _: &MediaRequest) -> Result<(), EngineError> {
        Ok(())
    }

    /// Submits the work. `name` is an idempotency key of letters, digits and hyphens: an engine
    /// that [knows work by its name](MediaEngine::has_idempotent_submit) runs the same name only
    /// once.
    fn submit<'a>(
        &'a self,
        name: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<MediaTicket, EngineError>>;

    fn poll_status<'a>(
        &'a self,
        ticket: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaStatus, EngineError>>;

    /// Downloads the result. Only for work that is [done](MediaStatus::Done).
    fn download<'a>(
        &'a self,
        ticket: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaFile, EngineError>>;

    /// Asks the engine to cancel the work. False if it cannot.
    fn cancel<'a>(&'a self, ticket: &'a MediaTicket) -> BoxFuture<'a, Result<bool, EngineError>>;

    /// True if `name` makes `submit` idempotent, so that it can be retried when the response was
    /// lost.
    fn has_idempotent_submit(&self) -> bool {
        false
    }

    /// True if the engine downloads images and videos from URLs itself.
    fn accepts_urls(&self) -> bool {
        false
    }
}
