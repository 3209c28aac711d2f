//! `POST /images/generations`: generates an image, for OpenAI's clients.

use domain::catalogue::{ImageSpec, ModelType};
use engine::PictureSize;
use wire::images::{self, ImageFormat, Moderation, OpenAiImages, OpenAiRequest};

use super::super::finish::{self, Finish, FinishedSize};
use super::super::generate::{paint, spec};
use super::super::plan::Plan;
use super::{Asked, TRAIT_DEFAULT, answer, nearest_ratio, quality, resolve, sides};
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::inference_body::InferenceBody;
use crate::paid::PaidCall;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/images/generations", create_image)
        .tag("Images")
        .summary("Make a picture, as OpenAI's clients ask")
        .paid()
        .build()
}

async fn create_image(
    app: Shared,
    call: Call<Customer, InferenceBody<OpenAiRequest>>,
) -> Result<WithHeaders<OpenAiImages>, Refusal> {
    let (call, InferenceBody(body)) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let name = body.model.as_deref();
    let asked = Asked { name, usual: &[TRAIT_DEFAULT], kind: ModelType::Image };
    let resolved = resolve(&call, &catalogue, asked)?;
    let spec = spec(resolved.model)?;
    let sides = sides(body.size);
    let asked = sides.map(|(width, height)| PictureSize { width, height });
    let (format, is_safe) = (body.output_format, body.moderation != Some(Moderation::Low));
    let form = body.response_format.unwrap_or_default();
    let plan = Plan::of(&as_ours(body, sides, spec), spec, app.entropy.as_ref())?;
    let finish = Finish {
        format: finish::openai_format(format.unwrap_or_default()),
        is_safe,
        mark: app.settings.watermark.clone(),
        facts: None,
        // Models that are sized by ratios make the closest one.
        size: asked.map_or(plan.size, FinishedSize::Pixels),
    };
    let paid = paint(&app, &call, &resolved, (plan, vec![finish])).await?;
    let paid = paid.map(|painted| painted.pictures);
    Ok(answer(&call, &resolved, &paid, form))
}

/// The request in this service's own form.
fn as_ours(
    body: OpenAiRequest,
    sides: Option<(u32, u32)>,
    spec: &ImageSpec,
) -> images::ImageRequest {
    let ratio = sides.and_then(|sides| nearest_ratio(sides, spec.aspect_ratios.options()));
    images::ImageRequest {
        model: String::new(),
        prompt: body.prompt,
        negative_prompt: None,
        cfg_scale: None,
        embed_exif_metadata: None,
        format: Some(ImageFormat::Png),
        width: sides.map(|it| it.0),
        height: sides.map(|it| it.1),
        aspect_ratio: ratio,
        resolution: None,
        quality: quality(body.quality),
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
