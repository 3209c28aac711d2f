//! OpenAI's `/videos`.

use engine::{EngineError, MediaFile, MediaRequest, Progress, Ticket, VideoRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::driver::{Driver, content_of, look_at};
use super::{failed, parse, plain_name, refuse_extras, refuse_references, running, size, video};
use crate::transport::{Endpoint, bad_answer};

/// One video model behind one server.
pub(crate) struct OpenAiVideos {
    pub(crate) videos: Endpoint,
    pub(crate) model: String,
}

impl Driver for OpenAiVideos {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        body(video(request)?, &self.model).map(drop)
    }

    async fn submit(&self, _: &str, request: &MediaRequest) -> Result<Ticket, EngineError> {
        let body = body(video(request)?, &self.model)?;
        let answer = self.videos.ask(body.to_string().into_bytes()).await?;
        let accepted: Video = parse(&answer)?;
        plain_name(&accepted.id).map(|id| Ticket(id.to_owned()))
    }

    async fn look(&self, ticket: &Ticket) -> Result<Progress, EngineError> {
        look_at(&self.videos, ticket, progress).await
    }

    async fn fetch(&self, ticket: &Ticket) -> Result<MediaFile, EngineError> {
        content_of(&self.videos, ticket).await
    }
}

pub(crate) fn body(request: &VideoRequest, model: &str) -> Result<Value, EngineError> {
    refuse_references(request)?;
    refuse_extras([
        ("a negative prompt", request.negative_prompt.is_some()),
        ("enlarging", request.upscale_factor.is_some()),
        ("a last picture", request.end_image.is_some()),
        ("sound", request.audio.is_some()),
        ("a video", request.video.is_some()),
    ])?;
    let mut body = json!({ "model": model, "prompt": request.prompt });
    if let Some(seconds) = request.duration_s {
        body["seconds"] = seconds.to_string().into();
    }
    let resolution = request.resolution.as_deref();
    if let Some((width, height)) = size::pixels(resolution, request.aspect_ratio.as_deref()) {
        body["size"] = format!("{width}x{height}").into();
    }
    if let Some(image) = &request.image {
        body["input_reference"] = json!({ "image_url": image });
    }
    Ok(body)
}

#[derive(Deserialize)]
struct Video {
    id: String,
    #[serde(default)]
    status: String,
    /// Percentage.
    #[serde(default)]
    progress: Value,
    error: Option<VideoError>,
}

#[derive(Deserialize)]
struct VideoError {
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

pub(crate) fn progress(answer: &[u8]) -> Result<Progress, EngineError> {
    let video: Video = parse(answer)?;
    match video.status.as_str() {
        "queued" | "in_progress" | "processing" => Ok(running(&video.progress, &Value::Null)),
        "completed" => Ok(Progress::Done),
        "failed" | "cancelled" | "expired" => {
            let error = video.error.unwrap_or(VideoError { code: None, message: None });
            let code = error.code.unwrap_or_default();
            Ok(failed(&code, error.message.as_deref().unwrap_or_default()))
        }
        other => Err(bad_answer(format!("a video is {other:?}"))),
    }
}
