//! `POST /v1/audio/speech`: streams audio while it is synthesized.

use std::sync::Arc;

use audio_codec::{AudioEncoder, EncoderFormat};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use engine_onnx::speech::{CancelHandle, SAMPLE_RATE_HZ, SpeechError, SpeechSynthesizer};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::read_json;
use crate::refusal::EngineRefusal;
use crate::registry::{ModelKind, ModelRegistry, ModelRuntime};

/// Audio chunks buffered for a slow client; synthesis pauses when the buffer is full.
const PIECES_AHEAD: usize = 4;

#[derive(Debug, Deserialize)]
struct SpeechBody {
    model: String,
    input: String,
    voice: Option<String>,
    response_format: Option<String>,
    speed: Option<f32>,
}

/// An audio chunk, or the error that ended the stream.
type AudioChunk = Result<Bytes, EngineRefusal>;

pub(crate) async fn create_speech(
    State(registry): State<Arc<ModelRegistry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, EngineRefusal> {
    let body: SpeechBody = read_json(body)?;
    let ModelRuntime::Speech(synthesizer) =
        registry.get(&body.model, ModelKind::Speech).await?.model
    else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    let format = parse_format(body.response_format.as_deref())?;
    let (sender, pieces) = channel(PIECES_AHEAD);
    let cancel =
        CancelHandle::new().map_err(|error| EngineRefusal::engine_failure(error.to_string()))?;
    let mut listener = AudioReceiver { pieces, cancel: Arc::new(cancel) };
    let voice = SpeechTask { synthesizer, cancel: Arc::clone(&listener.cancel), heard_by: sender };
    tokio::task::spawn_blocking(move || voice.run_synthesis(&body, format));
    // The status is known only with the first audio chunk.
    let first = listener.pieces.recv().await;
    let first = first
        .unwrap_or_else(|| Err(EngineRefusal::engine_failure("The model returned no sound.")))?;
    let mut response = Body::from_stream(stream_audio(first, listener)).into_response();
    let kind = HeaderValue::from_static(format.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

fn parse_format(name: Option<&str>) -> Result<EncoderFormat, EngineRefusal> {
    let format = name.map_or(Some(EncoderFormat::Mp3), EncoderFormat::parse);
    format.ok_or_else(|| {
        let known = EncoderFormat::ALL.map(EncoderFormat::name).join(", ");
        EngineRefusal::invalid(Some("response_format"), format!("Choose one of {known}."))
    })
}

/// On a failure the body ends without its final chunk, so that the client detects it.
fn stream_audio(
    first: Bytes,
    listener: AudioReceiver,
) -> impl futures_util::Stream<Item = Result<Bytes, std::io::Error>> {
    let rest = stream::unfold(listener, |mut listener| async move {
        let piece = listener.pieces.recv().await?;
        Some((piece.map_err(|refusal| std::io::Error::other(refusal.message())), listener))
    });
    futures_util::StreamExt::chain(stream::iter([Ok(first)]), rest)
}

/// The receiving side. Dropping it cancels the synthesis, also within a chunk.
struct AudioReceiver {
    pieces: Receiver<AudioChunk>,
    cancel: Arc<CancelHandle>,
}

impl Drop for AudioReceiver {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// The synthesizing side.
struct SpeechTask {
    synthesizer: Arc<SpeechSynthesizer>,
    cancel: Arc<CancelHandle>,
    heard_by: Sender<AudioChunk>,
}

impl SpeechTask {
    /// Synthesizes until done or cancelled.
    fn run_synthesis(self, body: &SpeechBody, format: EncoderFormat) {
        if let Err(refusal) = self.synthesize_speech(body, format) {
            // Fails only if the client has disconnected.
            let _ = self.heard_by.blocking_send(Err(refusal));
        }
    }

    fn synthesize_speech(
        &self,
        body: &SpeechBody,
        format: EncoderFormat,
    ) -> Result<(), EngineRefusal> {
        let synthesizer = &self.synthesizer;
        let voice = match body.voice.as_deref() {
            Some(voice) => voice,
            None => default_voice(synthesizer)?,
        };
        let failed =
            |error: audio_codec::EncodeError| EngineRefusal::engine_failure(error.to_string());
        let mut encoder = AudioEncoder::new(format, SAMPLE_RATE_HZ).map_err(failed)?;
        let speed = body.speed.unwrap_or(1.0);
        let utterance =
            synthesizer.speak_until(&body.input, voice, speed, Arc::clone(&self.cancel));
        for samples in utterance.map_err(|it| convert_speech_error(it, synthesizer))? {
            let samples = samples.map_err(|error| convert_speech_error(error, synthesizer))?;
            let bytes = encoder.push(&samples).map_err(failed)?;
            let is_heard =
                bytes.is_empty() || self.heard_by.blocking_send(Ok(bytes.into())).is_ok();
            if !is_heard {
                return Ok(());
            }
        }
        let bytes = encoder.finish().map_err(failed)?;
        if !bytes.is_empty() {
            let _ = self.heard_by.blocking_send(Ok(bytes.into()));
        }
        Ok(())
    }
}

/// The default voice of the specification, if the model has it.
fn default_voice(synthesizer: &SpeechSynthesizer) -> Result<&str, EngineRefusal> {
    let voices = synthesizer.voices();
    let named = voices.iter().find(|voice| voice.name == "af_sky").or(voices.first());
    let voice = named.ok_or_else(|| EngineRefusal::engine_failure("The model has no voice."))?;
    Ok(&voice.name)
}

fn convert_speech_error(error: SpeechError, synthesizer: &SpeechSynthesizer) -> EngineRefusal {
    let message = error.to_string();
    match error {
        SpeechError::UnknownVoice(_) => {
            let voices: Vec<&str> =
                synthesizer.voices().iter().map(|it| it.name.as_str()).collect();
            let message = format!("{message}; choose one of {}", voices.join(", "));
            EngineRefusal::invalid(Some("voice"), message)
        }
        SpeechError::TooLong { .. } | SpeechError::Unspeakable => {
            EngineRefusal::invalid(Some("input"), message)
        }
        SpeechError::Speed { .. } => EngineRefusal::invalid(Some("speed"), message),
        SpeechError::File { .. } | SpeechError::Engine(_) | SpeechError::NoSound => {
            EngineRefusal::engine_failure(message)
        }
    }
}
