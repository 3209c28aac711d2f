//! `POST /image/background-remove`: removes the background of an image.

use std::sync::Arc;

use domain::catalogue::{ModelResolveError, ModelType};
use engine::CutOutRequest;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{FormOrJson, MultipartForm};
use http_frame::model_headers;
use http_frame::paid_work::{PaidCall, WorkResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::refusal::image::refuse_image;
use http_frame::reply::WithHeaders;
use http_frame::reply::image::{PngFileReply, ReplyImageFile};
use ledger::ChargeLine;
use ledger_core::{AMOUNT_MAX, HoldRange};
use money::PriceUnits;
use pictures::ImageFileFormat;
use schema_check::ValidationFaults;
use wire::images;

use super::batch::CancelOnDisconnect;
use super::edit::require_inpaint_spec;
use super::finish::{FinishOptions, FinishedSize};
use super::sent_image::{self, SentImage};
use crate::image_processing::ImageProcessor;

/// Trait of the default model for this endpoint.
const TRAIT: &str = "background_remove";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/image/background-remove", remove_image_background)
        .tag("Images")
        .summary("Remove the background of an image")
        .paid()
        .build()
}

async fn remove_image_background(
    app: SharedApp,
    call: ApiCall<PayingCaller, FormOrJson<images::BackgroundRemovalRequest>>,
) -> Result<PngFileReply, Refusal> {
    let (call, FormOrJson(MultipartForm { fields, files })) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let asked = fields.model.as_deref().unwrap_or(TRAIT);
    let unknown = catalogue.resolve_model(asked, ModelType::Inpaint, call.now).err();
    if fields.model.is_none() && matches!(unknown, Some(ModelResolveError::NotFound { .. })) {
        let message = "No model of this service removes backgrounds.";
        return Err(Refusal::not_found("Specified model not found", message));
    }
    let resolved = call.resolve_model(&catalogue, asked, ModelType::Inpaint)?;
    let model = Arc::clone(resolved.model);
    let engine = app.engines.images(&model)?;
    let given = choose_picture(files, &fields)?;
    let rate = require_inpaint_spec(&model)?.price.edit_rate(None, None);
    let funds = call.hold(&model, 0, HoldRange::Exactly(rate.cost(1).capped(AMOUNT_MAX)))?;

    let studio = ImageProcessor::for_call(&call);
    let picture = given.open(&studio).await?;
    let finish = FinishOptions {
        format: ImageFileFormat::Png,
        is_safe: false,
        mark: None,
        facts: None,
        size: FinishedSize::AsMade,
    };
    let sku = format!("{}-background-remove", model.id);
    let charge =
        payment::unit_charge(&model, ChargeLine { sku, units: 1, rate, per: PriceUnits::One });
    let (watch, _guard) = CancelOnDisconnect::for_engine(engine.as_ref());
    let request = Arc::new(CutOutRequest { picture });
    let paid = funds.run(async move {
        let answer = watch.run_until_disconnect(engine.cut_out(request)).await?;
        let output = finish.finish_image(&studio, answer).await?;
        Ok(WorkResult { output, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| refuse_image(failure, &call.request_id))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let (bytes, format) = (paid.output.file, paid.output.format);
    let file = WithHeaders::new(ReplyImageFile { bytes, format, name: "cut-out" });
    let file = file.header(payment::BALANCE_REMAINING, remaining);
    Ok(PngFileReply(model_headers::write_model_headers(file, &resolved)))
}

/// Accepts exactly one of a file, `image` and `image_url`.
fn choose_picture(
    files: Vec<http_frame::input::UploadedFile>,
    fields: &images::BackgroundRemovalRequest,
) -> Result<SentImage, Refusal> {
    let Some(address) = &fields.image_url else {
        return sent_image::take_one_image(files, "image", fields.image.as_deref());
    };
    if fields.image.is_some() || !files.is_empty() {
        let faults = ValidationFaults::one(["image_url"], "Send either `image` or `image_url`");
        return Err(Refusal::invalid_request(&faults));
    }
    SentImage::from_text("image_url", address)
}
