//! `POST /image/generate`: generates images from a prompt.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::catalogue::{CatalogueModel, ImageSpec, ModelSpec, ModelType, ResolvedModel};
use engine::{ImageRequest, StyleReference};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::model_headers;
use http_frame::paid_work::{PaidCall, PaidResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::refusal::image::refuse_image;
use http_frame::reply::WithHeaders;
use http_frame::reply::image::{ImageFileReply, ImageReply, ReplyImageFile};
use http_frame::web::WebWork;
use ledger_core::{AMOUNT_MAX, HoldRange};
use money::WorkCost;
use tokio::time::Instant;
use wire::images::{self, ImageGenerationResult, ImageRequestEcho, ImageTiming, PictureFormat};

use super::batch::{CancelOnDisconnect, GeneratedImages, ImageBatch, add_safety_headers};
use super::finish::{self, FinishOptions};
use super::plan::{self, GenerationPlan, StyleImage};
use crate::endpoints::inference_body::InferenceBody;
use crate::image_processing::ImageProcessor;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/image/generate", generate_image)
        .tag("Images")
        .summary("Generate images")
        .paid()
        .build()
}

async fn generate_image(
    app: SharedApp,
    call: ApiCall<PayingCaller, InferenceBody<images::ImageGenerationRequest>>,
) -> Result<ImageReply, Refusal> {
    let began_at = Instant::now();
    let (call, InferenceBody(mut body)) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve_model(&catalogue, &body.model, ModelType::Image)?;
    let plan = GenerationPlan::from_request(
        &body,
        require_image_spec(resolved.model)?,
        app.entropy.as_ref(),
    )?;
    body.seed = plan.requests.first().map(|it| it.seed);
    let finish = FinishOptions {
        format: finish::to_file_format(body.format.unwrap_or(PictureFormat::Webp)),
        is_safe: body.safe_mode != Some(false),
        mark: app.settings.watermark.clone().filter(|_| body.hide_watermark != Some(true)),
        facts: None,
        size: plan.size,
    };
    let with_facts = body.embed_exif_metadata == Some(true);
    let facts =
        |request| with_facts.then(|| plan::encode_metadata(&body, &resolved.model.id, request));
    let finishes =
        plan.requests.iter().map(|it| FinishOptions { facts: facts(it), ..finish.clone() });
    let finishes = finishes.collect();
    let prepared = began_at.elapsed();
    let paid = generate_images(&app, &call, &resolved, plan, finishes).await?;
    let timing = ImageTiming {
        inference_duration: to_millis(paid.output.inference.saturating_sub(paid.output.waited)),
        inference_preprocessing_time: to_millis(prepared),
        inference_queue_time: to_millis(paid.output.waited),
        total: to_millis(began_at.elapsed()),
    };
    let returns_file = body.return_binary == Some(true);
    build_reply(body, paid, timing, returns_file, &call, &resolved)
}

pub(super) fn require_image_spec(model: &CatalogueModel) -> Result<&ImageSpec, Refusal> {
    match &model.spec {
        ModelSpec::Image(spec) => Ok(spec),
        _ => Err(Refusal::internal("an image model without its specification")),
    }
}

/// Holds the money, generates the images, and charges for those that were made.
pub(super) async fn generate_images(
    app: &SharedApp,
    call: &PaidCall,
    resolved: &ResolvedModel<'_>,
    plan: GenerationPlan,
    finishes: Vec<FinishOptions>,
) -> Result<PaidResult<GeneratedImages>, Refusal> {
    let model = Arc::clone(resolved.model);
    let engine = app.engines.images(&model)?;
    if !plan.styles.is_empty() && !engine.takes_style_references() {
        let message = "The model's provider takes no style references.";
        return Err(Refusal::bad_request("Invalid request parameters", message));
    }
    let most = plan.rate.cost(plan.requests.len() as u64);
    let search = plan.requests.iter().any(|request| request.web_search);
    let search = search.then_some(WebWork::Search);
    let searched = search.map_or_else(WorkCost::default, |work| app.web.prices.cost(work, 1));
    let most = most.plus(searched).capped(AMOUNT_MAX);
    let funds = call.hold(&model, 0, HoldRange::Exactly(most))?;
    let studio = ImageProcessor::for_call(call);
    let mut style_references = Vec::new();
    for StyleImage { given, strength } in plan.styles {
        style_references.push(StyleReference { picture: given.open(&studio).await?, strength });
    }
    let styled = |request| ImageRequest { style_references: style_references.clone(), ..request };
    let (watch, _guard) = CancelOnDisconnect::for_engine(engine.as_ref());
    let painting = ImageBatch {
        studio,
        engine,
        model,
        requests: plan.requests.into_iter().map(styled).map(Arc::new).collect(),
        finishes,
        rate: plan.rate,
        extras: search.map(|work| app.web.prices.charge_line(work, 1)).into_iter().collect(),
    };
    let paid = funds.run(painting.run(watch)).await;
    paid.map_err(|failure| refuse_image(failure, &call.request_id))
}

fn build_reply(
    body: images::ImageGenerationRequest,
    paid: PaidResult<GeneratedImages>,
    timing: ImageTiming,
    returns_file: bool,
    call: &PaidCall,
    resolved: &ResolvedModel<'_>,
) -> Result<ImageReply, Refusal> {
    let remaining = payment::balance_remaining(&paid.receipt);
    let pictures = paid.output.pictures;
    if returns_file {
        let first = pictures.first().ok_or_else(|| Refusal::internal("no picture was made"))?;
        let (bytes, format) = (first.file.clone(), first.format);
        let file = WithHeaders::new(ReplyImageFile { bytes, format, name: "image" });
        let file =
            add_safety_headers(file, &pictures).header(payment::BALANCE_REMAINING, remaining);
        return Ok(ImageReply::File(ImageFileReply(model_headers::write_model_headers(
            file, resolved,
        ))));
    }
    let answer = WithHeaders::new(ImageGenerationResult {
        id: format!("generate-image-{}", call.request_id.as_str()),
        images: pictures.iter().map(|it| BASE64_STANDARD.encode(&it.file)).collect(),
        timing,
        request: ImageRequestEcho { success: true, data: body },
    });
    let answer =
        add_safety_headers(answer, &pictures).header(payment::BALANCE_REMAINING, remaining);
    Ok(ImageReply::Json(Box::new(model_headers::write_model_headers(answer, resolved))))
}

fn to_millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
