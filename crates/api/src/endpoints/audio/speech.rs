//! `POST /audio/speech`: a text is spoken, as a whole file or sentence by sentence.

mod job;
mod request;
mod stream;
mod tail;

use std::sync::Arc;

use axum::body::Body;
use credits::{AMOUNT_MAX, Want};
use domain::catalogue::{Catalogue, ModelSpec, ModelType, Resolved, Unresolved};
use moment::Timestamp;
use wire::audio::SpeechRequest;

use self::job::Job;
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::inference_body::InferenceBody;
use crate::endpoints::models::get::refuse_model;
use crate::model_headers;
use crate::payment;
use crate::purse::{Errand, Purse};
use crate::refusal::Refusal;
use crate::refusal::sound::refuse_speech;
use crate::reply::Answer;
use crate::reply::sound::{Sound, Spoken};

/// What the specification names for requests that name none.
const MODEL_DEFAULT: &str = "tts-kokoro";
/// The operator's choice, where that model is not on offer.
const TRAIT_DEFAULT: &str = "default";

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/audio/speech", create_speech)
        .tag("Audio")
        .summary("Speak a text")
        .limited_by_model()
        .refuses(403, "The model is not available in the caller's country")
        .refuses(404, "There is no such model; the message names the nearest")
        .refuses(410, "The model was removed and nothing answers in its place")
        .refuses(422, "The content is against the policy of the model's provider")
        .refuses(504, "The model took too long")
        .build()
}

async fn create_speech(
    app: Shared,
    call: Call<Customer, InferenceBody<SpeechRequest>>,
) -> Result<Spoken, Refusal> {
    let (Customer(holder), InferenceBody(body)) = (call.caller, call.input);
    let catalogue = app.catalogue.get();
    let resolved = resolve(&catalogue, body.model.as_deref(), call.now);
    let resolved = resolved.and_then(|it| it.served_in(call.country)).map_err(refuse_model)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Tts(spec) = &model.spec else {
        return Err(Refusal::internal("a speech model without its specification"));
    };
    let engine = app.engines.speech(&model)?;
    let streams = body.streaming == Some(true);
    let request = Arc::new(request::fit(body, &model.id, spec)?);
    let characters = u64::try_from(request.input.chars().count()).unwrap_or(u64::MAX);

    let errand = Errand {
        holder: &holder,
        model: &model,
        request_id: &call.request_id,
        standing: &call.standing,
    };
    let want = Want::Exactly(spec.price.cost(characters).capped(AMOUNT_MAX));
    let purse = Purse::open(&app, errand, 0, want)?;
    let held = purse.balance_after_hold();
    let rate = spec.price;
    let job = Job { purse, model: Arc::clone(&model), rate, engine, characters };
    let format = request.format;
    let spoken = if streams {
        let flow = job.stream(request).await;
        flow.map(|flow| (flow.into_body(), held))
    } else {
        let whole = job.whole(request).await;
        whole.map(|(sound, receipt)| (Body::from(sound), payment::balance_remaining(&receipt)))
    };
    let (body, remaining) =
        spoken.map_err(|failure| refuse_speech(failure, streams, &call.request_id))?;
    let answer = Answer::new(Sound { format, body });
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(Spoken(model_headers::write(answer, &resolved)))
}

fn resolve<'a>(
    catalogue: &'a Catalogue,
    asked: Option<&str>,
    now: Timestamp,
) -> Result<Resolved<'a>, Unresolved> {
    let find = |name: &str| catalogue.resolve(name, ModelType::Tts, now);
    match asked {
        Some(name) => find(name),
        None => match find(MODEL_DEFAULT) {
            Err(Unresolved::NotFound { .. }) => find(TRAIT_DEFAULT),
            found => found,
        },
    }
}
