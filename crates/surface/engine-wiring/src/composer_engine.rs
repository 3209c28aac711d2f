//! The built-in composer as a media engine: it renders a piece when the piece is downloaded.

use std::sync::Arc;

use audio_codec::EncoderFormat;
use bytes::Bytes;
use composer::{SECONDS_MAX, SongPlan, plan_song, render_file};
use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, MediaStatus, MediaTicket};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

/// The upstream id of the composer at the built-in provider.
pub const COMPOSER: &str = "composer";
/// Pieces rendered at the same time: each takes a core, and a long one some hundred megabytes.
const PIECES_AT_ONCE: usize = 1;
/// Length in seconds if the request names none.
const SECONDS_DEFAULT: u64 = 60;

/// Renders pieces one at a time, on blocking threads.
#[derive(Clone)]
pub struct ComposerEngine {
    places: Arc<Semaphore>,
}

impl Default for ComposerEngine {
    fn default() -> ComposerEngine {
        ComposerEngine { places: Arc::new(Semaphore::new(PIECES_AT_ONCE)) }
    }
}

/// All parameters of a piece; contains no text of the caller.
#[derive(Serialize, Deserialize)]
struct PieceParameters {
    style: String,
    bpm: u16,
    root: u8,
    mode: String,
    lead: Option<String>,
    has_drums: bool,
    seconds: u32,
    seed: u64,
    format: String,
}

impl MediaEngine for ComposerEngine {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        PieceParameters::from_request(request).map(drop)
    }

    fn submit<'a>(
        &'a self,
        _: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<MediaTicket, EngineError>> {
        Box::pin(async move {
            let piece = PieceParameters::from_request(request)?;
            Ok(MediaTicket(serde_json::to_string(&piece).unwrap_or_default()))
        })
    }

    fn poll_status<'a>(
        &'a self,
        _: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaStatus, EngineError>> {
        Box::pin(async { Ok(MediaStatus::Done) })
    }

    fn download<'a>(
        &'a self,
        ticket: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(async move {
            let (plan, format) = PieceParameters::read(&ticket.0)?;
            let closed =
                |_| EngineError::BadAnswer { cause: "the composer has stopped".to_owned() };
            let place = Arc::clone(&self.places).acquire_owned().await.map_err(closed)?;
            let composing = tokio::task::spawn_blocking(move || {
                let made = render_file(&plan, format);
                drop(place);
                made
            });
            let made = composing.await.map_err(|error| composer_error(&error))?;
            let bytes = made.map_err(|error| composer_error(&error))?;
            Ok(MediaFile { bytes: stream::iter([Ok(Bytes::from(bytes))]).boxed() })
        })
    }

    fn cancel<'a>(&'a self, _: &'a MediaTicket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async { Ok(true) })
    }

    /// True: a ticket contains all parameters, so the same ticket gives the same piece.
    fn has_idempotent_submit(&self) -> bool {
        true
    }
}

impl PieceParameters {
    /// Derives the parameters. Requests for vocals are rejected.
    fn from_request(request: &MediaRequest) -> Result<PieceParameters, EngineError> {
        let MediaRequest::Music(request) = request else {
            let message = "The composer does not generate videos.".to_owned();
            return Err(EngineError::Rejected { message });
        };
        if request.lyrics.is_some() || request.optimizes_lyrics || request.voice.is_some() {
            let message =
                "The composer generates instrumental music only; send no lyrics and no voice."
                    .to_owned();
            return Err(EngineError::Rejected { message });
        }
        let format = request.format.as_deref().unwrap_or("mp3");
        if !["mp3", "flac", "wav"].contains(&format) {
            let message = format!("The composer supports mp3, flac and wav, not {format}.");
            return Err(EngineError::Rejected { message });
        }
        let seconds = request.duration_s.unwrap_or(SECONDS_DEFAULT);
        let seconds = u32::try_from(seconds).unwrap_or(SECONDS_MAX);
        let plan = plan_song(&request.prompt, seconds, request.seed);
        Ok(PieceParameters {
            style: plan.style.name().to_owned(),
            bpm: plan.bpm,
            root: plan.root,
            mode: plan.mode.name().to_owned(),
            lead: plan.lead.map(|lead| lead.name().to_owned()),
            has_drums: plan.has_drums,
            seconds: plan.seconds,
            seed: plan.seed,
            format: format.to_owned(),
        })
    }

    fn read(ticket: &str) -> Result<(SongPlan, EncoderFormat), EngineError> {
        let unknown = || EngineError::BadAnswer {
            cause: "the piece was begun by another release".to_owned(),
        };
        let piece: PieceParameters = serde_json::from_str(ticket).map_err(|_| unknown())?;
        let plan = SongPlan {
            style: composer::StyleName::parse(&piece.style).ok_or_else(unknown)?,
            bpm: piece.bpm,
            root: piece.root,
            mode: composer::ScaleMode::parse(&piece.mode).ok_or_else(unknown)?,
            lead: piece.lead.as_deref().and_then(composer::SynthInstrument::parse),
            has_drums: piece.has_drums,
            seconds: piece.seconds,
            seed: piece.seed,
        };
        Ok((plan, EncoderFormat::parse(&piece.format).ok_or_else(unknown)?))
    }
}

fn composer_error(error: &dyn std::fmt::Display) -> EngineError {
    EngineError::BadAnswer { cause: error.to_string() }
}

#[cfg(test)]
mod tests {
    use engine::MusicRequest;
    use futures_util::TryStreamExt;

    use super::*;

    async fn made(prompt: &str, seed: u64) -> Vec<u8> {
        let request = MusicRequest {
            prompt: prompt.to_owned(),
            duration_s: Some(5),
            format: Some("wav".to_owned()),
            seed,
            ..MusicRequest::default()
        };
        let composer = ComposerEngine::default();
        let ticket = composer.submit("x", &MediaRequest::Music(request)).await.unwrap();
        assert!(!ticket.0.contains(prompt), "a ticket keeps nothing of a prompt");
        assert_eq!(composer.poll_status(&ticket).await, Ok(MediaStatus::Done));
        let file = composer.download(&ticket).await.unwrap();
        let pieces: Vec<Bytes> = file.bytes.try_collect().await.unwrap();
        pieces.concat()
    }

    #[tokio::test]
    async fn a_piece_is_made_and_made_again_the_same() {
        let first = made("somewhat strange", 3).await;
        assert!(first.starts_with(b"RIFF"));
        assert!(first == made("somewhat strange", 3).await);
        assert!(first != made("somewhat strange", 4).await);
    }

    #[tokio::test]
    async fn lyrics_are_refused_and_not_faked() {
        let request = MusicRequest { lyrics: Some("la".to_owned()), ..MusicRequest::default() };
        let (composer, request) = (ComposerEngine::default(), MediaRequest::Music(request));
        assert!(matches!(composer.check(&request), Err(EngineError::Rejected { .. })));
        let refused = composer.submit("x", &request).await;
        assert!(matches!(refused, Err(EngineError::Rejected { .. })));
    }
}
