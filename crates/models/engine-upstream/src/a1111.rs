//! The API of AUTOMATIC1111's web UI and compatible servers such as Forge.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{
    CutOutRequest, EditRequest, EngineError, ImageAnswer, ImageEngine, ImageFuture, ImageRequest,
    RequestedImageSize, UpscaleRequest,
};
use outbound::RequestContent;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::job::CancelOnDrop;
use crate::picture;
use crate::transport::{UpstreamEndpoint, bad_answer};

/// Denoising strength of edits without a mask, from 0 (unchanged) to 1.
const DENOISING: f64 = 0.75;

/// One checkpoint or upscaler of one server.
pub(crate) struct A1111Images {
    pub(crate) txt2img: UpstreamEndpoint,
    pub(crate) img2img: UpstreamEndpoint,
    pub(crate) upscale: UpstreamEndpoint,
    pub(crate) cut_out: UpstreamEndpoint,
    pub(crate) progress: UpstreamEndpoint,
    pub(crate) interrupt: UpstreamEndpoint,
    pub(crate) model: String,
    /// Numbers our task ids, to distinguish our tasks from each other and from those of the web UI.
    pub(crate) tasks: AtomicU64,
}

impl ImageEngine for A1111Images {
    fn generate(&self, request: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let body = encode_generation(&request, &self.model, &self.next_task_id());
            self.run(&self.txt2img, body).await
        })
    }

    fn edit(&self, request: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            if 1 < request.pictures.len() {
                let message = "This model edits one image at a time.".to_owned();
                return Err(EngineError::Rejected { message });
            }
            let body = encode_edit(&request, &self.model, &self.next_task_id());
            self.run(&self.img2img, body).await
        })
    }

    fn upscale(&self, request: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let body = encode_upscale(&request, &self.model).to_string();
            read_one(&self.upscale.post_json(body.into_bytes()).await?)
        })
    }

    fn cut_out(&self, request: Arc<CutOutRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let body = json!({
                "input_image": picture::encode_base64(&request.picture),
                "model": self.model,
                "return_mask": false,
            });
            read_one(&self.cut_out.post_json(body.to_string().into_bytes()).await?)
        })
    }

    fn can_be_stopped(&self) -> bool {
        true
    }
}

impl A1111Images {
    fn next_task_id(&self) -> String {
        format!("tollgate-{}", self.tasks.fetch_add(1, Ordering::Relaxed))
    }

    async fn run(
        &self,
        endpoint: &UpstreamEndpoint,
        body: Value,
    ) -> Result<ImageAnswer, EngineError> {
        let task = body["force_task_id"].as_str().unwrap_or_default().to_owned();
        let (progress, interrupt) = (self.progress.clone(), self.interrupt.clone());
        let stop = CancelOnDrop::with(async move {
            // `interrupt` stops whatever task is running, so first check that it is ours.
            let Ok(told) = progress.get_bytes("?skip_current_image=true").await else { return };
            if current_task(&told).as_deref() == Some(&task) {
                let _ = interrupt.post_content(RequestContent::json("{}")).await;
            }
        });
        let answer = endpoint.post_json(body.to_string().into_bytes()).await;
        if !matches!(answer, Err(EngineError::Timeout { .. })) {
            stop.disarm();
        }
        read_list(&answer?)
    }
}

pub(crate) fn encode_generation(request: &ImageRequest, model: &str, task: &str) -> Value {
    let mut body = one_picture(&request.prompt, &request.frame, request.seed, model, task);
    body["negative_prompt"] = request.negative_prompt.as_deref().unwrap_or_default().into();
    if let Some(steps) = request.steps {
        body["steps"] = steps.into();
    }
    if let Some(scale) = request.cfg_scale {
        body["cfg_scale"] = scale.into();
    }
    body
}

pub(crate) fn encode_edit(request: &EditRequest, model: &str, task: &str) -> Value {
    let pictures: Vec<Value> =
        request.pictures.iter().map(|it| picture::encode_base64(it).into()).collect();
    let mut body = one_picture(&request.prompt, &request.frame, request.seed, model, task);
    body["init_images"] = pictures.into();
    body["denoising_strength"] = DENOISING.into();
    if let Some(mask) = &request.mask {
        body["mask"] = picture::encode_base64(mask).into();
        body["denoising_strength"] = 1.0.into();
    }
    body
}

/// Fields common to both requests: one image, returned in the response and not saved there.
fn one_picture(
    prompt: &str,
    frame: &RequestedImageSize,
    seed: i64,
    model: &str,
    task: &str,
) -> Value {
    json!({
        "prompt": prompt,
        "width": frame.size.width,
        "height": frame.size.height,
        "seed": picture::normalize_seed(seed),
        "batch_size": 1,
        "n_iter": 1,
        "send_images": true,
        "save_images": false,
        "force_task_id": task,
        "override_settings": {"sd_model_checkpoint": model},
    })
}

pub(crate) fn encode_upscale(request: &UpscaleRequest, model: &str) -> Value {
    json!({
        "image": picture::encode_base64(&request.picture),
        "resize_mode": 0,
        "upscaling_resize": request.scale,
        "upscaler_1": model,
    })
}

#[derive(Deserialize)]
struct ListBody {
    images: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct OneBody {
    image: Option<String>,
}

pub(crate) fn read_list(body: &[u8]) -> Result<ImageAnswer, EngineError> {
    let answer: ListBody = parse_body(body)?;
    build_answer(answer.images.and_then(|it| it.into_iter().next()))
}

fn read_one(body: &[u8]) -> Result<ImageAnswer, EngineError> {
    let answer: OneBody = parse_body(body)?;
    build_answer(answer.image)
}

fn build_answer(text: Option<String>) -> Result<ImageAnswer, EngineError> {
    let text = text.ok_or_else(|| bad_answer("it has no image"))?;
    Ok(ImageAnswer { file: picture::decode_base64(&text)?, ..ImageAnswer::default() })
}

fn parse_body<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, EngineError> {
    serde_json::from_slice(body).map_err(|error| bad_answer(format!("it is not JSON: {error}")))
}

/// The id of the task that the server is running.
fn current_task(body: &[u8]) -> Option<String> {
    let told: Value = serde_json::from_slice(body).ok()?;
    told["current_task"].as_str().map(str::to_owned)
}
