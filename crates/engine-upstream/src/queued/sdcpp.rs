//! stable-diffusion.cpp's own protocol for videos.

use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, Progress, Ticket, VideoRequest};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{cannot, failed, file, parse, plain_name, size};
use crate::transport::{Endpoint, bad_answer};

/// What the models that it runs are trained at.
const FRAMES_PER_SECOND: u64 = 16;
/// Their numbers of frames are a multiple of this, and one.
const FRAME_STEP: u64 = 4;

/// One server, which has one model.
pub(crate) struct SdCppVideos {
    pub(crate) submit: Endpoint,
    pub(crate) jobs: Endpoint,
}

impl MediaEngine for SdCppVideos {
    fn submit<'a>(
        &'a self,
        _: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<Ticket, EngineError>> {
        Box::pin(async move {
            let MediaRequest::Video(request) = request else { return Err(cannot("music")) };
            let answer = self.submit.ask(body(request)?.to_string().into_bytes()).await?;
            let job: SdcppJob = parse(&answer)?;
            plain_name(&job.id).map(|id| Ticket(id.to_owned()))
        })
    }

    fn look<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<Progress, EngineError>> {
        Box::pin(async move {
            let rest = format!("/{}", plain_name(&ticket.0)?);
            match self.jobs.fetch_known(&rest).await? {
                Some(answer) => progress(&answer),
                None => Ok(Progress::Lost),
            }
        })
    }

    fn fetch<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(async move {
            let answer = self.jobs.fetch(&format!("/{}", plain_name(&ticket.0)?)).await?;
            let job: SdcppJob = parse(&answer)?;
            let text = job.result.and_then(|result| result.b64_json);
            file::of_base64(&text.ok_or_else(|| bad_answer("its job made no video"))?)
        })
    }

    /// Jobs are cancelled under an address of their own, which is not reached yet.
    fn cancel<'a>(&'a self, _: &'a Ticket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async { Ok(false) })
    }
}

pub(crate) fn body(request: &VideoRequest) -> Result<Value, EngineError> {
    let resolution = request.resolution.as_deref().unwrap_or("480p");
    let pixels = size::pixels(Some(resolution), request.aspect_ratio.as_deref());
    let Some((width, height)) = pixels else { return Err(cannot("this resolution")) };
    let seconds = request.duration_s.unwrap_or(3);
    let frames = (seconds * FRAMES_PER_SECOND).div_ceil(FRAME_STEP) * FRAME_STEP + 1;
    let mut body = json!({
        "prompt": request.prompt,
        "negative_prompt": request.negative_prompt.as_deref().unwrap_or_default(),
        "width": width,
        "height": height,
        "video_frames": frames,
        "fps": FRAMES_PER_SECOND,
        "seed": request.seed,
        "output_format": "webm",
    });
    for (field, picture) in [("init_image", &request.image), ("end_image", &request.end_image)] {
        if let Some(picture) = picture {
            let (_, data) = file::of_data_url(picture).ok_or_else(|| cannot("addresses"))?;
            body[field] = data.into();
        }
    }
    let others = [&request.reference_images, &request.reference_videos, &request.scene_images];
    let has_others = others.iter().any(|list| !list.is_empty()) || !request.elements.is_empty();
    if has_others || request.video.is_some() || request.audio.is_some() {
        return Err(cannot("references"));
    }
    Ok(body)
}

#[derive(Deserialize)]
struct SdcppJob {
    id: String,
    #[serde(default)]
    status: String,
    result: Option<Made>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Made {
    b64_json: Option<String>,
}

pub(crate) fn progress(answer: &[u8]) -> Result<Progress, EngineError> {
    let job: SdcppJob = parse(answer)?;
    match job.status.as_str() {
        "queued" | "generating" | "running" => Ok(Progress::Running),
        "completed" => Ok(Progress::Done),
        "failed" | "cancelled" => {
            let error = job.error.unwrap_or_default();
            let message = error["message"].as_str().or(error.as_str()).unwrap_or_default();
            Ok(failed(error["code"].as_str().unwrap_or_default(), message))
        }
        other => Err(bad_answer(format!("a job is {other:?}"))),
    }
}
