//! `POST /video/queue`: holds the price of a video and queues it.

use std::sync::Arc;

use domain::catalogue::{Catalogue, Model, ModelSpec, ModelType, Privacy, Selection};
use engine::MediaRequest;
use moment::Timestamp;
use rpc::idempotency::Fingerprint;
use store::job::JobKind;
use wire::video::{VideoQueueRequest, VideoQueued};

use super::{frames, request};
use crate::BASE_PATH;
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::input::{Idempotency, Original};
use crate::keyed;
use crate::paid::PaidCall;
use crate::paid::queued::{self, Wanted, seed};
use crate::picture_work::Studio;
use crate::refusal::Refusal;
use crate::reply::queued::Queued;

const PATH: &str = "/video/queue";

pub(crate) fn endpoint() -> Endpoint {
    Draft::post(PATH, queue_video).tag("Video").summary("Queue a video").paid().build()
}

async fn queue_video(
    app: Shared,
    call: Call<Customer, (Idempotency, Original<VideoQueueRequest>)>,
) -> Result<Queued<VideoQueued>, Refusal> {
    let (call, (Idempotency(key), Original { body, bytes })) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve(&catalogue, &body.model, ModelType::Video)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Video(spec) = &model.spec else {
        return Err(Refusal::internal("a video model without its specification"));
    };
    let engine = app.engines.media(&model)?;
    let (hosts, addresses) = (&app.settings.hosts, request::addresses(&body).into_iter());
    let hosts = hosts.judge(addresses, call.reads_for(), call.now).await?;
    let mut request = request::request(body, spec, &hosts, engine.takes_addresses())?;
    request.seed = seed(&app);
    let has_audio = request::has_audio(request.has_audio, spec);
    let lines = spec.price.lines(request.duration_s, request.resolution.as_deref(), has_audio);
    let opening = frames::opening(&request, &engine, Studio::of(&call));
    let request = MediaRequest::Video(request);
    if opening.is_none() {
        queued::check(engine.as_ref(), &request)?;
    }
    let has_link = model.privacy == Privacy::Private;
    let wanted = Wanted {
        kind: JobKind::Video,
        request,
        opening,
        lines,
        alternative: alternative(&catalogue, &model, call.now),
        has_link,
    };
    let id = model.id.clone();
    let order = call.order(&model, wanted, move |app, job| VideoQueued {
        model: id,
        queue_id: job.0.to_string(),
        download_url: has_link
            .then(|| format!("{}{BASE_PATH}{}", app.settings.public_url, app.jobs.link(job))),
    })?;
    let fingerprint = || Fingerprint::of("POST", PATH, &bytes);
    let given = keyed::run(&app, order, key, fingerprint).await?;
    Ok(Queued::new(given, &resolved))
}

/// Another video model, suggested if this one's provider refuses the prompt.
fn alternative(catalogue: &Catalogue, model: &Model, now: Timestamp) -> Option<String> {
    let mut others = catalogue.list(Selection::Type(ModelType::Video), now);
    let other = others.find(|other| other.id != model.id && !other.offline);
    other.map(|other| other.id.clone())
}
