//! stable-diffusion.cpp's own protocol: submits a job, polls it, and cancels when the caller
//! disconnects.

use std::sync::Arc;
use std::time::Duration;

use engine::{EditRequest, EngineError, ImageAnswer, ImageEngine, ImageFuture, ImageRequest};
use outbound::RequestContent;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::UpstreamFailure;
use crate::job::{self, CancelOnDrop};
use crate::picture;
use crate::transport::{UpstreamEndpoint, bad_answer};

/// One server with one model.
pub(crate) struct SdCpp {
    pub(crate) submit: UpstreamEndpoint,
    /// The URL under which jobs are polled.
    pub(crate) jobs: UpstreamEndpoint,
}

impl ImageEngine for SdCpp {
    fn generate(&self, request: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(async move { self.run(&encode_generation(&request)).await })
    }

    fn edit(&self, request: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(async move { self.run(&encode_edit(&request)).await })
    }

    fn can_be_stopped(&self) -> bool {
        true
    }
}

impl SdCpp {
    async fn run(&self, body: &Value) -> Result<ImageAnswer, EngineError> {
        let accepted = self.submit.post_json(body.to_string().into_bytes()).await?;
        let accepted: SdcppJob = parse_job(&accepted)?;
        let id = job::check_job_id(&accepted.id)?.to_owned();
        let cancel = self.jobs.at_subpath(&format!("{id}/cancel"))?;
        let stop = CancelOnDrop::with(async move {
            let _ = cancel.post_content(RequestContent::json("{}")).await;
        });
        let rest = format!("/{id}");
        let answer = job::poll_until_done(self.jobs.timeouts.answer, || async {
            read_job(&self.jobs.get_bytes(&rest).await?)
        });
        let answer = answer.await;
        // A job that timed out is still running, so it is cancelled.
        if !matches!(answer, Err(EngineError::Timeout { .. })) {
            stop.disarm();
        }
        answer
    }
}

pub(crate) fn encode_generation(request: &ImageRequest) -> Value {
    let mut body = json!({
        "prompt": request.prompt,
        "negative_prompt": request.negative_prompt.as_deref().unwrap_or_default(),
        "width": request.frame.size.width,
        "height": request.frame.size.height,
        "seed": picture::normalize_seed(request.seed),
        "batch_count": 1,
        "embed_image_metadata": false,
        "output_format": "png",
    });
    if let Some(steps) = request.steps {
        body["sample_params"]["sample_steps"] = steps.into();
    }
    if let Some(scale) = request.cfg_scale {
        body["sample_params"]["guidance"]["txt_cfg"] = scale.into();
    }
    body
}

pub(crate) fn encode_edit(request: &EditRequest) -> Value {
    let mut body = json!({
        "prompt": request.prompt,
        "width": request.frame.size.width,
        "height": request.frame.size.height,
        "seed": picture::normalize_seed(request.seed),
        "batch_count": 1,
        "embed_image_metadata": false,
        "output_format": "png",
    });
    let mut pictures = request.pictures.iter();
    // With a mask the image itself is edited; without one a new image is made from references.
    if let (Some(mask), Some(first)) = (&request.mask, request.pictures.first()) {
        body["init_image"] = picture::encode_base64(first).into();
        body["mask_image"] = picture::encode_base64(mask).into();
        pictures.next();
    }
    let references: Vec<Value> = pictures.map(|it| picture::encode_base64(it).into()).collect();
    if !references.is_empty() {
        body["ref_images"] = references.into();
    }
    body
}

#[derive(Deserialize)]
struct SdcppJob {
    id: String,
    #[serde(default)]
    status: String,
    /// Unix time in seconds.
    created: Option<u64>,
    started: Option<u64>,
    result: Option<JobResult>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct JobResult {
    #[serde(default)]
    images: Vec<JobImage>,
}

#[derive(Deserialize)]
struct JobImage {
    b64_json: String,
}

/// `None` while the job is running.
pub(crate) fn read_job(body: &[u8]) -> Result<Option<ImageAnswer>, EngineError> {
    let job: SdcppJob = parse_job(body)?;
    match job.status.as_str() {
        "queued" | "generating" => Ok(None),
        "completed" => {
            let images = job.result.map(|it| it.images).unwrap_or_default();
            let first = images.first().ok_or_else(|| bad_answer("its job made no picture"))?;
            let waited = job.started.zip(job.created).map(|(it, since)| it.saturating_sub(since));
            Ok(Some(ImageAnswer {
                file: picture::decode_base64(&first.b64_json)?,
                waited: waited.map(Duration::from_secs),
                is_adult: None,
            }))
        }
        "failed" => Err(job.error.map_or_else(
            || bad_answer("its job failed without a reason"),
            |error| UpstreamFailure::from_value(&error).into_error(),
        )),
        other => Err(bad_answer(format!("its job is {other:?}"))),
    }
}

fn parse_job(body: &[u8]) -> Result<SdcppJob, EngineError> {
    serde_json::from_slice(body).map_err(|error| bad_answer(format!("it is not a job: {error}")))
}
