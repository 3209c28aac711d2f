//! `POST /image/upscale`: enlarges an image.

use std::sync::Arc;

use domain::catalogue::{ModelSpec, ModelType};
use engine::{ImageFile, PictureSize};
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
use wire::images::ImageUpscaleRequest;

use super::TRAIT_DEFAULT;
use super::batch::CancelOnDisconnect;
use super::finish::{FinishOptions, FinishedSize};
use super::sent_image;
use crate::image_processing::ImageProcessor;

const SCALE_DEFAULT: f64 = 2.0;
const CREATIVITY_DEFAULT: f64 = 0.5;
/// Limit for the enlarged image.
const PIXELS_MAX: u64 = 16_777_216;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/image/upscale", upscale_image)
        .tag("Images")
        .summary("Upscale an image")
        .paid()
        .build()
}

async fn upscale_image(
    app: SharedApp,
    call: ApiCall<PayingCaller, FormOrJson<ImageUpscaleRequest>>,
) -> Result<PngFileReply, Refusal> {
    let (call, FormOrJson(MultipartForm { fields, files })) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let asked = fields.model.as_deref().unwrap_or(TRAIT_DEFAULT);
    let resolved = call.resolve_model(&catalogue, asked, ModelType::Upscale)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Upscale(spec) = &model.spec else {
        return Err(Refusal::internal("an upscale model without its specification"));
    };
    let engine = app.engines.images(&model)?;
    let scale = resolve_scale(&fields)?;
    let given = sent_image::take_one_image(files, "image", fields.image.as_deref())?;
    let rate = spec.price.upscale.rate_for_scale(scale);
    let funds = call.hold(&model, 0, HoldRange::Exactly(rate.cost(1).capped(AMOUNT_MAX)))?;

    let studio = ImageProcessor::for_call(&call);
    let picture = given.open(&studio).await?;
    let size = compute_enlarged_size(&picture, scale)?;
    let request = Arc::new(build_request(fields, picture, scale, size));
    let finish = FinishOptions {
        format: ImageFileFormat::Png,
        is_safe: false,
        mark: None,
        facts: None,
        size: FinishedSize::Pixels(size),
    };
    let step = if scale <= 2.0 { "2x" } else { "4x" };
    let sku = format!("{}-upscale-{step}", model.id);
    let charge =
        payment::unit_charge(&model, ChargeLine { sku, units: 1, rate, per: PriceUnits::One });
    let (watch, _guard) = CancelOnDisconnect::for_engine(engine.as_ref());
    let paid = funds.run(async move {
        let answer = watch.run_until_disconnect(engine.upscale(request)).await?;
        let output = finish.finish_image(&studio, answer).await?;
        Ok(WorkResult { output, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| refuse_image(failure, &call.request_id))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let (bytes, format) = (paid.output.file, paid.output.format);
    let file = WithHeaders::new(ReplyImageFile { bytes, format, name: "upscaled" });
    let file = file.header(payment::BALANCE_REMAINING, remaining);
    Ok(PngFileReply(model_headers::write_model_headers(file, &resolved)))
}

/// The scale. With a scale of 1, `enhance` is required.
fn resolve_scale(fields: &ImageUpscaleRequest) -> Result<f64, Refusal> {
    let scale = fields.scale.unwrap_or(SCALE_DEFAULT);
    let enhances = fields.enhance == Some(true);
    if scale <= 1.0 && !enhances {
        let faults = ValidationFaults::one(["enhance"], "Must be true when `scale` is 1");
        return Err(Refusal::invalid_request(&faults));
    }
    Ok(scale)
}

fn compute_enlarged_size(picture: &ImageFile, scale: f64) -> Result<PictureSize, Refusal> {
    let side = |side: u32| (f64::from(side) * scale).round() as u32;
    let size = PictureSize { width: side(picture.size.width), height: side(picture.size.height) };
    if size.pixels() <= PIXELS_MAX {
        return Ok(size);
    }
    let message = format!(
        "Enlarged, the picture would have {} × {} pixels, which is more than {PIXELS_MAX}. Send a \
         smaller one, or a smaller `scale`.",
        size.width, size.height
    );
    Err(Refusal::invalid_request(&ValidationFaults::one(["scale"], message)))
}

fn build_request(
    fields: ImageUpscaleRequest,
    picture: ImageFile,
    scale: f64,
    size: PictureSize,
) -> engine::UpscaleRequest {
    let enhances = fields.enhance == Some(true);
    let older = enhances.then(|| fields.enhance_creativity.unwrap_or(CREATIVITY_DEFAULT));
    let prompt = fields.enhance_prompt.filter(|it| enhances && !it.is_empty());
    let creativity = older.or(fields.creativity);
    engine::UpscaleRequest { picture, scale, size, creativity, prompt }
}
