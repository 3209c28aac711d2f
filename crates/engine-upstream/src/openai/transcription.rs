//! Transcription by an OpenAI-style server: the request is a form, the response JSON.

use std::sync::Arc;

use engine::{
    Certainty, EngineError, Segment, Times, Transcript, TranscriptionEngine, TranscriptionRequest,
    Word,
};
use futures_util::future::BoxFuture;
use outbound::{Content, FormFile};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::failure::Failure;
use crate::transport::{Endpoint, bad_answer};

/// One transcription model behind one OpenAI-style server.
pub(crate) struct OpenAiTranscription {
    pub(crate) endpoint: Endpoint,
    pub(crate) model: String,
}

impl TranscriptionEngine for OpenAiTranscription {
    fn transcribe(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<Transcript, EngineError>> {
        Box::pin(async move {
            let fields = fields(&request, &self.model);
            // OpenAI and others detect the format by the file extension alone.
            let name = format!("audio.{}", request.kind.extension);
            let (mime, bytes) = (request.kind.mime, request.sound.clone());
            let form = Content::form(&fields, FormFile { name: &name, mime, bytes });
            read(&self.endpoint.ask_with(form).await?)
        })
    }
}

/// The text fields, in order. They precede the file, so that a server can read them before its
/// megabytes.
pub(crate) fn fields(request: &TranscriptionRequest, model: &str) -> Vec<(&'static str, String)> {
    let mut fields = vec![("model", model.to_owned())];
    // Some models support only `json`, so `verbose_json` is requested only if needed.
    let format = if request.times.any() { "verbose_json" } else { "json" };
    fields.push(("response_format", format.to_owned()));
    let Times { words, segments } = request.times;
    if words {
        fields.push(("timestamp_granularities[]", "word".to_owned()));
    }
    if segments {
        fields.push(("timestamp_granularities[]", "segment".to_owned()));
    }
    fields.extend(request.language.clone().map(|it| ("language", it)));
    fields.extend(request.hint.clone().map(|it| ("prompt", it)));
    fields.extend(request.temperature.map(|it| ("temperature", it.to_string())));
    fields
}

#[derive(Deserialize)]
struct AnswerBody {
    text: Option<String>,
    language: Option<String>,
    #[serde(default, deserialize_with = "seconds")]
    duration: Option<f64>,
    segments: Option<Vec<SegmentBody>>,
    words: Option<Vec<WordBody>>,
    usage: Option<UsageBody>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct SegmentBody {
    #[serde(default)]
    text: String,
    #[serde(default, deserialize_with = "seconds")]
    start: Option<f64>,
    #[serde(default, deserialize_with = "seconds")]
    end: Option<f64>,
    temperature: Option<f64>,
    avg_logprob: Option<f64>,
    compression_ratio: Option<f64>,
    no_speech_prob: Option<f64>,
    /// faster-whisper's servers put the words here.
    words: Option<Vec<WordBody>>,
}

#[derive(Deserialize)]
struct WordBody {
    #[serde(alias = "text")]
    word: String,
    #[serde(default, deserialize_with = "seconds")]
    start: Option<f64>,
    #[serde(default, deserialize_with = "seconds")]
    end: Option<f64>,
}

/// Usage as newer servers report it for billing.
#[derive(Deserialize)]
struct UsageBody {
    #[serde(default, deserialize_with = "seconds")]
    seconds: Option<f64>,
}

pub(crate) fn read(body: &[u8]) -> Result<Transcript, EngineError> {
    let answer: AnswerBody = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not a transcript: {error}")))?;
    if let Some(error) = answer.error.filter(|error| !error.is_null()) {
        return Err(Failure::from_value(&error).into_error());
    }
    let text = answer.text.ok_or_else(|| bad_answer("it has no text"))?;
    let mut words: Vec<Word> = answer.words.into_iter().flatten().filter_map(word).collect();
    let mut segments = Vec::new();
    for mut told in answer.segments.into_iter().flatten() {
        words.extend(told.words.take().into_iter().flatten().filter_map(word));
        segments.extend(segment(told));
    }
    Ok(Transcript {
        text,
        language: answer.language.filter(|it| !it.is_empty()),
        duration_s: answer.duration.or(answer.usage.and_then(|it| it.seconds)),
        segments,
        words,
    })
}

fn segment(told: SegmentBody) -> Option<Segment> {
    let certainty = || {
        Some(Certainty {
            temperature: told.temperature?,
            avg_logprob: told.avg_logprob?,
            compression_ratio: told.compression_ratio?,
            no_speech_prob: told.no_speech_prob?,
        })
    };
    let certainty = certainty();
    let (start_s, end_s) = span(told.start, told.end)?;
    Some(Segment { text: told.text, start_s, end_s, certainty })
}

fn word(told: WordBody) -> Option<Word> {
    let (start_s, end_s) = span(told.start, told.end)?;
    Some(Word { word: told.word, start_s, end_s })
}

/// A segment without valid times is left out.
fn span(start: Option<f64>, end: Option<f64>) -> Option<(f64, f64)> {
    let (start, end) = (start?, end?);
    (start <= end).then_some((start, end))
}

/// Seconds as a number, or as the string that vLLM sends; invalid values become `None`.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let told = Option::<Value>::deserialize(deserializer)?;
    let number = match told {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    Ok(number.filter(|it: &f64| it.is_finite() && 0.0 <= *it))
}
