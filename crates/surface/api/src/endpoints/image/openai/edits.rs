//! `POST /images/edits`: changes images, for OpenAI's clients.

use domain::catalogue::ModelType;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{FormOrJson, MultipartForm};
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::images::{OpenAiImageEditRequest, OpenAiImages};

use super::super::edit::{EditOptions, ImageEdit};
use super::super::finish;
use super::super::sent_image::{self, SentImage};
use super::{
    OpenAiModelChoice, TRAIT_DEFAULT, build_answer, nearest_ratio, resolve_model, to_quality,
    to_sides,
};

/// Trait of the fallback model for requests with a mask: not every edit model takes masks.
const TRAIT_MASK: &str = "mask_edit";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/images/edits", create_image_edit)
        .tag("Images")
        .summary("Edit images (OpenAI format)")
        .paid()
        .build()
}

async fn create_image_edit(
    app: SharedApp,
    call: ApiCall<PayingCaller, FormOrJson<OpenAiImageEditRequest>>,
) -> Result<WithHeaders<OpenAiImages>, Refusal> {
    let (call, FormOrJson(MultipartForm { fields, files })) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let has_mask = fields.mask.is_some() || files.iter().any(|file| file.field == "mask");
    let usual = if has_mask { &[TRAIT_MASK, TRAIT_DEFAULT][..] } else { &[TRAIT_DEFAULT] };
    let asked =
        OpenAiModelChoice { name: fields.model.as_deref(), usual, kind: ModelType::Inpaint };
    let resolved = resolve_model(&call, &catalogue, asked)?;
    let mask = match fields.mask.as_deref() {
        Some(text) => Some(SentImage::from_text("mask", text)?),
        None => {
            sent_image::filter_field_files(files.clone(), "mask").map(SentImage::from_upload).next()
        }
    };
    let mut pictures: Vec<SentImage> =
        sent_image::filter_field_files(files, "image").map(SentImage::from_upload).collect();
    if let Some(text) = &fields.image {
        pictures.push(SentImage::from_text("image", text)?);
    }
    let ratios = super::super::edit::require_inpaint_spec(resolved.model)?.aspect_ratios.clone();
    let sides = to_sides(fields.size);
    let ratio = sides.and_then(|sides| nearest_ratio(sides, &ratios));
    let wishes = EditOptions {
        prompt: fields.prompt,
        aspect_ratio: ratio.filter(|_| 1 < pictures.len() || takes_ratio(&resolved)),
        resolution: None,
        size: sides,
        quality: to_quality(fields.quality),
        format: Some(finish::openai_format(fields.output_format.unwrap_or_default())),
        is_safe: true,
        is_strict: true,
        rewrites_prompt: false,
        field: "image",
    };
    let editing = ImageEdit { pictures, mask, wishes };
    let form = fields.response_format.unwrap_or_default();
    let paid = editing.run(&app, &call, &resolved).await?;
    let paid = paid.map(|picture| vec![picture]);
    Ok(build_answer(&call, &resolved, &paid, form))
}

/// True if the model accepts a ratio for a single image. The result is resized in either case.
fn takes_ratio(resolved: &domain::catalogue::ResolvedModel<'_>) -> bool {
    super::super::edit::require_inpaint_spec(resolved.model)
        .is_ok_and(|it| it.single_image_aspect_ratio)
}
