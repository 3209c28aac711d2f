//! `POST /v1/audio/speech`: sound that is sent as it is spoken.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use engine_onnx::speech::{Error, SAMPLE_RATE_HZ, Speaker};
use futures_util::stream;
use media::{Encoder, Format};
use serde::Deserialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::read_json;
use crate::refusal::Refusal;
use crate::registry::{Kind, Model, Registry};

/// Pieces of sound that wait for a slow listener; the voice waits with them.
const PIECES_AHEAD: usize = 4;

#[derive(Debug, Deserialize)]
struct SpeechBody {
    model: String,
    input: String,
    voice: Option<String>,
    response_format: Option<String>,
    speed: Option<f32>,
}

/// What is sent, or why there is nothing more.
type Piece = Result<Bytes, Refusal>;

pub(crate) async fn create(
    State(registry): State<Arc<Registry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let body: SpeechBody = read_json(body)?;
    let Model::Speech(speaker) = registry.get(&body.model, Kind::Speech).await?.model else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    let format = format(body.response_format.as_deref())?;
    let (sender, mut pieces) = channel(PIECES_AHEAD);
    tokio::task::spawn_blocking(move || speak(&speaker, &body, format, &sender));
    // The status is only known when there is sound.
    let first = pieces.recv().await.unwrap_or_else(|| Err(Refusal::failed("It said nothing.")))?;
    let mut response = Body::from_stream(sound(first, pieces)).into_response();
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

/// A stream that breaks off without its end tells its reader that something failed.
fn sound(
    first: Bytes,
    pieces: Receiver<Piece>,
) -> impl futures_util::Stream<Item = Result<Bytes, std::io::Error>> {
    let rest = stream::unfold(pieces, |mut pieces| async move {
        let piece = pieces.recv().await?;
        Some((piece.map_err(|refusal| std::io::Error::other(refusal.message())), pieces))
    });
    futures_util::StreamExt::chain(stream::iter([Ok(first)]), rest)
}

/// Speaks until it is done or nobody listens.
fn speak(speaker: &Speaker, body: &SpeechBody, format: Format, listener: &Sender<Piece>) {
    if let Err(refusal) = say(speaker, body, format, listener) {
        // Whoever has gone does not need to know.
        let _ = listener.blocking_send(Err(refusal));
    }
}

fn say(
    speaker: &Speaker,
    body: &SpeechBody,
    format: Format,
    listener: &Sender<Piece>,
) -> Result<(), Refusal> {
    let voice = match body.voice.as_deref() {
        Some(voice) => voice,
        None => default_voice(speaker)?,
    };
    let failed = |error: media::EncodeError| Refusal::failed(error.to_string());
    let mut encoder = Encoder::new(format, SAMPLE_RATE_HZ).map_err(failed)?;
    let speed = body.speed.unwrap_or(1.0);
    let utterance = speaker.speak(&body.input, voice, speed).map_err(|it| refusal(it, speaker))?;
    for samples in utterance {
        let samples = samples.map_err(|error| refusal(error, speaker))?;
        let bytes = encoder.push(&samples).map_err(failed)?;
        let is_heard = bytes.is_empty() || listener.blocking_send(Ok(bytes.into())).is_ok();
        if !is_heard {
            return Ok(());
        }
    }
    let bytes = encoder.finish().map_err(failed)?;
    if !bytes.is_empty() {
        let _ = listener.blocking_send(Ok(bytes.into()));
    }
    Ok(())
}

/// The one that the specification names, where the model has it.
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
