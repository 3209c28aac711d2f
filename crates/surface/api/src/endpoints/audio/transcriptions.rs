//! `POST /audio/transcriptions`: transcribes a recording.

mod price;
mod request;
mod subtitles;
mod write;

use std::sync::Arc;
use std::time::Duration;

use domain::catalogue::{Catalogue, ModelSpec, ModelType, ResolvedModel};
use domain::limits::tiers::LimitClass;
use engine::{TranscriptionAnswer, TranscriptionEngine};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::MultipartForm;
use http_frame::model_headers;
use http_frame::paid_work::{PaidCall, WorkResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::refusal::audio::refuse_transcription;
use http_frame::reply::WithHeaders;
use http_frame::reply::transcript::TranscriptReply;
use ledger::WorkCharge;
use ledger_core::HoldRange;
use sandbox::ReaderError;
use sandbox::tasks::recording;
use wire::audio::TranscriptionRequest;

use self::price::SecondPrice;
pub(super) use self::price::measure_billed_length;
use self::request::TranscriptOptions;
pub(super) use self::request::{TranscriptTask, take_one_file};

/// The shortest billed length of a recording.
pub(super) const ONE_SECOND: Duration = Duration::from_secs(1);
/// Default model: the operator's choice.
const TRAIT_DEFAULT: &str = "default";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/audio/transcriptions", create_transcription)
        .tag("Audio")
        .summary("Transcribe a recording")
        .paid()
        .usual_class(LimitClass::Audio)
        .refuses(400, "The file is missing, or its format is not supported")
        .refuses(502, "The model failed")
        .build()
}

async fn create_transcription(
    app: SharedApp,
    call: ApiCall<PayingCaller, MultipartForm<TranscriptionRequest>>,
) -> Result<TranscriptReply, Refusal> {
    let (call, form) = PaidCall::from_call(&app, call);
    run_transcription(&call, form, TranscriptTask::Transcribe).await
}

/// The result of the work. Only a written transcript is charged.
enum TranscriptOutcome {
    Written { transcript: TranscriptionAnswer, length_s: f64 },
    NoTimestamps,
    NoTranslation,
}

pub(super) async fn run_transcription(
    call: &PaidCall,
    form: MultipartForm<TranscriptionRequest>,
    task: TranscriptTask,
) -> Result<TranscriptReply, Refusal> {
    let MultipartForm { fields, files } = form;
    let catalogue = call.app.catalogue.get();
    let TranscriptionModel { resolved, engine, price } =
        choose_model(call, &catalogue, fields.model.as_deref())?;
    let model = resolved.model;
    let file = take_one_file(files, fields.file.is_some())?;
    let wish = TranscriptOptions::from_request(&fields, task);
    call.refuse_if_unaffordable(model, price.max_cost(ONE_SECOND))?;
    let recording = inspect_recording(call, &file).await?;

    let funds = call.hold(model, 0, HoldRange::Exactly(price.max_cost(recording.length)))?;
    let request =
        Arc::new(request::build_transcription_request(fields, file, recording.container, wish));
    let paid = funds.run(async move {
        let transcript = match task {
            TranscriptTask::Transcribe => Some(engine.transcribe(request).await?),
            TranscriptTask::Translate => engine.translate(request).await?,
        };
        let uncharged = |output| WorkResult { output, tokens: 0, charge: WorkCharge::default() };
        let Some(transcript) = transcript else {
            return Ok(uncharged(TranscriptOutcome::NoTranslation));
        };
        if wish.is_denied(&transcript) {
            return Ok(uncharged(TranscriptOutcome::NoTimestamps));
        }
        let heard = measure_billed_length(recording.length, transcript.duration_s);
        let charge = price.build_charge(&transcript, heard);
        let output = TranscriptOutcome::Written { transcript, length_s: heard.as_secs_f64() };
        Ok(WorkResult { output, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| refuse_transcription(failure, &call.request_id))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let written = match paid.output {
        TranscriptOutcome::Written { transcript, length_s } => {
            write::write_transcript(transcript, length_s, wish)
        }
        TranscriptOutcome::NoTimestamps => return Err(refuse_missing_timestamps(&model.id)),
        TranscriptOutcome::NoTranslation => return Err(refuse_translation(&model.id)),
    };
    Ok(match written {
        TranscriptReply::Json(answer) => TranscriptReply::Json(model_headers::write_model_headers(
            with_balance(answer, &remaining),
            &resolved,
        )),
        TranscriptReply::Verbose(answer) => TranscriptReply::Verbose(
            model_headers::write_model_headers(with_balance(answer, &remaining), &resolved),
        ),
        TranscriptReply::Text(answer) => TranscriptReply::Text(model_headers::write_model_headers(
            with_balance(answer, &remaining),
            &resolved,
        )),
    })
}

/// A transcription model, its engine and its price.
pub(super) struct TranscriptionModel<'a> {
    pub(super) resolved: ResolvedModel<'a>,
    pub(super) engine: Arc<dyn TranscriptionEngine>,
    pub(super) price: SecondPrice,
}

/// The model of this name. Default: the operator's choice.
pub(super) fn choose_model<'a>(
    call: &PaidCall,
    catalogue: &'a Catalogue,
    name: Option<&str>,
) -> Result<TranscriptionModel<'a>, Refusal> {
    let resolved = call.resolve_model(catalogue, name.unwrap_or(TRAIT_DEFAULT), ModelType::Asr)?;
    let ModelSpec::Asr(spec) = &resolved.model.spec else {
        return Err(Refusal::internal("a transcription model without its specification"));
    };
    let engine = call.app.engines.transcription(resolved.model)?;
    let price = SecondPrice { model: Arc::clone(resolved.model), rate: spec.price };
    Ok(TranscriptionModel { resolved, engine, price })
}

/// 400: the model returned no timestamps although they were requested. Free of charge.
fn refuse_missing_timestamps(model: &str) -> Refusal {
    let message = format!(
        "The model {model} does not return timestamps. Leave out `timestamps` and \
         `timestamp_granularities`, or use another model."
    );
    Refusal::bad_request("No timestamps", message)
}

/// 400: the model cannot translate. Free of charge.
fn refuse_translation(model: &str) -> Refusal {
    let message = format!(
        "The model {model} cannot translate. Use another model, or `/audio/transcriptions`."
    );
    Refusal::bad_request("No translation", message)
}

fn with_balance<T>(answer: WithHeaders<T>, remaining: &str) -> WithHeaders<T> {
    answer.header(payment::BALANCE_REMAINING, remaining)
}

/// Measures a recording in a reader process.
pub(super) async fn inspect_recording(
    call: &PaidCall,
    file: &bytes::Bytes,
) -> Result<audio_probe::RecordingInfo, Refusal> {
    let (reader, request) = (call.app.reader.as_ref(), recording::RecordingTask {});
    match sandbox::run_task(reader, call.reader_caller_id(), request, file.clone()).await {
        Ok((inspected, _)) => inspected.map_err(Refusal::unreadable_audio),
        Err(ReaderError::TooMuch { .. }) => Err(Refusal::audio_too_complex()),
        Err(ReaderError::Busy) => Err(Refusal::busy(BUSY)),
        Err(error @ ReaderError::Unavailable { .. }) => Err(Refusal::unavailable(error)),
    }
}

const BUSY: &str = "Too many recordings are waiting to be measured. Please try again shortly.";
