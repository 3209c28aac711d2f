//! `POST /images/edits`.

use domain::catalogue::ModelType;
use wire::images::{OpenAiEditRequest, OpenAiImages};

use super::super::edit::{Editing, Wishes};
use super::super::finish;
use super::super::sent_picture::{self, SentPicture};
use super::{answer, nearest_ratio, quality, resolve, sides};
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::input::{Form, FormOrJson};
use crate::paid::PaidCall;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

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
    let resolved = resolve(&call, &catalogue, fields.model.as_deref(), ModelType::Inpaint)?;
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
    let ratio = sides(fields.size).and_then(|sides| nearest_ratio(sides, &ratios));
    let wishes = Wishes {
        prompt: fields.prompt,
        aspect_ratio: ratio.filter(|_| 1 < pictures.len() || takes_ratio(&resolved)),
        resolution: None,
        quality: quality(fields.quality),
        format: Some(finish::openai_format(fields.output_format.unwrap_or_default())),
        is_safe: true,
        is_strict: true,
        field: "image",
    };
    let editing = Editing { pictures, mask, wishes };
    let form = fields.response_format.unwrap_or_default();
    let paid = editing.run(&app, &call, &resolved).await?;
    let paid = paid.map(|picture| vec![picture]);
    Ok(answer(&call, &resolved, &paid, form))
}

/// A size is only a wish to OpenAI's clients: one that the model cannot fulfil is passed over.
fn takes_ratio(resolved: &domain::catalogue::Resolved<'_>) -> bool {
    super::super::edit::spec(resolved.model).is_ok_and(|it| it.single_image_aspect_ratio)
}
