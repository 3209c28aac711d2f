//! stable-diffusion.cpp's own protocol for videos.

use engine::{EngineError, MediaFile, MediaRequest, Progress, Ticket, VideoRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::driver::{Driver, cancel_at, look_at};
use super::{
    cannot, failed, file, parse, plain_name, refuse_extras, refuse_references, running, size, video,
};
use crate::transport::{Endpoint, bad_answer};

/// The frame rate that the supported models are trained for.
const FRAMES_PER_SECOND: u64 = 16;
/// Models require a multiple of this number of frames, plus one.
const FRAME_STEP: u64 = 4;

/// One server with one model.
pub(crate) struct SdCppVideos {
    pub(crate) submit: Endpoint,
    pub(crate) jobs: Endpoint,
}

impl Driver for SdCppVideos {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        body(video(request)?).map(drop)
    }

    async fn submit(&self, _: &str, request: &MediaRequest) -> Result<Ticket, EngineError> {
        let body = body(video(request)?)?;
        let answer = self.submit.ask(body.to_string().into_bytes()).await?;
        let job: SdcppJob = parse(&answer)?;
        plain_name(&job.id).map(|id| Ticket(id.to_owned()))
    }

    async fn look(&self, ticket: &Ticket) -> Result<Progress, EngineError> {
        look_at(&self.jobs, ticket, progress).await
    }

    async fn fetch(&self, ticket: &Ticket) -> Result<MediaFile, EngineError> {
        let answer = self.jobs.fetch(&format!("/{}", plain_name(&ticket.0)?)).await?;
        let job: SdcppJob = parse(&answer)?;
        let text = job.result.and_then(|result| result.b64_json);
        file::of_base64(&text.ok_or_else(|| bad_answer("its job made no video"))?)
    }

    async fn cancel(&self, ticket: &Ticket) -> Result<bool, EngineError> {
        cancel_at(&self.jobs, ticket).await
    }
}

pub(crate) fn body(request: &VideoRequest) -> Result<Value, EngineError> {
    refuse_references(request)?;
    refuse_extras([
        ("enlarging", request.upscale_factor.is_some()),
        ("sound", request.audio.is_some()),
        ("a video", request.video.is_some()),
    ])?;
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
    Ok(body)
}

#[derive(Deserialize)]
struct SdcppJob {
    id: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    queue_position: Value,
    result: Option<SdcppResult>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct SdcppResult {
    b64_json: Option<String>,
}

pub(crate) fn progress(answer: &[u8]) -> Result<Progress, EngineError> {
    let job: SdcppJob = parse(answer)?;
    match job.status.as_str() {
        "queued" | "generating" | "running" => Ok(running(&Value::Null, &job.queue_position)),
        "completed" => Ok(Progress::Done),
        "failed" | "cancelled" => {
            let error = job.error.unwrap_or_default();
            let message = error["message"].as_str().or(error.as_str()).unwrap_or_default();
            Ok(failed(error["code"].as_str().unwrap_or_default(), message))
        }
        other => Err(bad_answer(format!("a job is {other:?}"))),
    }
}
