//! OpenAI's `/videos`.

use engine::{EngineError, MediaFile, MediaRequest, MediaStatus, MediaTicket, VideoRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::protocol::{MediaProtocol, download_at, poll_at};
use super::{
    classify_failure, parse_body, plain_name, refuse_references, refuse_unsupported, require_video,
    running_status, size,
};
use crate::transport::{UpstreamEndpoint, bad_answer};

/// One video model behind one server.
pub(crate) struct OpenAiVideos {
    pub(crate) videos: UpstreamEndpoint,
    pub(crate) model: String,
}

impl MediaProtocol for OpenAiVideos {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        encode_request(require_video(request)?, &self.model).map(drop)
    }

    async fn submit(&self, _: &str, request: &MediaRequest) -> Result<MediaTicket, EngineError> {
        let body = encode_request(require_video(request)?, &self.model)?;
        let answer = self.videos.post_json(body.to_string().into_bytes()).await?;
        let accepted: OpenAiVideo = parse_body(&answer)?;
        plain_name(&accepted.id).map(|id| MediaTicket(id.to_owned()))
    }

    async fn poll_status(&self, ticket: &MediaTicket) -> Result<MediaStatus, EngineError> {
        poll_at(&self.videos, ticket, parse_status).await
    }

    async fn download(&self, ticket: &MediaTicket) -> Result<MediaFile, EngineError> {
        download_at(&self.videos, ticket).await
    }
}

pub(crate) fn encode_request(request: &VideoRequest, model: &str) -> Result<Value, EngineError> {
    refuse_references(request)?;
    refuse_unsupported([
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
    if let Some((width, height)) = size::compute_pixels(resolution, request.aspect_ratio.as_deref())
    {
        body["size"] = format!("{width}x{height}").into();
    }
    if let Some(image) = &request.image {
        body["input_reference"] = json!({ "image_url": image });
    }
    Ok(body)
}

#[derive(Deserialize)]
struct OpenAiVideo {
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

pub(crate) fn parse_status(answer: &[u8]) -> Result<MediaStatus, EngineError> {
    let video: OpenAiVideo = parse_body(answer)?;
    match video.status.as_str() {
        "queued" | "in_progress" | "processing" => {
            Ok(running_status(&video.progress, &Value::Null))
        }
        "completed" => Ok(MediaStatus::Done),
        "failed" | "cancelled" | "expired" => {
            let error = video.error.unwrap_or(VideoError { code: None, message: None });
            let code = error.code.unwrap_or_default();
            Ok(classify_failure(&code, error.message.as_deref().unwrap_or_default()))
        }
        other => Err(bad_answer(format!("a video is {other:?}"))),
    }
}
