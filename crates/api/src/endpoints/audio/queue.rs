//! `POST /audio/queue`: holds the price of a piece of music and queues it.

use std::sync::Arc;

use domain::catalogue::{ModelSpec, ModelType};
use engine::MediaRequest;
use rpc::idempotency::Fingerprint;
use store::job::JobKind;
use wire::audio::{AudioQueueRequest, AudioQueued, QueuedStatus};

use super::music;
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::input::{Idempotency, Original};
use crate::keyed;
use crate::paid::PaidCall;
use crate::paid::queued::{self, Wanted, seed};
use crate::refusal::Refusal;
use crate::reply::queued::Queued;

const PATH: &str = "/audio/queue";

pub(crate) fn endpoint() -> Endpoint {
    Draft::post(PATH, queue_audio).tag("Audio").summary("Queue a piece of music").paid().build()
}

async fn queue_audio(
    app: Shared,
    call: Call<Customer, (Idempotency, Original<AudioQueueRequest>)>,
) -> Result<Queued<AudioQueued>, Refusal> {
    let (call, (Idempotency(key), Original { body, bytes })) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve(&catalogue, &body.model, ModelType::Music)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Music(spec) = &model.spec else {
        return Err(Refusal::internal("a music model without its specification"));
    };
    let engine = app.engines.media(&model)?;
    let mut request = music::request(body, spec)?;
    request.seed = seed(&app);
    let line = music::line(spec, request.duration_s, Some(music::characters(&request)))?;
    let request = MediaRequest::Music(request);
    queued::check(engine.as_ref(), &request)?;
    let wanted = Wanted {
        kind: JobKind::Music,
        request,
        opening: None,
        lines: vec![line],
        alternative: None,
        has_link: false,
    };
    let id = model.id.clone();
    let order = call.order(&model, wanted, move |_, job| AudioQueued {
        model: id,
        queue_id: job.0.to_string(),
        status: QueuedStatus::Queued,
    })?;
    let fingerprint = || Fingerprint::of("POST", PATH, &bytes);
    let given = keyed::run(&app, order, key, fingerprint).await?;
    Ok(Queued::new(given, &resolved))
}
