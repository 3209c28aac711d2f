//! `POST /image/generate`: generates images from a prompt.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use credits::{AMOUNT_MAX, Want};
use domain::catalogue::{ImageSpec, Model, ModelSpec, ModelType, Resolved};
use engine::{ImageRequest, StyleReference};
use money::Cost;
use tokio::time::Instant;
use wire::images::{self, Generated, ImageFormat, RequestEcho, Timing};

use super::finish::{self, Finish};
use super::painted::{Painted, Painting, Watch, with_verdicts};
use super::plan::{self, Plan, Style};
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::inference_body::InferenceBody;
use crate::model_headers;
use crate::paid::{Paid, PaidCall};
use crate::payment;
use crate::picture_work::Studio;
use crate::refusal::Refusal;
use crate::refusal::picture::refuse_picture;
use crate::reply::WithHeaders;
use crate::reply::picture::{Generation, PictureFile, Pictured};
use crate::web::WebWork;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/image/generate", generate_image)
        .tag("Images")
        .summary("Make pictures")
        .paid()
        .build()
}

async fn generate_image(
    app: Shared,
    call: Call<Customer, InferenceBody<images::ImageRequest>>,
) -> Result<Generation, Refusal> {
    let began_at = Instant::now();
    let (call, InferenceBody(mut body)) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve(&catalogue, &body.model, ModelType::Image)?;
    let plan = Plan::of(&body, spec(resolved.model)?, app.entropy.as_ref())?;
    body.seed = plan.requests.first().map(|it| it.seed);
    let finish = Finish {
        format: finish::format(body.format.unwrap_or(ImageFormat::Webp)),
        is_safe: body.safe_mode != Some(false),
        mark: app.settings.watermark.clone().filter(|_| body.hide_watermark != Some(true)),
        facts: None,
        size: plan.size,
    };
    let with_facts = body.embed_exif_metadata == Some(true);
    let facts = |request| with_facts.then(|| plan::facts(&body, &resolved.model.id, request));
    let finishes = plan.requests.iter().map(|it| Finish { facts: facts(it), ..finish.clone() });
    let finishes = finishes.collect();
    let prepared = began_at.elapsed();
    let paid = paint(&app, &call, &resolved, (plan, finishes)).await?;
    let timing = Timing {
        inference_duration: ms(paid.output.inference.saturating_sub(paid.output.waited)),
        inference_preprocessing_time: ms(prepared),
        inference_queue_time: ms(paid.output.waited),
        total: ms(began_at.elapsed()),
    };
    let returns_file = body.return_binary == Some(true);
    reply(body, paid, timing, returns_file, &call, &resolved)
}

pub(super) fn spec(model: &Model) -> Result<&ImageSpec, Refusal> {
    match &model.spec {
        ModelSpec::Image(spec) => Ok(spec),
        _ => Err(Refusal::internal("an image model without its specification")),
    }
}

/// Holds the money, generates the images, and charges for those that were made.
pub(super) async fn paint(
    app: &Shared,
    call: &PaidCall,
    resolved: &Resolved<'_>,
    (plan, finishes): (Plan, Vec<Finish>),
) -> Result<Paid<Painted>, Refusal> {
    let model = Arc::clone(resolved.model);
    let engine = app.engines.images(&model)?;
    if !plan.styles.is_empty() && !engine.takes_style_references() {
        let message = "The model's provider takes no style references.";
        return Err(Refusal::bad_request("Invalid request parameters", message));
    }
    let most = plan.rate.cost(plan.requests.len() as u64);
    let search = plan.requests.iter().any(|request| request.web_search);
    let search = search.then_some(WebWork::Search);
    let searched = search.map_or_else(Cost::default, |work| app.web.prices.cost(work, 1));
    let most = most.plus(searched).capped(AMOUNT_MAX);
    let funds = call.hold(&model, 0, Want::Exactly(most))?;
    let studio = Studio::of(call);
    let mut style_references = Vec::new();
    for Style { given, strength } in plan.styles {
        style_references.push(StyleReference { picture: given.open(&studio).await?, strength });
    }
    let styled = |request| ImageRequest { style_references: style_references.clone(), ..request };
    let (watch, _guard) = Watch::over(engine.as_ref());
    let painting = Painting {
        studio,
        engine,
        model,
        requests: plan.requests.into_iter().map(styled).map(Arc::new).collect(),
        finishes,
        rate: plan.rate,
        extras: search.map(|work| app.web.prices.line(work, 1)).into_iter().collect(),
    };
    let paid = funds.run(painting.run(watch)).await;
    paid.map_err(|failure| refuse_picture(failure, &call.request_id))
}

fn reply(
    body: images::ImageRequest,
    paid: Paid<Painted>,
    timing: Timing,
    returns_file: bool,
    call: &PaidCall,
    resolved: &Resolved<'_>,
) -> Result<Generation, Refusal> {
    let remaining = payment::balance_remaining(&paid.receipt);
    let pictures = paid.output.pictures;
    if returns_file {
        let first = pictures.first().ok_or_else(|| Refusal::internal("no picture was made"))?;
        let (bytes, format) = (first.file.clone(), first.format);
        let file = WithHeaders::new(PictureFile { bytes, format, name: "image" });
        let file = with_verdicts(file, &pictures).header(payment::BALANCE_REMAINING, remaining);
        return Ok(Generation::File(Pictured(model_headers::write(file, resolved))));
    }
    let answer = WithHeaders::new(Generated {
        id: format!("generate-image-{}", call.request_id.as_str()),
        images: pictures.iter().map(|it| BASE64_STANDARD.encode(&it.file)).collect(),
        timing,
        request: RequestEcho { success: true, data: body },
    });
    let answer = with_verdicts(answer, &pictures).header(payment::BALANCE_REMAINING, remaining);
    Ok(Generation::Json(Box::new(model_headers::write(answer, resolved))))
}

fn ms(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
