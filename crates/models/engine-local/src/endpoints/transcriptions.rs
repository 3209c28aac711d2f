//! `POST /v1/audio/transcriptions` and `/v1/audio/translations`: transcribes an audio file, sent in
//! a form, in its language or in English.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use audio_codec::{DecodeLimits, MonoDecoder, SoundError};
use axum::Json;
use axum::body::Bytes;
use axum::extract::multipart::MultipartError;
use axum::extract::{Multipart, State};
use axum::response::{IntoResponse, Response};
use engine_onnx::transcription::{
    AudioTranscript, DecodingScores, SAMPLE_RATE, SpeechTranscriber, TimedSegment, TimedWord,
    TranscriptionError, TranscriptionOptions, TranscriptionTask,
};
use serde_json::{Value, json};

use crate::refusal::EngineRefusal;
use crate::registry::{ModelKind, ModelRegistry, ModelRuntime};
use crate::server::BODY_BYTES_MAX;

/// Four hours. The gateway has its own, lower limit.
const SOUND_SECONDS_MAX: u32 = 4 * 3600;
const CHANNELS_MAX: usize = 8;
/// The range of OpenAI's API.
const TEMPERATURES: std::ops::RangeInclusive<f32> = 0.0..=1.0;

#[derive(Debug, Default)]
struct TranscriptionForm {
    model: String,
    file: Option<Bytes>,
    format: String,
    language: Option<String>,
    prompt: Option<String>,
    temperature: Option<f32>,
    wants_words: bool,
    wants_segments: bool,
}

pub(crate) async fn create_transcription(
    State(registry): State<Arc<ModelRegistry>>,
    form: Multipart,
) -> Result<Response, EngineRefusal> {
    run_transcription(&registry, form, TranscriptionTask::Transcribe).await
}

pub(crate) async fn create_translation(
    State(registry): State<Arc<ModelRegistry>>,
    form: Multipart,
) -> Result<Response, EngineRefusal> {
    run_transcription(&registry, form, TranscriptionTask::Translate).await
}

async fn run_transcription(
    registry: &Arc<ModelRegistry>,
    form: Multipart,
    task: TranscriptionTask,
) -> Result<Response, EngineRefusal> {
    let form = read_form(form).await?;
    let file = form.file.clone();
    let file = file.ok_or_else(|| EngineRefusal::invalid(Some("file"), "Send a sound file."))?;
    let ModelRuntime::Transcription(model) =
        registry.get(&form.model, ModelKind::Transcription).await?.model
    else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    let options = TranscriptionOptions { task, ..build_options(&form, &model)? };
    // Set when the caller disconnects and this future is dropped.
    let gone = CancelFlagGuard(Arc::new(AtomicBool::new(false)));
    let cancelled = Arc::clone(&gone.0);
    let heard =
        tokio::task::spawn_blocking(move || transcribe_file(&model, &file, &options, &cancelled));
    let heard = heard.await.map_err(|error| EngineRefusal::engine_failure(error.to_string()))?;
    Ok(encode_response(&form.format, task, &heard.map_err(convert_transcription_error)?))
}

struct CancelFlagGuard(Arc<AtomicBool>);

impl Drop for CancelFlagGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn read_form(mut multipart: Multipart) -> Result<TranscriptionForm, EngineRefusal> {
    let unreadable = |error: MultipartError| EngineRefusal::invalid(None, error.body_text());
    let mut form = TranscriptionForm::default();
    while let Some(field) = multipart.next_field().await.map_err(unreadable)? {
        let name = field.name().unwrap_or_default().to_owned();
        if name == "file" {
            form.file = Some(field.bytes().await.map_err(unreadable)?);
            continue;
        }
        let value = field.text().await.map_err(unreadable)?;
        match name.as_str() {
            "model" => form.model = value,
            "response_format" => form.format = value,
            "language" => form.language = Some(value).filter(|it| !it.is_empty()),
            "prompt" => form.prompt = Some(value).filter(|it| !it.trim().is_empty()),
            "temperature" => form.temperature = Some(parse_temperature(&value)?),
            "timestamp_granularities[]" | "timestamp_granularities" => {
                form.wants_words |= value.contains("word");
                form.wants_segments |= value.contains("segment");
            }
            _ => {}
        }
    }
    Ok(form)
}

