//! `POST /image/upscale`: enlarges an image.

use std::sync::Arc;

use credits::{AMOUNT_MAX, Want};
use domain::catalogue::{ModelSpec, ModelType};
use engine::{Picture, PictureSize};
use ledger::ChargeLine;
use money::Per;
use pictures::Format;
use schema_check::Faults;
use wire::images::UpscaleRequest;

use super::TRAIT_DEFAULT;
use super::finish::{Finish, FinishedSize};
use super::painted::Watch;
use super::sent_picture;
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::input::{FileFields, Form, FormOrJson};
use crate::model_headers;
use crate::paid::{PaidCall, Produced};
use crate::payment;
use crate::picture_work::Studio;
use crate::refusal::Refusal;
use crate::refusal::picture::refuse_picture;
use crate::reply::WithHeaders;
use crate::reply::picture::{PictureFile, PngPictured};

const SCALE_DEFAULT: f64 = 2.0;
const CREATIVITY_DEFAULT: f64 = 0.5;
/// Limit for the enlarged image.
const PIXELS_MAX: u64 = 16_777_216;

impl FileFields for UpscaleRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["image"];
}

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/image/upscale", upscale_image)
        .tag("Images")
        .summary("Enlarge a picture")
        .paid()
        .build()
}

async fn upscale_image(
    app: Shared,
    call: Call<Customer, FormOrJson<UpscaleRequest>>,
) -> Result<PngPictured, Refusal> {
    let (call, FormOrJson(Form { fields, files })) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let asked = fields.model.as_deref().unwrap_or(TRAIT_DEFAULT);
    let resolved = call.resolve(&catalogue, asked, ModelType::Upscale)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Upscale(spec) = &model.spec else {
        return Err(Refusal::internal("an upscale model without its specification"));
    };
    let engine = app.engines.images(&model)?;
    let scale = scale(&fields)?;
    let given = sent_picture::one(files, "image", fields.image.as_deref())?;
    let rate = spec.price.upscale.by(scale);
    let funds = call.hold(&model, 0, Want::Exactly(rate.cost(1).capped(AMOUNT_MAX)))?;

    let studio = Studio::of(&call);
    let picture = given.open(&studio).await?;
    let size = enlarged(&picture, scale)?;
    let request = Arc::new(request(fields, picture, scale, size));
    let finish = Finish {
        format: Format::Png,
        is_safe: false,
        mark: None,
        facts: None,
        size: FinishedSize::Pixels(size),
    };
    let step = if scale <= 2.0 { "2x" } else { "4x" };
    let sku = format!("{}-upscale-{step}", model.id);
    let charge = payment::unit_charge(&model, ChargeLine { sku, units: 1, rate, per: Per::One });
    let (watch, _guard) = Watch::over(engine.as_ref());
    let paid = funds.run(async move {
        let answer = watch.during(engine.upscale(request)).await?;
        let output = finish.apply(&studio, answer).await?;
        Ok(Produced { output, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| refuse_picture(failure, &call.request_id))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let (bytes, format) = (paid.output.file, paid.output.format);
    let file = WithHeaders::new(PictureFile { bytes, format, name: "upscaled" });
    let file = file.header(payment::BALANCE_REMAINING, remaining);
    Ok(PngPictured(model_headers::write(file, &resolved)))
}

/// The scale. With a scale of 1, `enhance` is required.
fn scale(fields: &UpscaleRequest) -> Result<f64, Refusal> {
    let scale = fields.scale.unwrap_or(SCALE_DEFAULT);
    let enhances = fields.enhance == Some(true);
    if scale <= 1.0 && !enhances {
        let faults = Faults::one(["enhance"], "Must be true when `scale` is 1");
        return Err(Refusal::invalid(&faults));
    }
    Ok(scale)
}

fn enlarged(picture: &Picture, scale: f64) -> Result<PictureSize, Refusal> {
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
    Err(Refusal::invalid(&Faults::one(["scale"], message)))
}

fn request(
    fields: UpscaleRequest,
    picture: Picture,
    scale: f64,
    size: PictureSize,
) -> engine::UpscaleRequest {
    let enhances = fields.enhance == Some(true);
    let older = enhances.then(|| fields.enhance_creativity.unwrap_or(CREATIVITY_DEFAULT));
    let prompt = fields.enhance_prompt.filter(|it| enhances && !it.is_empty());
    let creativity = older.or(fields.creativity);
    engine::UpscaleRequest { picture, scale, size, creativity, prompt }
}
