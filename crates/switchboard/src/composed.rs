//! The built-in composer as a media engine: it renders a piece when the piece is downloaded.

use std::sync::Arc;

use bytes::Bytes;
use composer::{Plan, SECONDS_MAX, file, plan};
use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, Progress, Ticket};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use media::Format;
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
pub struct Composer {
    places: Arc<Semaphore>,
}

impl Default for Composer {
    fn default() -> Composer {
        Composer { places: Arc::new(Semaphore::new(PIECES_AT_ONCE)) }
    }
}

/// All parameters of a piece; contains no text of the caller.
#[derive(Serialize, Deserialize)]
struct Piece {
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

impl MediaEngine for Composer {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        Piece::of(request).map(drop)
    }

    fn submit<'a>(
        &'a self,
        _: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<Ticket, EngineError>> {
        Box::pin(async move {
            let piece = Piece::of(request)?;
            Ok(Ticket(serde_json::to_string(&piece).unwrap_or_default()))
        })
    }

    fn look<'a>(&'a self, _: &'a Ticket) -> BoxFuture<'a, Result<Progress, EngineError>> {
        Box::pin(async { Ok(Progress::Done) })
    }

    fn fetch<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(async move {
            let (plan, format) = Piece::read(&ticket.0)?;
            let closed =
                |_| EngineError::BadAnswer { cause: "the composer has stopped".to_owned() };
            let place = Arc::clone(&self.places).acquire_owned().await.map_err(closed)?;
            let composing = tokio::task::spawn_blocking(move || {
                let made = file(&plan, format);
                drop(place);
                made
            });
            let made = composing.await.map_err(|error| failed(&error))?;
            let bytes = made.map_err(|error| failed(&error))?;
            Ok(MediaFile { bytes: stream::iter([Ok(Bytes::from(bytes))]).boxed() })
        })
    }

    fn cancel<'a>(&'a self, _: &'a Ticket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async { Ok(true) })
    }

    /// True: a ticket contains all parameters, so the same ticket gives the same piece.
    fn knows_names(&self) -> bool {
        true
    }
}

impl Piece {
    /// Derives the parameters. Requests for vocals are rejected.
    fn of(request: &MediaRequest) -> Result<Piece, EngineError> {
        let MediaRequest::Music(request) = request else {
            let message = "The composer makes no videos.".to_owned();
            return Err(EngineError::Rejected { message });
        };
        if request.lyrics.is_some() || request.optimizes_lyrics || request.voice.is_some() {
            let message = "The composer does not sing; send no lyrics and no voice.".to_owned();
            return Err(EngineError::Rejected { message });
        }
        let format = request.format.as_deref().unwrap_or("mp3");
        if !["mp3", "flac", "wav"].contains(&format) {
            let message = format!("The composer makes mp3, flac and wav, not {format}.");
            return Err(EngineError::Rejected { message });
        }
        let seconds = request.duration_s.unwrap_or(SECONDS_DEFAULT);
        let seconds = u32::try_from(seconds).unwrap_or(SECONDS_MAX);
        let plan = plan(&request.prompt, seconds, request.seed);
        Ok(Piece {
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

    fn read(ticket: &str) -> Result<(Plan, Format), EngineError> {
        let unknown = || EngineError::BadAnswer {
            cause: "the piece was begun by another release".to_owned(),
        };
        let piece: Piece = serde_json::from_str(ticket).map_err(|_| unknown())?;
        let plan = Plan {
            style: composer::StyleName::parse(&piece.style).ok_or_else(unknown)?,
            bpm: piece.bpm,
            root: piece.root,
            mode: composer::Mode::parse(&piece.mode).ok_or_else(unknown)?,
            lead: piece.lead.as_deref().and_then(composer::Instrument::parse),
            has_drums: piece.has_drums,
            seconds: piece.seconds,
            seed: piece.seed,
        };
        Ok((plan, Format::parse(&piece.format).ok_or_else(unknown)?))
    }
}

fn failed(error: &dyn std::fmt::Display) -> EngineError {
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
        let composer = Composer::default();
        let ticket = composer.submit("x", &MediaRequest::Music(request)).await.unwrap();
        assert!(!ticket.0.contains(prompt), "a ticket keeps nothing of a prompt");
        assert_eq!(composer.look(&ticket).await, Ok(Progress::Done));
        let file = composer.fetch(&ticket).await.unwrap();
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
        let (composer, request) = (Composer::default(), MediaRequest::Music(request));
        assert!(matches!(composer.check(&request), Err(EngineError::Rejected { .. })));
        let refused = composer.submit("x", &request).await;
        assert!(matches!(refused, Err(EngineError::Rejected { .. })));
    }
}
