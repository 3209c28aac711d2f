//! `POST /images/variations`: an edit with a fixed prompt that asks for a variation.

use domain::catalogue::ModelType;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{FormOrJson, MultipartForm};
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::images::{OpenAiImageVariationRequest, OpenAiImages};

use super::super::edit::{EditOptions, ImageEdit};
use super::super::finish;
use super::super::sent_image;
use super::{OpenAiModelChoice, TRAIT_DEFAULT, build_answer, resolve_model};

const PROMPT: &str = "Make a variation of this picture: the same subject and style, with other \
     details.";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/images/variations", create_image_variation)
        .tag("Images")
        .summary("Create a variation of an image (OpenAI format)")
        .paid()
        .build()
}

async fn create_image_variation(
    app: SharedApp,
    call: ApiCall<PayingCaller, FormOrJson<OpenAiImageVariationRequest>>,
) -> Result<WithHeaders<OpenAiImages>, Refusal> {
    let (call, FormOrJson(MultipartForm { fields, files })) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let name = fields.model.as_deref();
    let asked = OpenAiModelChoice { name, usual: &[TRAIT_DEFAULT], kind: ModelType::Inpaint };
    let resolved = resolve_model(&call, &catalogue, asked)?;
    let wishes = EditOptions {
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
    let picture = sent_image::take_one_image(files, "image", fields.image.as_deref())?;
    let editing = ImageEdit { pictures: vec![picture], mask: None, wishes };
    let form = fields.response_format.unwrap_or_default();
    let paid = editing.run(&app, &call, &resolved).await?;
    let paid = paid.map(|picture| vec![picture]);
    Ok(build_answer(&call, &resolved, &paid, form))
}
