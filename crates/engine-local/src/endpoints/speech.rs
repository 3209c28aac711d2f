//! `POST /v1/audio/speech`: streams audio while it is synthesized.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use engine_onnx::speech::{Cancel, Error, SAMPLE_RATE_HZ, Speaker};
use futures_util::stream;
use media::{Encoder, Format};
use serde::Deserialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::read_json;
use crate::refusal::Refusal;
use crate::registry::{Model, ModelKind, Registry};

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
type Piece = Result<Bytes, Refusal>;

pub(crate) async fn create(
    State(registry): State<Arc<Registry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let body: SpeechBody = read_json(body)?;
    let Model::Speech(speaker) = registry.get(&body.model, ModelKind::Speech).await?.model else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    let format = format(body.response_format.as_deref())?;
    let (sender, pieces) = channel(PIECES_AHEAD);
    let cancel = Cancel::new().map_err(|error| Refusal::failed(error.to_string()))?;
    let mut listener = Listener { pieces, cancel: Arc::new(cancel) };
    let voice = Voice { speaker, cancel: Arc::clone(&listener.cancel), heard_by: sender };
    tokio::task::spawn_blocking(move || voice.speak(&body, format));
    // The status is known only with the first audio chunk.
    let first = listener.pieces.recv().await;
    let first = first.unwrap_or_else(|| Err(Refusal::failed("It said nothing.")))?;
    let mut response = Body::from_stream(sound(first, listener)).into_response();
    let kind = HeaderValue::from_static(format.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

fn format(name: Option<&str>) -> Result<Format, Refusal> {
    let format = name.map_or(Some(Format::Mp3), Format::parse);
    format.ok_or_else(|| {
        let known = Format::ALL.map(Format::name).join(", ");
        Refusal::invalid(Some("response_format"), format!("Choose one of {known}."))
    })
}

/// On a failure the body ends without its final chunk, so that the client detects it.
fn sound(
    first: Bytes,
    listener: Listener,
) -> impl futures_util::Stream<Item = Result<Bytes, std::io::Error>> {
    let rest = stream::unfold(listener, |mut listener| async move {
        let piece = listener.pieces.recv().await?;
        Some((piece.map_err(|refusal| std::io::Error::other(refusal.message())), listener))
    });
    futures_util::StreamExt::chain(stream::iter([Ok(first)]), rest)
}

/// The receiving side. Dropping it cancels the synthesis, also within a chunk.
struct Listener {
    pieces: Receiver<Piece>,
    cancel: Arc<Cancel>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// The synthesizing side.
struct Voice {
    speaker: Arc<Speaker>,
    cancel: Arc<Cancel>,
    heard_by: Sender<Piece>,
}

impl Voice {
    /// Synthesizes until done or cancelled.
    fn speak(self, body: &SpeechBody, format: Format) {
        if let Err(refusal) = self.say(body, format) {
            // Fails only if the client has disconnected.
            let _ = self.heard_by.blocking_send(Err(refusal));
        }
    }

    fn say(&self, body: &SpeechBody, format: Format) -> Result<(), Refusal> {
        let speaker = &self.speaker;
        let voice = match body.voice.as_deref() {
            Some(voice) => voice,
            None => default_voice(speaker)?,
        };
        let failed = |error: media::EncodeError| Refusal::failed(error.to_string());
        let mut encoder = Encoder::new(format, SAMPLE_RATE_HZ).map_err(failed)?;
        let speed = body.speed.unwrap_or(1.0);
        let utterance = speaker.speak_until(&body.input, voice, speed, Arc::clone(&self.cancel));
        for samples in utterance.map_err(|it| refusal(it, speaker))? {
            let samples = samples.map_err(|error| refusal(error, speaker))?;
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
fn default_voice(speaker: &Speaker) -> Result<&str, Refusal> {
    let voices = speaker.voices();
    let named = voices.iter().find(|voice| voice.name == "af_sky").or(voices.first());
    let voice = named.ok_or_else(|| Refusal::failed("The model has no voice."))?;
    Ok(&voice.name)
}

fn refusal(error: Error, speaker: &Speaker) -> Refusal {
    let message = error.to_string();
    match error {
        Error::UnknownVoice(_) => {
            let voices: Vec<&str> = speaker.voices().iter().map(|it| it.name.as_str()).collect();
            let message = format!("{message}; choose one of {}", voices.join(", "));
            Refusal::invalid(Some("voice"), message)
        }
        Error::TooLong { .. } | Error::Unspeakable => Refusal::invalid(Some("input"), message),
        Error::Speed { .. } => Refusal::invalid(Some("speed"), message),
        Error::File { .. } | Error::Engine(_) | Error::NoSound => Refusal::failed(message),
    }
}
