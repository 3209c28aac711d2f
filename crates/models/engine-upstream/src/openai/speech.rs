//! Speech of an OpenAI-style server: forwards the audio body as it arrives.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{EngineError, SoundStream, SpeechEngine, SpeechRequest, TimeoutPhase, VoiceSample};
use futures_util::future::BoxFuture;
use futures_util::stream;
use outbound::{BodyPieces, FormFile, RequestContent, UpstreamResponse};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout, timeout_at};

use crate::failure::UpstreamFailure;
use crate::quirks::ServerQuirks;
use crate::transport::{UpstreamEndpoint, bad_answer, connection_error, is_text, read_whole};

/// The longest text, spoken four times slower and as 48 kHz samples, takes 115 MB.
const SOUND_BYTES_MAX: usize = 128 * 1024 * 1024;

/// One speech model behind one OpenAI-style server.
pub(crate) struct OpenAiSpeech {
    pub(crate) endpoint: UpstreamEndpoint,
    /// The URL to which voice recordings are uploaded.
    pub(crate) voices: UpstreamEndpoint,
    pub(crate) model: String,
    pub(crate) quirks: ServerQuirks,
}

/// A cloned voice; servers name the id field differently.
#[derive(Deserialize)]
struct ClonedVoiceBody {
    #[serde(alias = "voice_id", alias = "voice")]
    id: String,
}

/// Longer voice ids are rejected.
const VOICE_BYTES_MAX: usize = 256;

impl SpeechEngine for OpenAiSpeech {
    fn synthesize(
        &self,
        request: Arc<SpeechRequest>,
    ) -> BoxFuture<'_, Result<SoundStream, EngineError>> {
        Box::pin(async move {
            let body = write_speech(&request, &self.model, self.quirks)?;
            let deadline = Instant::now() + self.endpoint.timeouts.first_event;
            let answer = self.endpoint.open(body, deadline).await?;
            let opened = open_sound(answer, self.endpoint.timeouts.next_event);
            match timeout_at(deadline, opened).await {
                Ok(outcome) => outcome,
                Err(_) => Err(EngineError::Timeout { phase: TimeoutPhase::FirstEvent }),
            }
        })
    }

    fn clone_voice(&self, sample: Arc<VoiceSample>) -> BoxFuture<'_, Result<String, EngineError>> {
        Box::pin(async move {
            let fields = [("model", self.model.clone()), ("name", sample.name.clone())];
            let name = format!("sample.{}", sample.kind.extension);
            let (mime, bytes) = (sample.kind.mime, sample.sound.clone());
            let files = [("audio_sample", FormFile { name: &name, mime, bytes })];
            let answer =
                self.voices.post_content(RequestContent::form_of_files(&fields, &files)).await?;
            let learned: ClonedVoiceBody = serde_json::from_slice(&answer)
                .map_err(|error| bad_answer(format!("it is not a voice: {error}")))?;
            if learned.id.is_empty() || VOICE_BYTES_MAX < learned.id.len() {
                return Err(bad_answer("its voice has no name"));
            }
            Ok(learned.id)
        })
    }
}

#[derive(Serialize)]
struct SpeechRequestBody<'a> {
    model: &'a str,
    input: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    voice: Option<&'a str>,
    response_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
}

pub(crate) fn write_speech(
    request: &SpeechRequest,
    model: &str,
    quirks: ServerQuirks,
) -> Result<Vec<u8>, EngineError> {
    let body = SpeechRequestBody {
        model,
        input: &request.input,
        voice: request.voice.as_deref(),
        response_format: request.format.name(),
        speed: request.speed,
        instructions: request.style.as_deref(),
        temperature: request.temperature,
        top_p: request.top_p,
        // OpenAI itself rejects unknown fields and detects the language from the text.
        language: request.language.as_deref().filter(|_| quirks.takes_extensions),
    };
    serde_json::to_vec(&body).map_err(|error| EngineError::Rejected {
        message: format!("The input cannot be written as JSON: {error}"),
    })
}

/// Waits for the first bytes, then returns the stream.
async fn open_sound(
    answer: UpstreamResponse,
    wait_max: Duration,
) -> Result<SoundStream, EngineError> {
    if is_text(&answer) {
        return Err(text_answer_error(&read_whole(answer).await?));
    }
    let mut reading =
        SoundReader { pieces: answer.into_pieces(), left: SOUND_BYTES_MAX, is_over: false };
    let Some(first) = reading.next().await? else {
        return Err(bad_answer("it has no sound"));
    };
    let rest = stream::unfold(reading, move |mut reading| async move {
        let item = reading.next_within(wait_max).await?;
        Some((item, reading))
    });
    Ok(Box::pin(futures_util::StreamExt::chain(stream::iter([Ok(first)]), rest)))
}

/// Some servers send errors with a success status.
fn text_answer_error(body: &[u8]) -> EngineError {
    match serde_json::from_slice::<serde_json::Value>(body) {
        Ok(value) if value.get("error").is_some() => {
            UpstreamFailure::from_value(&value).into_error()
        }
        _ => bad_answer("it is text instead of sound"),
    }
}

struct SoundReader {
    pieces: BodyPieces,
    /// Remaining bytes of the limit.
    left: usize,
    is_over: bool,
}

impl SoundReader {
    async fn next_within(&mut self, wait_max: Duration) -> Option<Result<Bytes, EngineError>> {
        if self.is_over {
            return None;
        }
        let outcome = match timeout(wait_max, self.next()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: TimeoutPhase::NextEvent }),
        };
        self.is_over = !matches!(outcome, Ok(Some(_)));
        outcome.transpose()
    }

    /// The next bytes, never empty.
    async fn next(&mut self) -> Result<Option<Bytes>, EngineError> {
        while let Some(piece) = self.pieces.next().await.map_err(connection_error)? {
            let left = self.left.checked_sub(piece.len());
            self.left = left.ok_or_else(|| {
                bad_answer(format!("its sound is longer than {SOUND_BYTES_MAX} bytes"))
            })?;
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }
}
