//! Videos of the built-in engine. It identifies them by our names and forgets them when it
//! restarts.

use engine::{EngineError, MediaFile, MediaRequest, MediaStatus, MediaTicket, VideoRequest};
use serde_json::{Value, json};

use super::protocol::{MediaProtocol, cancel_at, download_at, poll_at};
use super::{openai, refuse_option, refuse_references, refuse_unsupported, require_video, size};
use crate::transport::UpstreamEndpoint;
use crate::upstream::ReadinessCheck;

/// Defaults of requests that name no length or resolution.
const SECONDS_DEFAULT: u64 = 5;
const RESOLUTION_DEFAULT: &str = "480p";
/// The sides of its videos are even.
const SIDE_STEP: u64 = 2;

/// One video model of the built-in engine.
pub(crate) struct BuiltInVideos {
    pub(crate) videos: UpstreamEndpoint,
    pub(crate) model: String,
    pub(crate) readiness: ReadinessCheck,
}

impl MediaProtocol for BuiltInVideos {
    /// The same name with the same seed is the same video, made once.
    const KNOWS_NAMES: bool = true;

    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        encode_request("", &self.model, require_video(request)?).map(drop)
    }

    async fn submit(&self, name: &str, request: &MediaRequest) -> Result<MediaTicket, EngineError> {
        let body = encode_request(name, &self.model, require_video(request)?)?;
        (self.readiness)(&self.model)?;
        self.videos.post_json(body.to_string().into_bytes()).await?;
        Ok(MediaTicket(name.to_owned()))
    }

    async fn poll_status(&self, ticket: &MediaTicket) -> Result<MediaStatus, EngineError> {
        poll_at(&self.videos, ticket, openai::parse_status).await
    }

    async fn download(&self, ticket: &MediaTicket) -> Result<MediaFile, EngineError> {
        download_at(&self.videos, ticket).await
    }

    async fn cancel(&self, ticket: &MediaTicket) -> Result<bool, EngineError> {
        cancel_at(&self.videos, ticket).await
    }
}

pub(crate) fn encode_request(
    name: &str,
    model: &str,
    request: &VideoRequest,
) -> Result<Value, EngineError> {
    refuse_references(request)?;
    refuse_unsupported([
        ("enlarging", request.upscale_factor.is_some()),
        ("a last picture", request.end_image.is_some()),
        ("sound", request.audio.is_some()),
        ("a video", request.video.is_some()),
    ])?;
    let resolution = request.resolution.as_deref().unwrap_or(RESOLUTION_DEFAULT);
    let ratio = request.aspect_ratio.as_deref();
    let pixels = size::pixels_in_steps(Some(resolution), ratio, SIDE_STEP);
    let (width, height) = pixels.ok_or_else(|| refuse_option("this resolution"))?;
    let mut body = json!({
        "id": name,
        "model": model,
        "prompt": request.prompt,
        "negative_prompt": request.negative_prompt.as_deref().unwrap_or_default(),
        "seconds": request.duration_s.unwrap_or(SECONDS_DEFAULT),
        "width": width,
        "height": height,
        "seed": request.seed,
    });
    if let Some(image) = &request.image {
        body["image"] = image.as_str().into();
    }
    Ok(body)
}
