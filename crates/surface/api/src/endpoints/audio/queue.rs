//! `POST /audio/queue`: holds the price of a piece of music and queues it.

use std::sync::Arc;

use domain::catalogue::{ModelSpec, ModelType};
use engine::MediaRequest;
use http_frame::app::SharedApp;
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
use rpc::idempotency::RequestFingerprint;
use store::job::JobKind;
use wire::audio::{AudioQueueRequest, AudioQueued, QueuedStatus};

use super::music;

const PATH: &str = "/audio/queue";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post(PATH, queue_audio)
        .tag("Audio")
        .summary("Queue a piece of music")
        .paid()
        .build()
}

async fn queue_audio(
    app: SharedApp,
    call: ApiCall<PayingCaller, (IdempotencyHeader, JsonWithBytes<AudioQueueRequest>)>,
) -> Result<QueuedReply<AudioQueued>, Refusal> {
    let (call, (IdempotencyHeader(key), JsonWithBytes { body, bytes })) =
        PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve_model(&catalogue, &body.model, ModelType::Music)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Music(spec) = &model.spec else {
        return Err(Refusal::internal("a music model without its specification"));
    };
    let engine = app.engines.media(&model)?;
    let mut request = music::build_music_request(body, spec)?;
    request.seed = draw_seed(&app);
    let line = music::build_price_line(
        spec,
        request.duration_s,
        Some(music::count_request_characters(&request)),
    )?;
    let request = MediaRequest::Music(request);
    queued_job::check_media_request(engine.as_ref(), &request)?;
    let wanted = JobDescription {
        kind: JobKind::Music,
        request,
        opening: None,
        lines: vec![line],
        alternative: None,
        has_link: false,
    };
    let id = model.id.clone();
    let order = call.order_job(&model, wanted, move |_, job| AudioQueued {
        model: id,
        queue_id: job.0.to_string(),
        status: QueuedStatus::Queued,
    })?;
    let fingerprint = || RequestFingerprint::of_request("POST", PATH, &bytes);
    let given = keyed_work::run_keyed(&app, order, key, fingerprint).await?;
    Ok(QueuedReply::new(given, build_model_headers(&resolved)))
}
