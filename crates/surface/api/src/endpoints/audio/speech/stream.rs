//! Streamed speech: a task owns the engine and the hold, and sends audio to the connection.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use engine::{EngineError, SoundStream, SpeechRequest};
use futures_util::{StreamExt, stream};
use http_frame::refusal::inference::InferenceFailure;
use http_frame::request_id::RequestId;
use logging::request::with_current_request_id;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::yield_now;
use tokio::time::timeout;

use super::paid_speech::PaidSpeech;
use super::tail::WithheldTail;

/// Pieces buffered for a slow client before the engine is slowed down.
const PIECES_WAITING_MAX: usize = 16;
/// A client that accepts nothing for this long counts as disconnected.
const STALL_MAX: Duration = Duration::from_secs(120);

enum AudioPiece {
    Sound(Bytes),
    /// The audio is complete and its charge is durable. The last piece.
    End,
    /// The audio broke off. The last piece.
    Failed(InferenceFailure),
}

/// A stream of audio whose first bytes have arrived. Dropping it cancels the speech, which is still
/// charged.
pub(super) struct SpeechStream {
    request_id: RequestId,
    first: Bytes,
    pieces: Receiver<AudioPiece>,
}

impl PaidSpeech {
    /// Waits for the first bytes, so that a failure before them gets its own HTTP status.
    pub(super) async fn start_stream(
        self,
        request: Arc<SpeechRequest>,
    ) -> Result<SpeechStream, InferenceFailure> {
        let (sender, mut pieces) = mpsc::channel(PIECES_WAITING_MAX);
        let request_id = self.funds.request_id.clone();
        let tasks = self.funds.app.tasks.clone();
        tasks.spawn(with_current_request_id(run_speech(self, request, sender)));
        match pieces.recv().await {
            Some(AudioPiece::Sound(first)) => Ok(SpeechStream { request_id, first, pieces }),
            Some(AudioPiece::Failed(failure)) => Err(failure),
            Some(AudioPiece::End) | None => Err(InferenceFailure::Lost),
        }
    }
}

impl SpeechStream {
    /// A body that fails if the audio breaks off: a truncated file must not look complete.
    pub(super) fn into_body(self) -> Body {
        let SpeechStream { request_id, first, pieces } = self;
        let rest = stream::unfold((pieces, request_id), |(mut pieces, request_id)| async move {
            let piece = pieces.recv().await.unwrap_or(AudioPiece::Failed(InferenceFailure::Lost));
            let told = match piece {
                AudioPiece::Sound(bytes) => Ok(bytes),
                AudioPiece::End => return None,
                AudioPiece::Failed(failure) => {
                    // An error makes hyper drop everything that it has not written yet, even the
                    // status. Being pending once lets it write that first.
                    yield_now().await;
                    Err(to_body_error(&failure, &request_id))
                }
            };
            Some((told, (pieces, request_id)))
        });
        Body::from_stream(stream::iter([Ok(first)]).chain(rest))
    }
}

fn to_body_error(failure: &InferenceFailure, request_id: &RequestId) -> io::Error {
    tracing::warn!(
        http.request_id = request_id.as_str(),
        error = %failure,
        "speech failed after its first bytes were sent: {failure}"
    );
    io::Error::other("the speech broke off")
}

/// The way in which the audio ended.
enum SpeechEnd {
    Whole(Bytes),
    Broken(EngineError),
    /// The client disconnected.
    Unheard,
}

async fn run_speech(speech: PaidSpeech, request: Arc<SpeechRequest>, sender: Sender<AudioPiece>) {
    let engine = Arc::clone(&speech.engine);
    let opened = tokio::select! {
        opened = engine.synthesize(request) => opened,
        () = sender.closed() => return speech.funds.release(),
    };
    let end = match opened {
        Ok(sound) => forward_sound(sound, &sender).await,
        Err(error) => SpeechEnd::Broken(error),
    };
    match end {
        SpeechEnd::Whole(last) => match speech.pay().await {
            Ok(_) => {
                send_piece(&sender, AudioPiece::Sound(last)).await;
                send_piece(&sender, AudioPiece::End).await;
            }
            Err(failure) => {
                send_piece(&sender, AudioPiece::Failed(failure)).await;
            }
        },
        SpeechEnd::Broken(error) => {
            speech.funds.release();
            send_piece(&sender, AudioPiece::Failed(InferenceFailure::Engine(error))).await;
        }
        SpeechEnd::Unheard => {
            if let Err(failure) = speech.pay().await {
                tracing::error!(error = %failure, "unheard speech was not charged: {failure}");
            }
        }
    }
}

/// Sends all but the last bytes, which are kept back until the charge is durable.
async fn forward_sound(mut sound: SoundStream, sender: &Sender<AudioPiece>) -> SpeechEnd {
    let mut tail = WithheldTail::default();
    loop {
        let next = tokio::select! {
            biased;
            () = sender.closed() => return SpeechEnd::Unheard,
            next = sound.next() => next,
        };
        let bytes = match next {
            Some(Ok(bytes)) => bytes,
            Some(Err(error)) => return SpeechEnd::Broken(error),
            None => return SpeechEnd::Whole(tail.into_bytes()),
        };
        if let Some(ready) = tail.push(&bytes)
            && !send_piece(sender, AudioPiece::Sound(ready)).await
        {
            return SpeechEnd::Unheard;
        }
    }
}

/// Returns false if the client has disconnected or stalled.
async fn send_piece(sender: &Sender<AudioPiece>, piece: AudioPiece) -> bool {
    matches!(timeout(STALL_MAX, sender.send(piece)).await, Ok(Ok(())))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use axum::response::Response;
    use engine::EngineError;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_failure_right_behind_the_first_bytes_leaves_them_and_the_status() {
        let (sender, pieces) = mpsc::channel(1);
        let failure = InferenceFailure::Engine(EngineError::BadAnswer { cause: "cut".to_owned() });
        assert!(send_piece(&sender, AudioPiece::Failed(failure)).await);
        let first = Bytes::from_static(b"first");
        let flow = SpeechStream { request_id: RequestId::default(), first, pieces };
        let body = Cell::new(Some(flow.into_body()));

        let (mut caller, server) = tokio::io::duplex(4096);
        caller.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").await.unwrap();
        let answer = service_fn(|_| {
            let body = body.take().unwrap();
            async { Ok::<_, Infallible>(Response::new(body)) }
        });
        http1::Builder::new().serve_connection(TokioIo::new(server), answer).await.unwrap_err();

        let mut heard = String::new();
        caller.read_to_string(&mut heard).await.unwrap();
        assert!(heard.starts_with("HTTP/1.1 200 OK\r\n"), "{heard:?}");
        assert!(heard.ends_with("\r\n5\r\nfirst\r\n"), "{heard:?}");
    }
}
