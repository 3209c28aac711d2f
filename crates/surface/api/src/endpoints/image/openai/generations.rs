//! `POST /images/generations`: generates an image, for OpenAI's clients.

use domain::catalogue::{ImageSpec, ModelType};
use engine::PictureSize;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::images::{self, Moderation, OpenAiImageRequest, OpenAiImages, PictureFormat};

use super::super::finish::{self, FinishOptions, FinishedSize};
use super::super::generate::{generate_images, require_image_spec};
use super::super::plan::GenerationPlan;
use super::{
    OpenAiModelChoice, TRAIT_DEFAULT, build_answer, nearest_ratio, resolve_model, to_quality,
    to_sides,
};
use crate::endpoints::inference_body::InferenceBody;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/images/generations", create_image)
        .tag("Images")
        .summary("Generate an image (OpenAI format)")
        .paid()
        .build()
}

async fn create_image(
    app: SharedApp,
    call: ApiCall<PayingCaller, InferenceBody<OpenAiImageRequest>>,
) -> Result<WithHeaders<OpenAiImages>, Refusal> {
    let (call, InferenceBody(body)) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let name = body.model.as_deref();
    let asked = OpenAiModelChoice { name, usual: &[TRAIT_DEFAULT], kind: ModelType::Image };
    let resolved = resolve_model(&call, &catalogue, asked)?;
    let spec = require_image_spec(resolved.model)?;
    let sides = to_sides(body.size);
    let (format, is_safe) = (body.output_format, body.moderation != Some(Moderation::Low));
    let form = body.response_format.unwrap_or_default();
    let plan = GenerationPlan::from_request(
        &to_image_request(body, sides, spec),
        spec,
        app.entropy.as_ref(),
    )?;
    let finish = FinishOptions {
        format: finish::openai_format(format.unwrap_or_default()),
        is_safe,
        mark: app.settings.watermark.clone(),
        facts: None,
        // Models that are sized by ratios make the closest one.
        size: sides.map_or(plan.size, FinishedSize::Pixels),
    };
    let paid = generate_images(&app, &call, &resolved, plan, vec![finish]).await?;
    let paid = paid.map(|painted| painted.pictures);
    Ok(build_answer(&call, &resolved, &paid, form))
}

/// The request in this service's own form.
fn to_image_request(
    body: OpenAiImageRequest,
    sides: Option<PictureSize>,
    spec: &ImageSpec,
) -> images::ImageGenerationRequest {
    let ratio = sides.and_then(|sides| nearest_ratio(sides, spec.aspect_ratios.options()));
    images::ImageGenerationRequest {
        model: String::new(),
        prompt: body.prompt,
        negative_prompt: None,
        cfg_scale: None,
        embed_exif_metadata: None,
        format: Some(PictureFormat::Png),
        width: sides.map(|it| it.width),
        height: sides.map(|it| it.height),
        aspect_ratio: ratio,
        resolution: None,
        quality: to_quality(body.quality),
        hide_watermark: None,
        inpaint: None,
        lora_strength: None,
        return_binary: None,
        variants: None,
        safe_mode: None,
        seed: None,
        steps: None,
        style_preset: None,
        enable_web_search: None,
        style_references: None,
        enhance_prompt: None,
        disable_prompt_optimization_thinking: None,
    }
}
