//! `POST /image/background-remove`: removes the background of an image.

use std::sync::Arc;

use credits::{AMOUNT_MAX, Want};
use domain::catalogue::{ModelType, Unresolved};
use engine::CutOutRequest;
use ledger::ChargeLine;
use money::Per;
use pictures::Format;
use schema_check::Faults;
use wire::images;

use super::edit::spec;
use super::finish::{Finish, FinishedSize};
use super::painted::Watch;
use super::sent_picture::{self, SentPicture};
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

/// Trait of the default model for this endpoint.
const TRAIT: &str = "background_remove";

impl FileFields for images::CutOutRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["image", "image_url"];
}

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/image/background-remove", remove_image_background)
        .tag("Images")
        .summary("Remove a picture's background")
        .paid()
        .build()
}

async fn remove_image_background(
    app: Shared,
    call: Call<Customer, FormOrJson<images::CutOutRequest>>,
) -> Result<PngPictured, Refusal> {
    let (call, FormOrJson(Form { fields, files })) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let asked = fields.model.as_deref().unwrap_or(TRAIT);
    let unknown = catalogue.resolve(asked, ModelType::Inpaint, call.now).err();
    if fields.model.is_none() && matches!(unknown, Some(Unresolved::NotFound { .. })) {
        let message = "No model of this service removes backgrounds.";
        return Err(Refusal::not_found("Specified model not found", message));
    }
    let resolved = call.resolve(&catalogue, asked, ModelType::Inpaint)?;
    let model = Arc::clone(resolved.model);
    let engine = app.engines.images(&model)?;
    let given = picture(files, &fields)?;
    let rate = spec(&model)?.price.edit(None, None);
    let funds = call.hold(&model, 0, Want::Exactly(rate.cost(1).capped(AMOUNT_MAX)))?;

    let studio = Studio::of(&call);
    let picture = given.open(&studio).await?;
    let finish = Finish {
        format: Format::Png,
        is_safe: false,
        mark: None,
        facts: None,
        size: FinishedSize::AsMade,
    };
    let sku = format!("{}-background-remove", model.id);
    let charge = payment::unit_charge(&model, ChargeLine { sku, units: 1, rate, per: Per::One });
    let (watch, _guard) = Watch::over(engine.as_ref());
    let request = Arc::new(CutOutRequest { picture });
    let paid = funds.run(async move {
        let answer = watch.during(engine.cut_out(request)).await?;
        let output = finish.apply(&studio, answer).await?;
        Ok(Produced { output, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| refuse_picture(failure, &call.request_id))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let (bytes, format) = (paid.output.file, paid.output.format);
    let file = WithHeaders::new(PictureFile { bytes, format, name: "cut-out" });
    let file = file.header(payment::BALANCE_REMAINING, remaining);
    Ok(PngPictured(model_headers::write(file, &resolved)))
}

/// Accepts exactly one of a file, `image` and `image_url`.
fn picture(
    files: Vec<crate::input::Upload>,
    fields: &images::CutOutRequest,
) -> Result<SentPicture, Refusal> {
    let Some(address) = &fields.image_url else {
        return sent_picture::one(files, "image", fields.image.as_deref());
    };
    if fields.image.is_some() || !files.is_empty() {
        let faults = Faults::one(["image_url"], "Send either `image` or `image_url`");
        return Err(Refusal::invalid(&faults));
    }
    SentPicture::text("image_url", address)
}
