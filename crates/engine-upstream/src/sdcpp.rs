//! stable-diffusion.cpp's own protocol: submits a job, polls it, and cancels when the caller
//! disconnects.

use std::sync::Arc;
use std::time::Duration;

use engine::{EditRequest, EngineError, ImageAnswer, ImageEngine, ImageFuture, ImageRequest};
use outbound::Content;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::job::{self, Stop};
use crate::picture;
use crate::transport::{Endpoint, bad_answer};

/// One server with one model.
pub(crate) struct SdCpp {
    pub(crate) submit: Endpoint,
    /// The URL under which jobs are polled.
    pub(crate) jobs: Endpoint,
}

impl ImageEngine for SdCpp {
    fn generate(&self, request: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(async move { self.run(&generation(&request)).await })
    }

    fn edit(&self, request: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(async move { self.run(&edit(&request)).await })
    }

    fn can_be_stopped(&self) -> bool {
        true
    }
}

impl SdCpp {
    async fn run(&self, body: &Value) -> Result<ImageAnswer, EngineError> {
        let accepted = self.submit.ask(body.to_string().into_bytes()).await?;
        let accepted: SdcppJob = parse(&accepted)?;
        let id = job::id(&accepted.id)?.to_owned();
        let cancel = self.jobs.beneath(&format!("{id}/cancel"))?;
        let stop = Stop::with(async move {
            let _ = cancel.ask_with(Content::json("{}")).await;
        });
        let rest = format!("/{id}");
        let answer = job::outcome(self.jobs.timeouts.answer, || async {
            read(&self.jobs.fetch(&rest).await?)
        });
        let answer = answer.await;
        // A job that timed out is still running, so it is cancelled.
        if !matches!(answer, Err(EngineError::Timeout { .. })) {
            stop.disarm();
        }
        answer
    }
}

pub(crate) fn generation(request: &ImageRequest) -> Value {
    let mut body = json!({
        "prompt": request.prompt,
        "negative_prompt": request.negative_prompt.as_deref().unwrap_or_default(),
        "width": request.frame.size.width,
        "height": request.frame.size.height,
        "seed": picture::seed(request.seed),
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

pub(crate) fn edit(request: &EditRequest) -> Value {
    let mut body = json!({
        "prompt": request.prompt,
        "width": request.frame.size.width,
        "height": request.frame.size.height,
        "seed": picture::seed(request.seed),
        "batch_count": 1,
        "embed_image_metadata": false,
        "output_format": "png",
    });
    let mut pictures = request.pictures.iter();
    // With a mask the image itself is edited; without one a new image is made from references.
    if let (Some(mask), Some(first)) = (&request.mask, request.pictures.first()) {
        body["init_image"] = picture::base64(first).into();
        body["mask_image"] = picture::base64(mask).into();
        pictures.next();
    }
    let references: Vec<Value> = pictures.map(|it| picture::base64(it).into()).collect();
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
pub(crate) fn read(body: &[u8]) -> Result<Option<ImageAnswer>, EngineError> {
    let job: SdcppJob = parse(body)?;
    match job.status.as_str() {
        "queued" | "generating" => Ok(None),
        "completed" => {
            let images = job.result.map(|it| it.images).unwrap_or_default();
            let first = images.first().ok_or_else(|| bad_answer("its job made no picture"))?;
            let waited = job.started.zip(job.created).map(|(it, since)| it.saturating_sub(since));
            Ok(Some(ImageAnswer {
                file: picture::from_text(&first.b64_json)?,
                waited: waited.map(Duration::from_secs),
                is_adult: None,
            }))
        }
        "failed" => Err(job.error.map_or_else(
            || bad_answer("its job failed without a reason"),
            |error| Failure::from_value(&error).into_error(),
        )),
        other => Err(bad_answer(format!("its job is {other:?}"))),
    }
}

fn parse(body: &[u8]) -> Result<SdcppJob, EngineError> {
    serde_json::from_slice(body).map_err(|error| bad_answer(format!("it is not a job: {error}")))
}