fn parse_temperature(text: &str) -> Result<f32, EngineRefusal> {
    let number = text.trim().parse().ok().filter(|it| TEMPERATURES.contains(it));
    number.ok_or_else(|| {
        EngineRefusal::invalid(Some("temperature"), "The temperature must be a number from 0 to 1.")
    })
}

/// Rejects a request for word timestamps only, if the model cannot provide them. A request for both
/// words and segments then gets segments.
fn build_options(
    form: &TranscriptionForm,
    model: &SpeechTranscriber,
) -> Result<TranscriptionOptions, EngineRefusal> {
    if form.wants_words && !form.wants_segments && !model.knows_words() {
        return Err(EngineRefusal::invalid(
            Some("timestamp_granularities"),
            "This model does not return times of words. Request segments, or use a Whisper \
             model.",
        ));
    }
    Ok(TranscriptionOptions {
        language: form.language.clone(),
        words: form.wants_words && model.knows_words(),
        prompt: form.prompt.clone(),
        temperature: form.temperature,
        ..TranscriptionOptions::default()
    })
}

fn transcribe_file(
    model: &SpeechTranscriber,
    file: &[u8],
    options: &TranscriptionOptions,
    cancelled: &AtomicBool,
) -> Result<AudioTranscript, TranscriptionError> {
    let limits = DecodeLimits {
        bytes_max: BODY_BYTES_MAX,
        seconds_max: SOUND_SECONDS_MAX,
        channels_max: CHANNELS_MAX,
    };
    let blocks = MonoDecoder::open(file, SAMPLE_RATE, &limits)?;
    model.transcribe(blocks, options, cancelled)
}

fn encode_response(format: &str, task: TranscriptionTask, heard: &AudioTranscript) -> Response {
    match format {
        "text" => format!("{}\n", heard.text).into_response(),
        "verbose_json" => Json(encode_verbose(task, heard)).into_response(),
        _ => Json(json!({"text": heard.text, "duration": heard.duration_s})).into_response(),
    }
}

fn encode_verbose(task: TranscriptionTask, heard: &AudioTranscript) -> Value {
    let segments = heard.segments.iter().enumerate();
    let segments: Value = segments.map(|(id, segment)| encode_segment(id, segment)).collect();
    let word = |it: &TimedWord| json!({"word": it.text, "start": it.start_s, "end": it.end_s});
    json!({
        "task": match task {
            TranscriptionTask::Transcribe => "transcribe",
            TranscriptionTask::Translate => "translate",
        },
        "language": heard.language,
        "duration": heard.duration_s,
        "text": heard.text,
        "segments": segments,
        "words": heard.words.iter().map(word).collect::<Value>(),
    })
}

fn encode_segment(id: usize, segment: &TimedSegment) -> Value {
    let TimedSegment { start_s, end_s, text, certainty } = segment;
    let mut body = json!({"id": id, "start": start_s, "end": end_s, "text": text});
    if let Some(DecodingScores { temperature, likelihood, compression, no_speech }) = certainty {
        body["temperature"] = (*temperature).into();
        body["avg_logprob"] = (*likelihood).into();
        body["compression_ratio"] = (*compression).into();
        body["no_speech_prob"] = (*no_speech).into();
    }
    body
}

fn convert_transcription_error(error: TranscriptionError) -> EngineRefusal {
    let message = error.to_string();
    match error {
        TranscriptionError::Sound(SoundError::TooLarge { .. }) => EngineRefusal::too_large(message),
        TranscriptionError::Sound(_) => EngineRefusal::invalid(Some("file"), message),
        TranscriptionError::Task => EngineRefusal::unsupported(message),
        TranscriptionError::Language(_) => EngineRefusal::invalid(Some("language"), message),
        TranscriptionError::Cancelled
        | TranscriptionError::Runtime(_)
        | TranscriptionError::Failed(_) => EngineRefusal::engine_failure(message),
    }
}
