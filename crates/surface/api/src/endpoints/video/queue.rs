//! `POST /video/queue`: holds the price of a video and queues it.

use std::sync::Arc;

use domain::catalogue::{
    Catalogue, CatalogueModel, ContentPrivacy, ModelSelection, ModelSpec, ModelType,
};
use engine::MediaRequest;
use http_frame::app::SharedApp;
use http_frame::base_paths::BASE_PATH;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{IdempotencyHeader, JsonWithBytes};
use http_frame::keyed_work;
use http_frame::model_headers::build_model_headers;
use http_frame::paid_work::PaidCall;
use http_frame::paid_work::queued_job::{self, JobDescription, draw_seed};
use http_frame::refusal::Refusal;
use http_frame::reply::queued_job::QueuedReply;
use moment::Timestamp;
use rpc::idempotency::RequestFingerprint;
use store::job::JobKind;
use wire::video::{VideoQueueRequest, VideoQueued};

use super::{frames, request};
use crate::image_processing::ImageProcessor;

const PATH: &str = "/video/queue";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post(PATH, queue_video).tag("Video").summary("Queue a video").paid().build()
}

async fn queue_video(
    app: SharedApp,
    call: ApiCall<PayingCaller, (IdempotencyHeader, JsonWithBytes<VideoQueueRequest>)>,
) -> Result<QueuedReply<VideoQueued>, Refusal> {
    let (call, (IdempotencyHeader(key), JsonWithBytes { body, bytes })) =
        PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve_model(&catalogue, &body.model, ModelType::Video)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Video(spec) = &model.spec else {
        return Err(Refusal::internal("a video model without its specification"));
    };
    let engine = app.engines.media(&model)?;
    let (hosts, addresses) = (&app.settings.hosts, request::list_urls(&body).into_iter());
    let hosts = hosts.check_hosts(addresses, call.reader_caller_id(), call.now).await?;
    let mut request = request::build_video_request(body, spec, &hosts, engine.accepts_urls())?;
    request.seed = draw_seed(&app);
    let has_audio = request::has_audio(request.has_audio, spec);
    let lines = spec.price.lines(request.duration_s, request.resolution.as_deref(), has_audio);
    let opening = frames::build_frame_step(&request, &engine, ImageProcessor::for_call(&call));
    let request = MediaRequest::Video(request);
    if opening.is_none() {
        queued_job::check_media_request(engine.as_ref(), &request)?;
    }
    let has_link = model.privacy == ContentPrivacy::Private;
    let wanted = JobDescription {
        kind: JobKind::Video,
        request,
        opening,
        lines,
        alternative: find_alternative(&catalogue, &model, call.now),
        has_link,
    };
    let id = model.id.clone();
    let order = call.order_job(&model, wanted, move |app, job| VideoQueued {
        model: id,
        queue_id: job.0.to_string(),
        download_url: has_link
            .then(|| format!("{}{BASE_PATH}{}", app.settings.public_url, app.jobs.sign_link(job))),
    })?;
    let fingerprint = || RequestFingerprint::of_request("POST", PATH, &bytes);
    let given = keyed_work::run_keyed(&app, order, key, fingerprint).await?;
    Ok(QueuedReply::new(given, build_model_headers(&resolved)))
}

/// Another video model, suggested if this one's provider refuses the prompt.
fn find_alternative(
    catalogue: &Catalogue,
    model: &CatalogueModel,
    now: Timestamp,
) -> Option<String> {
    let mut others = catalogue.list(ModelSelection::Type(ModelType::Video), now);
    let other = others.find(|other| other.id != model.id && !other.offline);
    other.map(|other| other.id.clone())
}
