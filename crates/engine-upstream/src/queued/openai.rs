//! OpenAI's `/videos`.

use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, Progress, Ticket, VideoRequest};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{cannot, failed, file, parse, plain_name, refuse_extras, size};
use crate::transport::{Endpoint, bad_answer};

/// One video model behind one server.
pub(crate) struct OpenAiVideos {
    pub(crate) videos: Endpoint,
    pub(crate) model: String,
}

impl MediaEngine for OpenAiVideos {
    fn submit<'a>(
        &'a self,
        _: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<Ticket, EngineError>> {
        Box::pin(async move {
            let MediaRequest::Video(request) = request else { return Err(cannot("music")) };
            let body = body(request, &self.model)?;
            let answer = self.videos.ask(body.to_string().into_bytes()).await?;
            let video: Video = parse(&answer)?;
            plain_name(&video.id).map(|id| Ticket(id.to_owned()))
        })
    }

    fn look<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<Progress, EngineError>> {
        Box::pin(async move {
            let rest = format!("/{}", plain_name(&ticket.0)?);
            match self.videos.fetch_known(&rest).await? {
                Some(answer) => progress(&answer),
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

    /// The protocol has no word for it: deleting is for videos that are done.
    fn cancel<'a>(&'a self, _: &'a Ticket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async { Ok(false) })
    }
}

pub(crate) fn body(request: &VideoRequest, model: &str) -> Result<Value, EngineError> {
    refuse_extras([
        ("a negative prompt", request.negative_prompt.is_some()),
        ("a last picture", request.end_image.is_some()),
        ("sound", request.audio.is_some()),
        ("a video", request.video.is_some()),
        ("references", !request.reference_images.is_empty()),
        ("references", !request.reference_videos.is_empty()),
        ("references", !request.reference_audios.is_empty()),
        ("scenes", !request.scene_images.is_empty()),
        ("elements", !request.elements.is_empty()),
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
        "queued" | "in_progress" | "processing" => Ok(Progress::Running),
        "completed" => Ok(Progress::Done),
        "failed" | "cancelled" | "expired" => {
            let error = video.error.unwrap_or(VideoError { code: None, message: None });
            let code = error.code.unwrap_or_default();
            Ok(failed(&code, error.message.as_deref().unwrap_or_default()))
        }
        other => Err(bad_answer(format!("a video is {other:?}"))),
    }
}
