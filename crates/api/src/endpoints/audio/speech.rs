//! `POST /audio/speech`: speaks a text, as a whole file or streamed by sentence.

mod paid_speech;
mod request;
mod stream;
mod tail;

use std::sync::Arc;

use axum::body::Body;
use credits::{AMOUNT_MAX, Want};
use domain::catalogue::{Catalogue, ModelSpec, ModelType, Resolved, Unresolved};
use domain::limits::tiers::LimitClass;
use domain::voices::{self, Tie};
use wire::audio::SpeechRequest;

use self::paid_speech::PaidSpeech;
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::inference_body::InferenceBody;
use crate::model_headers;
use crate::paid::PaidCall;
use crate::payment;
use crate::refusal::Refusal;
use crate::refusal::model::refuse_model;
use crate::refusal::sound::refuse_speech;
use crate::reply::WithHeaders;
use crate::reply::sound::{Sound, Spoken};

/// The specification's default model.
const MODEL_DEFAULT: &str = "tts-kokoro";
/// Fallback if that model is not in the catalogue: the operator's default.
const TRAIT_DEFAULT: &str = "default";

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/audio/speech", create_speech)
        .tag("Audio")
        .summary("Speak a text")
        .paid()
        .usually(LimitClass::Audio)
        .build()
}

async fn create_speech(
    app: Shared,
    call: Call<Customer, InferenceBody<SpeechRequest>>,
) -> Result<Spoken, Refusal> {
    let (call, InferenceBody(body)) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = resolve(&call, &catalogue, body.model.as_deref()).map_err(refuse_model)?;
    call.note_standing(resolved.model);
    let model = Arc::clone(resolved.model);
    let ModelSpec::Tts(spec) = &model.spec else {
        return Err(Refusal::internal("a speech model without its specification"));
    };
    let engine = app.engines.speech(&model)?;
    let streams = body.streaming == Some(true);
    let tie = Tie { owner: call.holder.owner.id.0, model: &model.id };
    let cloned =
        |handle: &str| app.keys.unseal(|seal| voices::name_of(tie, handle, call.now, seal));
    let request = Arc::new(request::fit(body, &model.id, spec, &cloned)?);
    let characters = u64::try_from(request.input.chars().count()).unwrap_or(u64::MAX);

    let want = Want::Exactly(spec.price.cost(characters).capped(AMOUNT_MAX));
    let funds = call.hold(&model, 0, want)?;
    let held = funds.balance_after_hold();
    let charge = paid_speech::charge(&model, spec.price, characters);
    let speech = PaidSpeech { funds, engine, charge };
    let format = request.format;
    let spoken = if streams {
        let flow = speech.stream(request).await;
        flow.map(|flow| (flow.into_body(), held))
    } else {
        let whole = speech.whole(request).await;
        whole.map(|paid| (Body::from(paid.output), payment::balance_remaining(&paid.receipt)))
    };
    let (body, remaining) =
        spoken.map_err(|failure| refuse_speech(failure, streams, &call.request_id))?;
    let answer = WithHeaders::new(Sound { format, body });
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(Spoken(model_headers::write(answer, &resolved)))
}

fn resolve<'a>(
    call: &PaidCall,
    catalogue: &'a Catalogue,
    asked: Option<&str>,
) -> Result<Resolved<'a>, Unresolved> {
    let find = |name: &str| call.find(catalogue, name, ModelType::Tts);
    match asked {
        Some(name) => find(name),
        None => match find(MODEL_DEFAULT) {
            Err(Unresolved::NotFound { .. }) => find(TRAIT_DEFAULT),
            found => found,
        },
    }
}
