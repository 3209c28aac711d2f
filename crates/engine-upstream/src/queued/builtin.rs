//! Videos of the built-in engine. It identifies them by our names and forgets them when it
//! restarts.

use engine::{EngineError, MediaFile, MediaRequest, Progress, Ticket, VideoRequest};
use serde_json::{Value, json};

use super::driver::{Driver, cancel_at, content_of, look_at};
use super::{cannot, openai, refuse_extras, refuse_references, size, video};
use crate::transport::Endpoint;
use crate::upstream::Readiness;

/// Defaults of requests that name no length or resolution.
const SECONDS_DEFAULT: u64 = 5;
const RESOLUTION_DEFAULT: &str = "480p";
/// The sides of its videos are even.
const SIDE_STEP: u64 = 2;

/// One video model of the built-in engine.
pub(crate) struct BuiltInVideos {
    pub(crate) videos: Endpoint,
    pub(crate) model: String,
    pub(crate) readiness: Readiness,
}

impl Driver for BuiltInVideos {
    /// The same name with the same seed is the same video, made once.
    const KNOWS_NAMES: bool = true;

    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        body("", &self.model, video(request)?).map(drop)
    }

    async fn submit(&self, name: &str, request: &MediaRequest) -> Result<Ticket, EngineError> {
        let body = body(name, &self.model, video(request)?)?;
        (self.readiness)(&self.model)?;
        self.videos.ask(body.to_string().into_bytes()).await?;
        Ok(Ticket(name.to_owned()))
    }

    async fn look(&self, ticket: &Ticket) -> Result<Progress, EngineError> {
        look_at(&self.videos, ticket, openai::progress).await
    }

    async fn fetch(&self, ticket: &Ticket) -> Result<MediaFile, EngineError> {
        content_of(&self.videos, ticket).await
    }

    async fn cancel(&self, ticket: &Ticket) -> Result<bool, EngineError> {
        cancel_at(&self.videos, ticket).await
    }
}

pub(crate) fn body(name: &str, model: &str, request: &VideoRequest) -> Result<Value, EngineError> {
    refuse_references(request)?;
    refuse_extras([
        ("enlarging", request.upscale_factor.is_some()),
        ("a last picture", request.end_image.is_some()),
        ("sound", request.audio.is_some()),
        ("a video", request.video.is_some()),
    ])?;
    let resolution = request.resolution.as_deref().unwrap_or(RESOLUTION_DEFAULT);
    let ratio = request.aspect_ratio.as_deref();
    let pixels = size::pixels_in_steps(Some(resolution), ratio, SIDE_STEP);
    let (width, height) = pixels.ok_or_else(|| cannot("this resolution"))?;
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
