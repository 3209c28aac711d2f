//! `POST /audio/voices`: clones a voice from a recording and returns its handle.

use std::sync::Arc;
use std::time::Duration;

use credits::Want;
use domain::catalogue::{
    AudioFormat, Catalogue, Model, ModelSpec, ModelType, Named, Selection, VoiceCloning,
};
use domain::voices::{self, Tie};
use engine::{EngineError, FileKind, VoiceSample};
use ledger::Charge;
use money::Cost;
use schema_check::Faults;
use sound::{Container, Recording};
use wire::audio::{ClonedVoice, VoiceRequest};

use super::transcriptions::{inspect, one_file};
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::input::Form;
use crate::model_headers;
use crate::paid::{PaidCall, Produced};
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/audio/voices", create_voice)
        .tag("Audio")
        .summary("Learn a voice from a recording")
        .paid()
        .refuses(400, "There is no file, its content is no sound, or the model clones no voices")
        .build()
}

async fn create_voice(
    app: Shared,
    call: Call<Customer, Form<VoiceRequest>>,
) -> Result<WithHeaders<ClonedVoice>, Refusal> {
    let (call, Form { fields, files }) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let asked = match &fields.model {
        Some(model) => model.clone(),
        None => first_cloner(&catalogue, call.now)?,
    };
    let resolved = call.resolve(&catalogue, &asked, ModelType::Tts)?;
    let model = Arc::clone(resolved.model);
    let cloning = cloning(&model).ok_or_else(|| refuse_model(&catalogue, &model, call.now))?;
    let engine = app.engines.speech(&model)?;
    let file = one_file(files, fields.file.is_some())?;
    let recording = inspect(&call, &file).await?;
    check(recording, cloning)?;

    // Cloning a voice is free; it counts against the limits of speech.
    let funds = call.hold(&model, 0, Want::Exactly(Cost::ZERO))?;
    let sample = Arc::new(VoiceSample {
        sound: file,
        kind: FileKind {
            extension: recording.container.extension(),
            mime: recording.container.mime(),
        },
        name: format!("tollgate-{}", call.request_id.as_str()),
    });
    let paid = funds.run(async move {
        let name = engine.clone_voice(sample).await?;
        if voices::NAME_BYTES_MAX < name.len() {
            let cause = "its voice has too long a name".to_owned();
            return Err(EngineError::BadAnswer { cause });
        }
        Ok(Produced { output: name, tokens: 0, charge: Charge::default() })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "file"))?;

    let tie = Tie { owner: call.holder.owner.id.0, model: &model.id };
    let days = u32::try_from(cloning.retention_days).unwrap_or(u32::MAX);
    let expires = call.now.plus(DAY.saturating_mul(days));
    let handle = voices::handle(tie, &paid.output, expires, &|text| app.keys.seal(text));
    let id = handle.ok_or_else(|| Refusal::internal("a voice without a handle"))?;
    let answer = WithHeaders::new(ClonedVoice { id, model: model.id.clone() });
    Ok(model_headers::write(answer, &resolved))
}

fn cloning(model: &Model) -> Option<&VoiceCloning> {
    match &model.spec {
        ModelSpec::Tts(spec) => spec.voice_cloning.as_ref(),
        _ => None,
    }
}

fn cloners(catalogue: &Catalogue, now: moment::Timestamp) -> Vec<String> {
    let models = catalogue.list(Selection::Type(ModelType::Tts), now);
    models.filter(|model| cloning(model).is_some()).map(|model| model.id.clone()).collect()
}

fn first_cloner(catalogue: &Catalogue, now: moment::Timestamp) -> Result<String, Refusal> {
    let first = cloners(catalogue, now).into_iter().next();
    first.ok_or_else(|| {
        let message = "No model of this service clones voices.";
        Refusal::not_found("Specified model not found", message)
    })
}

fn refuse_model(catalogue: &Catalogue, model: &Model, now: moment::Timestamp) -> Refusal {
    let message = match cloners(catalogue, now).as_slice() {
        [] => format!("Model {} does not clone voices, and no other one here does.", model.id),
        those => format!("Model {} does not clone voices. Use {}.", model.id, those.join(", ")),
    };
    Refusal::invalid(&Faults::one(["model"], message))
}

fn check(recording: Recording, cloning: &VoiceCloning) -> Result<(), Refusal> {
    let mut faults = Faults::default();
    let accepted = &cloning.accepted_formats;
    if !accepted.is_empty() && !accepted.iter().any(|it| is_of(recording.container, *it)) {
        let names: Vec<&str> = accepted.iter().map(|it| it.name()).collect();
        let message = format!("This model learns voices from {} files", names.join(", "));
        faults.at(["file"]).push(message);
    }
    let least = Duration::from_secs(cloning.min_sample_seconds);
    if recording.length < least {
        let seconds = recording.length.as_secs_f64();
        let least = cloning.min_sample_seconds;
        let message = format!("It lasts {seconds:.1} s; this model needs at least {least} s");
        faults.at(["file"]).push(message);
    }
    faults.into_result().map_err(|faults| Refusal::invalid(&faults))
}

fn is_of(container: Container, format: AudioFormat) -> bool {
    match container {
        Container::Wav => format == AudioFormat::Wav,
        Container::Flac => format == AudioFormat::Flac,
        Container::Mp3 => format == AudioFormat::Mp3,
        Container::Aac => format == AudioFormat::Aac,
        Container::Mp4 | Container::M4a => format == AudioFormat::M4a,
        Container::Ogg => matches!(format, AudioFormat::Ogg | AudioFormat::Opus),
        Container::Webm => format == AudioFormat::Webm,
    }
}
