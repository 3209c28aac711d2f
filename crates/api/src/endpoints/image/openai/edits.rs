//! `POST /images/edits`: changes images, for OpenAI's clients.

use domain::catalogue::ModelType;
use engine::PictureSize;
use wire::images::{OpenAiEditRequest, OpenAiImages};

use super::super::edit::{Editing, Wishes};
use super::super::finish;
use super::super::sent_picture::{self, SentPicture};
use super::{Asked, TRAIT_DEFAULT, answer, nearest_ratio, quality, resolve, sides};
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::input::{FileFields, Form, FormOrJson};
use crate::paid::PaidCall;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

/// Trait of the fallback model for requests with a mask: not every edit model takes masks.
const TRAIT_MASK: &str = "mask_edit";

impl FileFields for OpenAiEditRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["image"];
}

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/images/edits", create_image_edit)
        .tag("Images")
        .summary("Change pictures, as OpenAI's clients ask")
        .paid()
        .build()
}

async fn create_image_edit(
    app: Shared,
    call: Call<Customer, FormOrJson<OpenAiEditRequest>>,
) -> Result<WithHeaders<OpenAiImages>, Refusal> {
    let (call, FormOrJson(Form { fields, files })) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let has_mask = fields.mask.is_some() || files.iter().any(|file| file.field == "mask");
    let usual = if has_mask { &[TRAIT_MASK, TRAIT_DEFAULT][..] } else { &[TRAIT_DEFAULT] };
    let asked = Asked { name: fields.model.as_deref(), usual, kind: ModelType::Inpaint };
    let resolved = resolve(&call, &catalogue, asked)?;
    let mask = match fields.mask.as_deref() {
        Some(text) => Some(SentPicture::text("mask", text)?),
        None => sent_picture::named(files.clone(), "mask").map(SentPicture::file).next(),
    };
    let mut pictures: Vec<SentPicture> =
        sent_picture::named(files, "image").map(SentPicture::file).collect();
    if let Some(text) = &fields.image {
        pictures.push(SentPicture::text("image", text)?);
    }
    let ratios = super::super::edit::spec(resolved.model)?.aspect_ratios.clone();
    let sides = sides(fields.size);
    let ratio = sides.and_then(|sides| nearest_ratio(sides, &ratios));
    let wishes = Wishes {
        prompt: fields.prompt,
        aspect_ratio: ratio.filter(|_| 1 < pictures.len() || takes_ratio(&resolved)),
        resolution: None,
        size: sides.map(|(width, height)| PictureSize { width, height }),
        quality: quality(fields.quality),
        format: Some(finish::openai_format(fields.output_format.unwrap_or_default())),
        is_safe: true,
        is_strict: true,
        rewrites_prompt: false,
        field: "image",
    };
    let editing = Editing { pictures, mask, wishes };
    let form = fields.response_format.unwrap_or_default();
    let paid = editing.run(&app, &call, &resolved).await?;
    let paid = paid.map(|picture| vec![picture]);
    Ok(answer(&call, &resolved, &paid, form))
}

/// True if the model accepts a ratio for a single image. The result is resized in either case.
fn takes_ratio(resolved: &domain::catalogue::Resolved<'_>) -> bool {
    super::super::edit::spec(resolved.model).is_ok_and(|it| it.single_image_aspect_ratio)
}
