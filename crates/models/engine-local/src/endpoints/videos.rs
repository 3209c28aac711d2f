//! `/v1/videos`: submits, polls, downloads and cancels videos under ids of the caller's choice.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine_onnx::tools::PictureSides;
use image::RgbImage;
use serde::Deserialize;
use serde_json::{Value, json};

use super::picture_crop::crop_to;
use super::picture_form::{ImagePermit, PIXELS_MAX, decode_form_picture};
use super::read_json;
use crate::refusal::EngineRefusal;
use crate::video_render::{SECONDS_MAX, SIDES, VideoRenderRequest};
use crate::videos::{VideoJobs, VideoStatus};

const NAME_BYTES_MAX: usize = 128;

#[derive(Debug, Deserialize)]
struct VideoBody {
    /// Idempotency key: the same id is the same video.
    id: String,
    model: String,
    prompt: String,
    #[serde(default)]
    negative_prompt: String,
    seconds: u32,
    width: usize,
    height: usize,
    #[serde(default)]
    seed: u64,
    /// The first frame as PNG or JPEG, in base64 or as a data URL.
    image: Option<String>,
}

pub(crate) async fn create_video(
    State(videos): State<Arc<VideoJobs>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, EngineRefusal> {
    let body: VideoBody = read_json(body)?;
    body.check()?;
    if let Some(status) = videos.status(&body.id) {
        return Ok(encode_status(&body.id, &status));
    }
    let VideoBody { id, model, prompt, negative_prompt, seconds, width, height, seed, image } =
        body;
    let start = match image {
        Some(image) => {
            Some(decode_first_frame(&videos, image, PictureSides { width, height }).await?)
        }
        None => None,
    };
    let order = VideoRenderRequest { prompt, negative_prompt, seed, seconds, width, height, start };
    let status = videos.queue_video(&id, &model, order)?;
    Ok(encode_status(&id, &status))
}

impl VideoBody {
    fn check(&self) -> Result<(), EngineRefusal> {
        let is_name = |letter: u8| letter.is_ascii_alphanumeric() || b"-_".contains(&letter);
        if !(1..=NAME_BYTES_MAX).contains(&self.id.len()) || !self.id.bytes().all(is_name) {
            let message = "An id has from 1 to 128 letters, digits and hyphens.";
            return Err(EngineRefusal::invalid(Some("id"), message));
        }
        if !(1..=SECONDS_MAX).contains(&self.seconds) {
            let message = format!("A video has from 1 to {SECONDS_MAX} seconds.");
            return Err(EngineRefusal::invalid(Some("seconds"), message));
        }
        let is_side = |side: usize| SIDES.contains(&side) && side.is_multiple_of(2);
        for (param, side) in [("width", self.width), ("height", self.height)] {
            if !is_side(side) {
                let (least, most) = (SIDES.start(), SIDES.end());
                let message =
                    format!("A side has an even number of pixels from {least} to {most}.");
                return Err(EngineRefusal::invalid(Some(param), message));
            }
        }
        Ok(())
    }
}

/// Decodes the first frame and crops it to the frame size. The file itself is not kept.
async fn decode_first_frame(
    videos: &VideoJobs,
    image: String,
    size: PictureSides,
) -> Result<RgbImage, EngineRefusal> {
    let turn = ImagePermit::acquire(videos.registry()).await?;
    let work = move || {
        let _turn = turn;
        let base64 = image.split_once(";base64,").map_or(image.as_str(), |(_, data)| data);
        let unreadable = |_| EngineRefusal::invalid(Some("image"), "It is not base64.");
        let file = STANDARD.decode(base64).map_err(unreadable)?;
        crop_to(decode_form_picture("image", &file, PIXELS_MAX)?, size, size)
    };
    let worked = tokio::task::spawn_blocking(work).await;
    worked.map_err(|error| EngineRefusal::engine_failure(error.to_string()))?
}

pub(crate) async fn show_video(
    State(videos): State<Arc<VideoJobs>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, EngineRefusal> {
    let status = videos.status(&id).ok_or_else(|| refuse_unknown_video(&id))?;
    Ok(encode_status(&id, &status))
}

pub(crate) async fn download_video(
    State(videos): State<Arc<VideoJobs>>,
    Path(id): Path<String>,
) -> Result<Response, EngineRefusal> {
    let file = videos.file(&id).ok_or_else(|| refuse_unknown_video(&id))?;
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("video/mp4"));
    Ok(([kind], file).into_response())
}

pub(crate) async fn cancel_video(
    State(videos): State<Arc<VideoJobs>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, EngineRefusal> {
    let status = videos.cancel(&id).ok_or_else(|| refuse_unknown_video(&id))?;
    Ok(encode_status(&id, &status))
}

fn refuse_unknown_video(id: &str) -> EngineRefusal {
    EngineRefusal::not_found(format!("There is no video {id}."))
}

fn encode_status(id: &str, status: &VideoStatus) -> Json<Value> {
    let (status, percent, message) = match status {
        VideoStatus::Queued => ("queued", 0, None),
        VideoStatus::InProgress { percent } => ("in_progress", *percent, None),
        VideoStatus::Completed => ("completed", 100, None),
        VideoStatus::Failed { message } => ("failed", 0, Some(message.as_str())),
        VideoStatus::Cancelled => ("cancelled", 0, Some("The video was cancelled.")),
    };
    let error = message.map(|message| json!({"code": "engine_failed", "message": message}));
    Json(json!({"id": id, "status": status, "progress": percent, "error": error}))
}
