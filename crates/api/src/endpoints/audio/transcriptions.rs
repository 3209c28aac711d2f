//! `POST /audio/transcriptions`: transcribes a recording.

mod price;
mod request;
mod subtitles;
mod write;

use std::sync::Arc;
use std::time::Duration;

use credits::Want;
use domain::catalogue::{Catalogue, ModelSpec, ModelType, Resolved};
use domain::limits::tiers::LimitClass;
use engine::TranscriptionEngine;
use ledger::Charge;
use reader::ReaderError;
use reader::tasks::recording;
use wire::audio::TranscriptionRequest;

use self::price::SecondPrice;
pub(super) use self::price::heard;
use self::request::Wish;
pub(super) use self::request::one_file;
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::input::Form;
use crate::model_headers;
use crate::paid::{PaidCall, Produced};
use crate::payment;
use crate::refusal::Refusal;
use crate::refusal::sound::refuse_transcription;
use crate::reply::WithHeaders;
use crate::reply::written::Written;

/// The shortest billed length of a recording.
pub(super) const ONE_SECOND: Duration = Duration::from_secs(1);
/// Default model: the operator's choice.
const TRAIT_DEFAULT: &str = "default";

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/audio/transcriptions", create_transcription)
        .tag("Audio")
        .summary("Write down what is said")
        .paid()
        .usually(LimitClass::Audio)
        .refuses(400, "There is no file, or its content is no sound that is known")
        .refuses(502, "The model failed")
        .build()
}

async fn create_transcription(
    app: Shared,
    call: Call<Customer, Form<TranscriptionRequest>>,
) -> Result<Written, Refusal> {
    let (call, Form { fields, files }) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let Chosen { resolved, engine, price } = choose(&call, &catalogue, fields.model.as_deref())?;
    let model = resolved.model;
    let file = one_file(files, fields.file.is_some())?;
    let wish = Wish::of(&fields);
    call.refuse_if_hopeless(model, price.most(ONE_SECOND))?;
    let recording = inspect(&call, &file).await?;

    let funds = call.hold(model, 0, Want::Exactly(price.most(recording.length)))?;
    let request = Arc::new(request::of(fields, file, recording.container, wish));
    let paid = funds.run(async move {
        let transcript = engine.transcribe(request).await?;
        if wish.is_denied(&transcript) {
            return Ok(Produced { output: None, tokens: 0, charge: Charge::default() });
        }
        let heard = heard(recording.length, transcript.duration_s);
        let charge = price.charge(&transcript, heard);
        Ok(Produced { output: Some((transcript, heard.as_secs_f64())), tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| refuse_transcription(failure, &call.request_id))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let (transcript, length_s) = paid.output.ok_or_else(|| without_times(&model.id))?;
    let written = write::out(transcript, length_s, wish);
    Ok(match written {
        Written::Json(answer) => {
            Written::Json(model_headers::write(with_balance(answer, &remaining), &resolved))
        }
        Written::Verbose(answer) => {
            Written::Verbose(model_headers::write(with_balance(answer, &remaining), &resolved))
        }
        Written::Text(answer) => {
            Written::Text(model_headers::write(with_balance(answer, &remaining), &resolved))
        }
    })
}

/// A transcription model, its engine and its price.
pub(super) struct Chosen<'a> {
    pub(super) resolved: Resolved<'a>,
    pub(super) engine: Arc<dyn TranscriptionEngine>,
    pub(super) price: SecondPrice,
}

/// The model of this name. Default: the operator's choice.
pub(super) fn choose<'a>(
    call: &PaidCall,
    catalogue: &'a Catalogue,
    name: Option<&str>,
) -> Result<Chosen<'a>, Refusal> {
    let resolved = call.resolve(catalogue, name.unwrap_or(TRAIT_DEFAULT), ModelType::Asr)?;
    let ModelSpec::Asr(spec) = &resolved.model.spec else {
        return Err(Refusal::internal("a transcription model without its specification"));
    };
    let engine = call.app.engines.transcription(resolved.model)?;
    let price = SecondPrice { model: Arc::clone(resolved.model), rate: spec.price };
    Ok(Chosen { resolved, engine, price })
}

/// 400: the model returned no timestamps although they were requested. Free of charge.
fn without_times(model: &str) -> Refusal {
    let message = format!(
        "The model {model} does not tell when things were said. Leave out `timestamps` and \
         `timestamp_granularities`, or use another model."
    );
    Refusal::bad_request("No timestamps", message)
}

fn with_balance<T>(answer: WithHeaders<T>, remaining: &str) -> WithHeaders<T> {
    answer.header(payment::BALANCE_REMAINING, remaining)
}

/// Measures a recording in a reader process.
pub(super) async fn inspect(
    call: &PaidCall,
    file: &bytes::Bytes,
) -> Result<sound::Recording, Refusal> {
    let (reader, request) = (call.app.reader.as_ref(), recording::Request {});
    match reader::ask(reader, call.reads_for(), request, file.clone()).await {
        Ok((inspected, _)) => inspected.map_err(Refusal::unreadable_sound),
        Err(ReaderError::TooMuch { .. }) => Err(Refusal::sound_too_much()),
        Err(ReaderError::Busy) => Err(Refusal::busy(BUSY)),
        Err(error @ ReaderError::Unavailable { .. }) => Err(Refusal::unavailable(error)),
    }
}

const BUSY: &str = "Too many recordings are waiting to be measured. Please try again shortly.";
