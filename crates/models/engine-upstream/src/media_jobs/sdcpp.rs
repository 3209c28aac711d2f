//! stable-diffusion.cpp's own protocol for videos.

use engine::{EngineError, MediaFile, MediaRequest, MediaStatus, MediaTicket, VideoRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::protocol::{MediaProtocol, cancel_at, poll_at};
use super::{
    classify_failure, file, parse_body, plain_name, refuse_option, refuse_references,
    refuse_unsupported, require_video, running_status, size,
};
use crate::transport::{UpstreamEndpoint, bad_answer};

/// The frame rate that the supported models are trained for.
const FRAMES_PER_SECOND: u64 = 16;
/// Models require a multiple of this number of frames, plus one.
const FRAME_STEP: u64 = 4;

/// One server with one model.
pub(crate) struct SdCppVideos {
    pub(crate) submit: UpstreamEndpoint,
    pub(crate) jobs: UpstreamEndpoint,
}

impl MediaProtocol for SdCppVideos {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        encode_request(require_video(request)?).map(drop)
    }

    async fn submit(&self, _: &str, request: &MediaRequest) -> Result<MediaTicket, EngineError> {
        let body = encode_request(require_video(request)?)?;
        let answer = self.submit.post_json(body.to_string().into_bytes()).await?;
        let job: SdcppJob = parse_body(&answer)?;
        plain_name(&job.id).map(|id| MediaTicket(id.to_owned()))
    }

    async fn poll_status(&self, ticket: &MediaTicket) -> Result<MediaStatus, EngineError> {
        poll_at(&self.jobs, ticket, parse_status).await
    }

    async fn download(&self, ticket: &MediaTicket) -> Result<MediaFile, EngineError> {
        let answer = self.jobs.get_bytes(&format!("/{}", plain_name(&ticket.0)?)).await?;
        let job: SdcppJob = parse_body(&answer)?;
        let text = job.result.and_then(|result| result.b64_json);
        file::file_from_base64(&text.ok_or_else(|| bad_answer("its job made no video"))?)
    }

    async fn cancel(&self, ticket: &MediaTicket) -> Result<bool, EngineError> {
        cancel_at(&self.jobs, ticket).await
    }
}

pub(crate) fn encode_request(request: &VideoRequest) -> Result<Value, EngineError> {
    refuse_references(request)?;
    refuse_unsupported([
        ("enlarging", request.upscale_factor.is_some()),
        ("sound", request.audio.is_some()),
        ("a video", request.video.is_some()),
    ])?;
    let resolution = request.resolution.as_deref().unwrap_or("480p");
    let pixels = size::compute_pixels(Some(resolution), request.aspect_ratio.as_deref());
    let Some((width, height)) = pixels else { return Err(refuse_option("this resolution")) };
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
            let (_, data) =
                file::split_data_url(picture).ok_or_else(|| refuse_option("addresses"))?;
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

pub(crate) fn parse_status(answer: &[u8]) -> Result<MediaStatus, EngineError> {
    let job: SdcppJob = parse_body(answer)?;
    match job.status.as_str() {
        "queued" | "generating" | "running" => {
            Ok(running_status(&Value::Null, &job.queue_position))
        }
        "completed" => Ok(MediaStatus::Done),
        "failed" | "cancelled" => {
            let error = job.error.unwrap_or_default();
            let message = error["message"].as_str().or(error.as_str()).unwrap_or_default();
            Ok(classify_failure(error["code"].as_str().unwrap_or_default(), message))
        }
        other => Err(bad_answer(format!("a job is {other:?}"))),
    }
}
