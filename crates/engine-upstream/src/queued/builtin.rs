//! Videos of the engine that runs beside us. It knows them by the names that we give them, and by
//! nothing else once it was started again.

use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, Progress, Ticket, VideoRequest};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{cannot, file, openai, plain_name, refuse_extras, size};
use crate::transport::Endpoint;
use crate::upstream::Readiness;

/// Where a request names none.
const SECONDS_DEFAULT: u64 = 5;
const RESOLUTION_DEFAULT: &str = "480p";
/// Sides of its videos are even.
const SIDE_STEP: u64 = 2;

/// One of its models.
pub(crate) struct BuiltInVideos {
    pub(crate) videos: Endpoint,
    pub(crate) model: String,
    pub(crate) readiness: Readiness,
}

impl MediaEngine for BuiltInVideos {
    fn submit<'a>(
        &'a self,
        name: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<Ticket, EngineError>> {
        Box::pin(async move {
            let MediaRequest::Video(request) = request else { return Err(cannot("music")) };
            (self.readiness)(&self.model)?;
            let body = body(name, &self.model, request)?;
            self.videos.ask(body.to_string().into_bytes()).await?;
            Ok(Ticket(name.to_owned()))
        })
    }

    fn look<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<Progress, EngineError>> {
        Box::pin(async move {
            let rest = format!("/{}", plain_name(&ticket.0)?);
            match self.videos.fetch_known(&rest).await? {
                Some(answer) => openai::progress(&answer),
                None => Ok(Progress::Lost),
            }
        })
    }

    fn fetch<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(async move {
            let rest = format!("/{}/content", plain_name(&ticket.0)?);
            let answer = self.videos.open_file(&rest).await?;
            Ok(file::of_answer(answer, self.videos.timeouts))
        })
    }

    fn cancel<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async move {
            let path = format!("{}/cancel", plain_name(&ticket.0)?);
            self.videos.beneath(&path)?.ask(Vec::new()).await?;
            Ok(true)
        })
    }

    /// The same name and the same seed are the same video, which is made once.
    fn knows_names(&self) -> bool {
        true
    }
}

pub(crate) fn body(name: &str, model: &str, request: &VideoRequest) -> Result<Value, EngineError> {
    refuse_extras([
        ("enlarging", request.upscale_factor.is_some()),
        ("a picture", request.image.is_some()),
        ("a last picture", request.end_image.is_some()),
        ("sound", request.audio.is_some()),
        ("a video", request.video.is_some()),
        ("references", !request.reference_images.is_empty()),
        ("references", !request.reference_videos.is_empty()),
        ("references", !request.reference_audios.is_empty()),
        ("scenes", !request.scene_images.is_empty()),
        ("elements", !request.elements.is_empty()),
    ])?;
    let resolution = request.resolution.as_deref().unwrap_or(RESOLUTION_DEFAULT);
    let ratio = request.aspect_ratio.as_deref();
    let pixels = size::pixels_in_steps(Some(resolution), ratio, SIDE_STEP);
    let (width, height) = pixels.ok_or_else(|| cannot("this resolution"))?;
    Ok(json!({
        "id": name,
        "model": model,
        "prompt": request.prompt,
        "negative_prompt": request.negative_prompt.as_deref().unwrap_or_default(),
        "seconds": request.duration_s.unwrap_or(SECONDS_DEFAULT),
        "width": width,
        "height": height,
        "seed": request.seed,
    }))
}
