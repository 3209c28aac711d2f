//! `POST /audio/speech`: speaks a text, as a whole file or streamed by sentence.

mod paid_speech;
mod request;
mod stream;
mod tail;

use std::sync::Arc;

use axum::body::Body;
use domain::catalogue::{Catalogue, ModelResolveError, ModelSpec, ModelType, ResolvedModel};
use domain::limits::tiers::LimitClass;
use domain::voices::{self, VoiceBinding};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::model_headers;
use http_frame::paid_work::PaidCall;
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::refusal::audio::refuse_speech;
use http_frame::refusal::model::refuse_model;
use http_frame::reply::WithHeaders;
use http_frame::reply::audio::{SpeechAudio, SpeechReply};
use ledger_core::{AMOUNT_MAX, HoldRange};
use wire::audio::SpeechRequest;

use self::paid_speech::PaidSpeech;
use crate::endpoints::inference_body::InferenceBody;

/// The specification's default model.
const MODEL_DEFAULT: &str = "tts-kokoro";
/// Fallback if that model is not in the catalogue: the operator's default.
const TRAIT_DEFAULT: &str = "default";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/audio/speech", create_speech)
        .tag("Audio")
        .summary("Convert text to speech")
        .paid()
        .usual_class(LimitClass::Audio)
        .build()
}

async fn create_speech(
    app: SharedApp,
    call: ApiCall<PayingCaller, InferenceBody<SpeechRequest>>,
) -> Result<SpeechReply, Refusal> {
    let (call, InferenceBody(body)) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let resolved =
        resolve_speech_model(&call, &catalogue, body.model.as_deref()).map_err(refuse_model)?;
    call.set_rate_limit(resolved.model);
    let model = Arc::clone(resolved.model);
    let ModelSpec::Tts(spec) = &model.spec else {
        return Err(Refusal::internal("a speech model without its specification"));
    };
    let engine = app.engines.speech(&model)?;
    let streams = body.streaming == Some(true);
    let tie = VoiceBinding { owner: call.holder.owner.id.0, model: &model.id };
    let cloned = |handle: &str| {
        app.keys.verify_with_peppers(|seal| voices::open_voice_handle(tie, handle, call.now, seal))
    };
    let request = Arc::new(request::build_speech_request(body, &model.id, spec, &cloned)?);
    let characters = u64::try_from(request.input.chars().count()).unwrap_or(u64::MAX);

    let want = HoldRange::Exactly(spec.price.cost(characters).capped(AMOUNT_MAX));
    let funds = call.hold(&model, 0, want)?;
    let held = funds.balance_after_hold();
    let charge = paid_speech::build_charge(&model, spec.price, characters);
    let speech = PaidSpeech { funds, engine, charge };
    let format = request.format;
    let spoken = if streams {
        let flow = speech.start_stream(request).await;
        flow.map(|flow| (flow.into_body(), held))
    } else {
        let whole = speech.speak_whole(request).await;
        whole.map(|paid| (Body::from(paid.output), payment::balance_remaining(&paid.receipt)))
    };
    let (body, remaining) =
        spoken.map_err(|failure| refuse_speech(failure, streams, &call.request_id))?;
    let answer = WithHeaders::new(SpeechAudio { format, body });
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(SpeechReply(model_headers::write_model_headers(answer, &resolved)))
}

fn resolve_speech_model<'a>(
    call: &PaidCall,
    catalogue: &'a Catalogue,
    asked: Option<&str>,
) -> Result<ResolvedModel<'a>, ModelResolveError> {
    let find = |name: &str| call.find_model(catalogue, name, ModelType::Tts);
    match asked {
        Some(name) => find(name),
        None => match find(MODEL_DEFAULT) {
            Err(ModelResolveError::NotFound { .. }) => find(TRAIT_DEFAULT),
            found => found,
        },
    }
}
