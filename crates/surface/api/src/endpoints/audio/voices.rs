//! `POST /audio/voices`: clones a voice from a recording and returns its handle.

use std::sync::Arc;
use std::time::Duration;

use audio_probe::{AudioContainer, RecordingInfo};
use domain::catalogue::{
    AudioFileFormat, Catalogue, CatalogueModel, ModelSelection, ModelSpec, ModelType,
    NamedVariants, VoiceCloning,
};
use domain::voices::{self, VoiceBinding};
use engine::{EngineError, FileKind, VoiceSample};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::MultipartForm;
use http_frame::model_headers;
use http_frame::paid_work::{PaidCall, WorkResult};
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger::WorkCharge;
use ledger_core::HoldRange;
use money::WorkCost;
use schema_check::ValidationFaults;
use wire::audio::{ClonedVoice, VoiceCloneRequest};

use super::transcriptions::{inspect_recording, take_one_file};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/audio/voices", create_voice)
        .tag("Audio")
        .summary("Clone a voice from a recording")
        .paid()
        .refuses(400, "The file is missing or not a recording, or the model does not clone voices")
        .build()
}

async fn create_voice(
    app: SharedApp,
    call: ApiCall<PayingCaller, MultipartForm<VoiceCloneRequest>>,
) -> Result<WithHeaders<ClonedVoice>, Refusal> {
    let (call, MultipartForm { fields, files }) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let asked = match &fields.model {
        Some(model) => model.clone(),
        None => find_first_cloning_model(&catalogue, call.now)?,
    };
    let resolved = call.resolve_model(&catalogue, &asked, ModelType::Tts)?;
    let model = Arc::clone(resolved.model);
    let cloning =
        find_cloning_spec(&model).ok_or_else(|| refuse_model(&catalogue, &model, call.now))?;
    let engine = app.engines.speech(&model)?;
    let file = take_one_file(files, fields.file.is_some())?;
    let recording = inspect_recording(&call, &file).await?;
    check_recording(recording, cloning)?;

    // Cloning a voice is free; it counts against the limits of speech.
    let funds = call.hold(&model, 0, HoldRange::Exactly(WorkCost::ZERO))?;
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
        Ok(WorkResult { output: name, tokens: 0, charge: WorkCharge::default() })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "file"))?;

    let tie = VoiceBinding { owner: call.holder.owner.id.0, model: &model.id };
    let days = u32::try_from(cloning.retention_days).unwrap_or(u32::MAX);
    let expires = call.now.plus(DAY.saturating_mul(days));
    let handle =
        voices::make_voice_handle(tie, &paid.output, expires, &|text| app.keys.keyed_digest(text));
    let id = handle.ok_or_else(|| Refusal::internal("a voice without a handle"))?;
    let answer = WithHeaders::new(ClonedVoice { id, model: model.id.clone() });
    Ok(model_headers::write_model_headers(answer, &resolved))
}

fn find_cloning_spec(model: &CatalogueModel) -> Option<&VoiceCloning> {
    match &model.spec {
        ModelSpec::Tts(spec) => spec.voice_cloning.as_ref(),
        _ => None,
    }
}

fn list_cloning_models(catalogue: &Catalogue, now: moment::Timestamp) -> Vec<String> {
    let models = catalogue.list(ModelSelection::Type(ModelType::Tts), now);
    models
        .filter(|model| find_cloning_spec(model).is_some())
        .map(|model| model.id.clone())
        .collect()
}

fn find_first_cloning_model(
    catalogue: &Catalogue,
    now: moment::Timestamp,
) -> Result<String, Refusal> {
    let first = list_cloning_models(catalogue, now).into_iter().next();
    first.ok_or_else(|| {
        let message = "No model of this service clones voices.";
        Refusal::not_found("Specified model not found", message)
    })
}

fn refuse_model(catalogue: &Catalogue, model: &CatalogueModel, now: moment::Timestamp) -> Refusal {
    let message = match list_cloning_models(catalogue, now).as_slice() {
        [] => format!("Model {} does not clone voices, and no other one here does.", model.id),
        those => format!("Model {} does not clone voices. Use {}.", model.id, those.join(", ")),
    };
    Refusal::invalid_request(&ValidationFaults::one(["model"], message))
}

fn check_recording(recording: RecordingInfo, cloning: &VoiceCloning) -> Result<(), Refusal> {
    let mut faults = ValidationFaults::default();
    let accepted = &cloning.accepted_formats;
    if !accepted.is_empty() && !accepted.iter().any(|it| is_of(recording.container, *it)) {
        let names: Vec<&str> = accepted.iter().map(|it| it.name()).collect();
        let message = format!("This model clones voices from {} files", names.join(", "));
        faults.at(["file"]).push(message);
    }
    let least = Duration::from_secs(cloning.min_sample_seconds);
    if recording.length < least {
        let seconds = recording.length.as_secs_f64();
        let least = cloning.min_sample_seconds;
        let message =
            format!("The recording is {seconds:.1} s long; this model needs at least {least} s");
        faults.at(["file"]).push(message);
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))
}

fn is_of(container: AudioContainer, format: AudioFileFormat) -> bool {
    match container {
        AudioContainer::Wav => format == AudioFileFormat::Wav,
        AudioContainer::Flac => format == AudioFileFormat::Flac,
        AudioContainer::Mp3 => format == AudioFileFormat::Mp3,
        AudioContainer::Aac => format == AudioFileFormat::Aac,
        AudioContainer::Mp4 | AudioContainer::M4a => format == AudioFileFormat::M4a,
        AudioContainer::Ogg => matches!(format, AudioFileFormat::Ogg | AudioFileFormat::Opus),
        AudioContainer::Webm => format == AudioFileFormat::Webm,
    }
}
