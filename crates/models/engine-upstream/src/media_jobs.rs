//! Providers of music and videos: work is submitted, polled, and downloaded when it is done.
//!
//! Each module encodes requests for a provider's protocol and decodes its responses to
//! [`MediaStatus`]. A ticket holds all that is needed to find the work again, also after a restart.

pub(crate) mod acestep;
pub(crate) mod builtin;
pub(crate) mod comfyui;
pub(crate) mod fal;
pub(crate) mod openai;
pub(crate) mod sdcpp;

mod file;
mod protocol;
mod routes;
mod size;

pub(crate) use protocol::ProtocolEngine;
pub use routes::{MediaRoute, MediaRoutes};

use engine::{
    ContentRefusal, EngineError, MediaProgress, MediaRequest, MediaStatus, MusicRequest,
    VideoRequest,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::transport::bad_answer;

/// Maximum length of a provider's job id. Ids may not contain characters with a meaning in URLs.
const NAME_BYTES_MAX: usize = 256;

fn parse_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, EngineError> {
    serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not what was asked for: {error}")))
}

/// Returns an id if it is safe in a URL path.
fn plain_name(name: &str) -> Result<&str, EngineError> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.:".contains(it);
    let fits = (1..=NAME_BYTES_MAX).contains(&name.len());
    if fits && name.chars().all(is_plain) {
        return Ok(name);
    }
    Err(bad_answer("the id of its job cannot be part of a URL"))
}

/// Maps a provider's failure code to a content refusal or a failure.
fn classify_failure(code: &str, message: &str) -> MediaStatus {
    let is_policy = ["moderation", "content_policy", "content_filter", "safety", "nsfw"];
    let code = code.to_ascii_lowercase();
    if is_policy.iter().any(|it| code.contains(it)) {
        let message = message.to_owned();
        return MediaStatus::Refused(ContentRefusal { message, ..ContentRefusal::default() });
    }
    let message = if message.is_empty() { "The model's provider failed." } else { message };
    MediaStatus::Failed { message: message.to_owned() }
}

/// Rejects options that the provider would silently ignore.
fn refuse_unsupported<const COUNT: usize>(
    extras: [(&str, bool); COUNT],
) -> Result<(), EngineError> {
    match extras.iter().find(|(_, is_given)| *is_given) {
        Some((what, _)) => Err(refuse_option(what)),
        None => Ok(()),
    }
}

/// The video request, for providers that only make videos.
fn require_video(request: &MediaRequest) -> Result<&VideoRequest, EngineError> {
    match request {
        MediaRequest::Video(request) => Ok(request),
        MediaRequest::Music(_) => Err(refuse_option("music")),
    }
}

/// The music request, for providers that only make music.
fn require_music(request: &MediaRequest) -> Result<&MusicRequest, EngineError> {
    match request {
        MediaRequest::Music(request) => Ok(request),
        MediaRequest::Video(_) => Err(refuse_option("videos")),
    }
}

/// Rejects reference files other than start image, end image, audio and video.
fn refuse_references(request: &VideoRequest) -> Result<(), EngineError> {
    refuse_unsupported([
        ("references", !request.reference_images.is_empty()),
        ("references", !request.reference_videos.is_empty()),
        ("references", !request.reference_audios.is_empty()),
        ("scenes", !request.scene_images.is_empty()),
        ("elements", !request.elements.is_empty()),
        ("keyframes", !request.keyframes.is_empty()),
        ("documents", !request.reference_documents.is_empty()),
        ("a task for references", request.reference_task.is_some()),
    ])
}

/// The state of running work, with percentage and queue position if the provider sends numbers;
/// other values are ignored.
fn running_status(percent: &Value, ahead: &Value) -> MediaStatus {
    let percent = percent.as_f64().map(|it| it.clamp(0.0, 100.0) as u8);
    MediaStatus::Running(MediaProgress { percent, ahead: ahead.as_u64() })
}

/// The error for an option that a protocol lacks.
fn refuse_option(what: &str) -> EngineError {
    EngineError::Rejected { message: format!("The model's provider does not take {what}.") }
}
