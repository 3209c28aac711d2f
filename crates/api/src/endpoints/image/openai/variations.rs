//! `POST /images/variations`: an edit with a fixed prompt that asks for a variation.

use domain::catalogue::ModelType;
use wire::images::{OpenAiImages, VariationRequest};

use super::super::edit::{Editing, Wishes};
use super::super::finish;
use super::super::sent_picture;
use super::{Asked, TRAIT_DEFAULT, answer, resolve};
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::input::{FileFields, Form, FormOrJson};
use crate::paid::PaidCall;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

const PROMPT: &str = "Make a variation of this picture: the same subject and style, with other \
     details.";

impl FileFields for VariationRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["image"];
}

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/images/variations", create_image_variation)
        .tag("Images")
        .summary("Vary a picture, as OpenAI's clients ask")
        .paid()
        .build()
}

async fn create_image_variation(
    app: Shared,
    call: Call<Customer, FormOrJson<VariationRequest>>,
) -> Result<WithHeaders<OpenAiImages>, Refusal> {
    let (call, FormOrJson(Form { fields, files })) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let name = fields.model.as_deref();
    let asked = Asked { name, usual: &[TRAIT_DEFAULT], kind: ModelType::Inpaint };
    let resolved = resolve(&call, &catalogue, asked)?;
    let wishes = Wishes {
        prompt: PROMPT.to_owned(),
        aspect_ratio: None,
        resolution: None,
        size: None,
        quality: None,
        format: Some(finish::openai_format(fields.output_format.unwrap_or_default())),
        is_safe: true,
        is_strict: true,
        rewrites_prompt: false,
        field: "image",
    };
    let picture = sent_picture::one(files, "image", fields.image.as_deref())?;
    let editing = Editing { pictures: vec![picture], mask: None, wishes };
    let form = fields.response_format.unwrap_or_default();
    let paid = editing.run(&app, &call, &resolved).await?;
    let paid = paid.map(|picture| vec![picture]);
    Ok(answer(&call, &resolved, &paid, form))
}
