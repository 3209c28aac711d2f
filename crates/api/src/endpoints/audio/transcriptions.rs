//! `POST /audio/transcriptions`: what is said in a recording is written down.

mod job;
mod request;
mod subtitles;
mod write;

use std::sync::Arc;

use credits::{AMOUNT_MAX, Want};
use domain::catalogue::{ModelSpec, ModelType};
use wire::audio::TranscriptionRequest;

use self::job::Job;
use self::request::Wish;
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::models::get::refuse_model;
use crate::input::Form;
use crate::model_headers;
use crate::outlasting::Outlasting;
use crate::payment;
use crate::purse::{Errand, Purse};
use crate::refusal::Refusal;
use crate::refusal::sound::refuse_transcription;
use crate::reply::Answer;
use crate::reply::written::Written;

/// What requests that name no model get: the operator's choice.
const TRAIT_DEFAULT: &str = "default";

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/audio/transcriptions", create_transcription)
        .tag("Audio")
        .summary("Write down what is said")
        .limited_by_model()
        .refuses(400, "There is no file, or its content is no sound that is known")
        .refuses(403, "The model is not available in the caller's country")
        .refuses(404, "There is no such model; the message names the nearest")
        .refuses(410, "The model was removed and nothing answers in its place")
        .refuses(422, "The recording cannot be processed")
        .refuses(502, "The model failed")
        .refuses(504, "The model took too long")
        .build()
}

async fn create_transcription(
    app: Shared,
    call: Call<Customer, Form<TranscriptionRequest>>,
) -> Result<Written, Refusal> {
    let (Customer(holder), Form { fields, files }) = (call.caller, call.input);
    let catalogue = app.catalogue.get();
    let asked = fields.model.as_deref().unwrap_or(TRAIT_DEFAULT);
    let resolved = catalogue.resolve(asked, ModelType::Asr, call.now);
    let resolved = resolved.and_then(|it| it.served_in(call.country)).map_err(refuse_model)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Asr(spec) = &model.spec else {
        return Err(Refusal::internal("a transcription model without its specification"));
    };
    let engine = app.engines.transcription(&model)?;
    let file = request::file(files, &fields)?;
    let wish = Wish::of(&fields);
    let recording = inspect(&app, &file).await?;

    let errand = Errand {
        holder: &holder,
        model: &model,
        request_id: &call.request_id,
        standing: &call.standing,
    };
    let seconds = job::started_seconds(recording.length);
    let want = Want::Exactly(spec.price.cost(seconds).capped(AMOUNT_MAX));
    let purse = Purse::open(&app, errand, 0, want)?;
    let rate = spec.price;
    let job = Job { purse, model: Arc::clone(&model), rate, engine, length: recording.length };
    let request = Arc::new(request::of(fields, file, recording.container, wish));
    // The work outlives the connection: a caller who hangs up is charged for what was done.
    let outcome = Outlasting::new(&app.tasks, job.run(request)).await;
    let done = outcome.map_err(|failure| refuse_transcription(failure, &call.request_id))?;

    let remaining = payment::balance_remaining(&done.receipt);
    let written = write::out(done.transcript, done.length_s, wish);
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

fn with_balance<T>(answer: Answer<T>, remaining: &str) -> Answer<T> {
    answer.header(payment::BALANCE_REMAINING, remaining)
}

/// Walking through 25 MB takes longer than others should wait for this thread.
async fn inspect(app: &Shared, file: &bytes::Bytes) -> Result<sound::Recording, Refusal> {
    let bytes = file.clone();
    let inspected = app.tasks.spawn_blocking(move || sound::inspect(&bytes)).await;
    inspected.map_err(Refusal::internal)?.map_err(Refusal::unreadable_sound)
}
