//! `POST /image/multi-edit`: combines several images by a prompt.

use domain::catalogue::ModelType;
use wire::images::MultiEditRequest;

use super::TRAIT_DEFAULT;
use super::edit::{Editing, Wishes, reply};
use super::finish;
use super::sent_picture::{self, SentPicture};
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::input::{FileFields, Form, FormOrJson};
use crate::paid::PaidCall;
use crate::refusal::Refusal;
use crate::reply::picture::Pictured;

impl FileFields for MultiEditRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["images"];
}

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/image/multi-edit", multi_edit_image)
        .tag("Images")
        .summary("Make several pictures into one")
        .paid()
        .experimental()
        .build()
}

async fn multi_edit_image(
    app: Shared,
    call: Call<Customer, FormOrJson<MultiEditRequest>>,
) -> Result<Pictured, Refusal> {
    let (call, FormOrJson(Form { fields, files })) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let asked = fields.model_id.or(fields.model);
    let asked = asked.as_deref().unwrap_or(TRAIT_DEFAULT);
    let resolved = call.resolve(&catalogue, asked, ModelType::Inpaint)?;
    let mut pictures: Vec<SentPicture> =
        sent_picture::named(files, "images").map(SentPicture::file).collect();
    for (index, text) in fields.images.iter().flatten().enumerate() {
        pictures.push(SentPicture::text(format!("images.{index}"), text)?);
    }
    let wishes = Wishes {
        prompt: fields.prompt,
        aspect_ratio: fields.aspect_ratio,
        resolution: fields.resolution,
        size: None,
        quality: fields.quality,
        format: fields.output_format.map(finish::output_format),
        is_safe: fields.safe_mode != Some(false),
        is_strict: false,
        rewrites_prompt: fields.enhance_prompt == Some(true),
        field: "images",
    };
    let editing = Editing { pictures, mask: None, wishes };
    let paid = editing.run(&app, &call, &resolved).await?;
    Ok(reply(paid, &resolved))
}
