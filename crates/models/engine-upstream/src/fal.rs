//! fal's queue: submits a request, polls the URL in the response, and cancels when the caller
//! disconnects.

use std::sync::Arc;

use engine::{
    CutOutRequest, EditRequest, EngineError, ImageAnswer, ImageEngine, ImageFuture, ImageRequest,
    UpscaleRequest,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::job::{self, CancelOnDrop};
use crate::picture;
use crate::transport::{UpstreamEndpoint, bad_answer};

/// One model of fal.
pub(crate) struct FalImages {
    /// The URL to which requests for the model are submitted.
    pub(crate) submit: UpstreamEndpoint,
}

impl ImageEngine for FalImages {
    fn generate(&self, request: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(async move { self.run(&encode_generation(&request)).await })
    }

    fn edit(&self, request: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(async move { self.run(&encode_edit(&request)).await })
    }

    fn upscale(&self, request: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        Box::pin(async move { self.run(&encode_upscale(&request)).await })
    }

    fn cut_out(&self, request: Arc<CutOutRequest>) -> ImageFuture<'_> {
        let body = json!({
            "image_url": picture::data_url(&request.picture),
            "output_format": "png",
            "sync_mode": true,
        });
        Box::pin(async move { self.run(&body).await })
    }

    fn can_be_stopped(&self) -> bool {
        true
    }
}

impl FalImages {
    async fn run(&self, body: &Value) -> Result<ImageAnswer, EngineError> {
        let accepted = self.submit.post_json(body.to_string().into_bytes()).await?;
        let accepted: FalReceipt = parse_body(&accepted)?;
        let status = resolve_endpoint(&self.submit, &accepted.status_url)?;
        let response = resolve_endpoint(&self.submit, &accepted.response_url)?;
        let cancel = resolve_endpoint(&self.submit, &accepted.cancel_url)?;
        let stop = CancelOnDrop::with(async move { cancel.put().await });
        let done = job::poll_until_done(self.submit.timeouts.answer, || async {
            is_done(&status.get_bytes("").await?)
        });
        let done = done.await;
        if !matches!(done, Err(EngineError::Timeout { .. })) {
            stop.disarm();
        }
        done?;
        let made = read_picture(&response.get_bytes("").await?)?;
        let file = picture::download_picture(&self.submit, &made.address).await?;
        Ok(ImageAnswer { file, waited: None, is_adult: made.is_adult })
    }
}

/// Accepts a URL from a response only if it is on the same server; our credentials would be sent to
/// any other.
pub(crate) fn resolve_endpoint(
    submit: &UpstreamEndpoint,
    address: &str,
) -> Result<UpstreamEndpoint, EngineError> {
    let url = Url::parse(address).ok().filter(|it| submit.target.is_same_server(it));
    let url = url.ok_or_else(|| bad_answer("it returned a URL of another server"))?;
    let query = url.query().map(|it| format!("?{it}")).unwrap_or_default();
    submit.at_path(&format!("{}{query}", url.path()))
}

/// The request body. fal's models name their fields differently; each model ignores unknown ones.
pub(crate) fn encode_generation(request: &ImageRequest) -> Value {
    let mut body = json!({
        "prompt": request.prompt,
        "num_images": 1,
        "seed": picture::normalize_seed(request.seed),
        "output_format": "png",
        "sync_mode": true,
    });
    let frame = &request.frame;
    match &frame.aspect_ratio {
        Some(ratio) => body["aspect_ratio"] = ratio.as_str().into(),
        None => {
            body["image_size"] = json!({"width": frame.size.width, "height": frame.size.height});
        }
    }
    let further = [
        ("resolution", frame.resolution.clone().map(Value::from)),
        ("negative_prompt", request.negative_prompt.clone().map(Value::from)),
        ("num_inference_steps", request.steps.map(Value::from)),
        ("guidance_scale", request.cfg_scale.map(Value::from)),
        ("quality", request.quality.map(Value::from)),
        ("enable_web_search", request.web_search.then_some(Value::Bool(true))),
    ];
    put_fields(&mut body, further);
    body
}

pub(crate) fn encode_edit(request: &EditRequest) -> Value {
    let pictures: Vec<Value> =
        request.pictures.iter().map(|it| picture::data_url(it).into()).collect();
    let first = pictures.first().cloned().filter(|_| pictures.len() == 1);
    let mut body = json!({
        "prompt": request.prompt,
        "image_urls": pictures,
        "num_images": 1,
        "seed": picture::normalize_seed(request.seed),
        "output_format": "png",
        "sync_mode": true,
    });
    let further = [
        ("image_url", first),
        ("mask_url", request.mask.as_ref().map(|it| picture::data_url(it).into())),
        ("aspect_ratio", request.frame.aspect_ratio.clone().map(Value::from)),
        ("resolution", request.frame.resolution.clone().map(Value::from)),
        ("quality", request.quality.map(Value::from)),
    ];
    put_fields(&mut body, further);
    body
}

pub(crate) fn encode_upscale(request: &UpscaleRequest) -> Value {
    let mut body = json!({
        "image_url": picture::data_url(&request.picture),
        "upscale_factor": request.scale,
        "scale": request.scale,
        "output_format": "png",
        "sync_mode": true,
    });
    let further = [
        ("creativity", request.creativity.map(Value::from)),
        ("prompt", request.prompt.clone().map(Value::from)),
    ];
    put_fields(&mut body, further);
    body
}

fn put_fields<const COUNT: usize>(body: &mut Value, fields: [(&str, Option<Value>); COUNT]) {
    for (name, value) in fields {
        if let Some(value) = value {
            body[name] = value;
        }
    }
}

/// The URLs to poll, download and cancel a submitted request.
#[derive(Serialize, Deserialize)]
pub(crate) struct FalReceipt {
    pub(crate) status_url: String,
    pub(crate) response_url: String,
    pub(crate) cancel_url: String,
}

#[derive(Deserialize)]
struct FalStatus {
    status: String,
}

/// `None` while the request is running. The reason of a failure is at the URL of the result.
pub(crate) fn is_done(body: &[u8]) -> Result<Option<()>, EngineError> {
    let told: FalStatus = parse_body(body)?;
    match told.status.as_str() {
        "IN_QUEUE" | "IN_PROGRESS" => Ok(None),
        "COMPLETED" => Ok(Some(())),
        other => Err(bad_answer(format!("its request is {other:?}"))),
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FalPicture {
    pub(crate) address: String,
    pub(crate) is_adult: Option<bool>,
}

pub(crate) fn read_picture(body: &[u8]) -> Result<FalPicture, EngineError> {
    let told: Value = parse_body(body)?;
    let address = ["/images/0/url", "/image/url"].iter().find_map(|at| told.pointer(at)?.as_str());
    let address = address.ok_or_else(|| bad_answer("it has no image"))?.to_owned();
    Ok(FalPicture {
        address,
        is_adult: told.pointer("/has_nsfw_concepts/0").and_then(Value::as_bool),
    })
}

fn parse_body<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, EngineError> {
    serde_json::from_slice(body).map_err(|error| bad_answer(format!("it is not JSON: {error}")))
}
