//! Transcription by an OpenAI-style server: the request is a form, the response JSON.

use std::sync::Arc;

use engine::{
    EngineError, SegmentScores, TimestampOptions, TranscriptionAnswer, TranscriptionEngine,
    TranscriptionRequest, TranscriptionSegment, TranscriptionWord,
};
use futures_util::future::BoxFuture;
use outbound::{FormFile, RequestContent};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::failure::UpstreamFailure;
use crate::transport::{UpstreamEndpoint, bad_answer};

/// One transcription model behind one OpenAI-style server.
pub(crate) struct OpenAiTranscription {
    pub(crate) endpoint: UpstreamEndpoint,
    pub(crate) translations: UpstreamEndpoint,
    pub(crate) model: String,
}

impl TranscriptionEngine for OpenAiTranscription {
    fn transcribe(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<TranscriptionAnswer, EngineError>> {
        Box::pin(async move {
            let form = build_form(&request, &self.model);
            read_transcript(&self.endpoint.post_content(form).await?)
        })
    }

    fn translate(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<Option<TranscriptionAnswer>, EngineError>> {
        Box::pin(async move {
            let form = build_form(&request, &self.model);
            let answer = self.translations.post_if_exists(form).await?;
            answer.map(|body| read_transcript(&body)).transpose()
        })
    }
}

fn build_form(request: &TranscriptionRequest, model: &str) -> RequestContent {
    let fields = form_fields(request, model);
    // OpenAI and others detect the format by the file extension alone.
    let name = format!("audio.{}", request.kind.extension);
    let (mime, bytes) = (request.kind.mime, request.sound.clone());
    RequestContent::form(&fields, FormFile { name: &name, mime, bytes })
}

/// The text fields, in order. They precede the file, so that a server can read them before its
/// megabytes.
pub(crate) fn form_fields(
    request: &TranscriptionRequest,
    model: &str,
) -> Vec<(&'static str, String)> {
    let mut fields = vec![("model", model.to_owned())];
    // Some models support only `json`, so `verbose_json` is requested only if needed.
    let format = if request.times.any() { "verbose_json" } else { "json" };
    fields.push(("response_format", format.to_owned()));
    let TimestampOptions { words, segments } = request.times;
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
struct TranscriptionAnswerBody {
    text: Option<String>,
    language: Option<String>,
    #[serde(default, deserialize_with = "deserialize_seconds")]
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
    #[serde(default, deserialize_with = "deserialize_seconds")]
    start: Option<f64>,
    #[serde(default, deserialize_with = "deserialize_seconds")]
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
    #[serde(default, deserialize_with = "deserialize_seconds")]
    start: Option<f64>,
    #[serde(default, deserialize_with = "deserialize_seconds")]
    end: Option<f64>,
}

/// Usage as newer servers report it for billing.
#[derive(Deserialize)]
struct UsageBody {
    #[serde(default, deserialize_with = "deserialize_seconds")]
    seconds: Option<f64>,
}

pub(crate) fn read_transcript(body: &[u8]) -> Result<TranscriptionAnswer, EngineError> {
    let answer: TranscriptionAnswerBody = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not a transcript: {error}")))?;
    if let Some(error) = answer.error.filter(|error| !error.is_null()) {
        return Err(UpstreamFailure::from_value(&error).into_error());
    }
    let text = answer.text.ok_or_else(|| bad_answer("it has no text"))?;
    let mut words: Vec<TranscriptionWord> =
        answer.words.into_iter().flatten().filter_map(to_word).collect();
    let mut segments = Vec::new();
    for mut told in answer.segments.into_iter().flatten() {
        words.extend(told.words.take().into_iter().flatten().filter_map(to_word));
        segments.extend(to_segment(told));
    }
    Ok(TranscriptionAnswer {
        text,
        language: answer.language.filter(|it| !it.is_empty()),
        duration_s: answer.duration.or(answer.usage.and_then(|it| it.seconds)),
        segments,
        words,
    })
}

fn to_segment(told: SegmentBody) -> Option<TranscriptionSegment> {
    let certainty = || {
        Some(SegmentScores {
            temperature: told.temperature?,
            avg_logprob: told.avg_logprob?,
            compression_ratio: told.compression_ratio?,
            no_speech_prob: told.no_speech_prob?,
        })
    };
    let certainty = certainty();
    let (start_s, end_s) = check_span(told.start, told.end)?;
    Some(TranscriptionSegment { text: told.text, start_s, end_s, certainty })
}

fn to_word(told: WordBody) -> Option<TranscriptionWord> {
    let (start_s, end_s) = check_span(told.start, told.end)?;
    Some(TranscriptionWord { word: told.word, start_s, end_s })
}

/// A segment without valid times is left out.
fn check_span(start: Option<f64>, end: Option<f64>) -> Option<(f64, f64)> {
    let (start, end) = (start?, end?);
    (start <= end).then_some((start, end))
}

/// Seconds as a number, or as the string that vLLM sends; invalid values become `None`.
fn deserialize_seconds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    let told = Option::<Value>::deserialize(deserializer)?;
    let number = match told {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    Ok(number.filter(|it: &f64| it.is_finite() && 0.0 <= *it))
}
