//! `POST /image/multi-edit`: combines several images by a prompt.

use domain::catalogue::ModelType;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{FormOrJson, MultipartForm};
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use http_frame::reply::image::ImageFileReply;
use wire::images::ImageMultiEditRequest;

use super::TRAIT_DEFAULT;
use super::edit::{EditOptions, ImageEdit, build_reply};
use super::finish;
use super::sent_image::{self, SentImage};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/image/multi-edit", multi_edit_image)
        .tag("Images")
        .summary("Combine several images into one")
        .paid()
        .experimental()
        .build()
}

async fn multi_edit_image(
    app: SharedApp,
    call: ApiCall<PayingCaller, FormOrJson<ImageMultiEditRequest>>,
) -> Result<ImageFileReply, Refusal> {
    let (call, FormOrJson(MultipartForm { fields, files })) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let asked = fields.model_id.or(fields.model);
    let asked = asked.as_deref().unwrap_or(TRAIT_DEFAULT);
    let resolved = call.resolve_model(&catalogue, asked, ModelType::Inpaint)?;
    let mut pictures: Vec<SentImage> =
        sent_image::filter_field_files(files, "images").map(SentImage::from_upload).collect();
    for (index, text) in fields.images.iter().flatten().enumerate() {
        pictures.push(SentImage::from_text(format!("images.{index}"), text)?);
    }
    let wishes = EditOptions {
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
    let editing = ImageEdit { pictures, mask: None, wishes };
    let paid = editing.run(&app, &call, &resolved).await?;
    Ok(build_reply(paid, &resolved))
}
