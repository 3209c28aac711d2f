//! Streamed speech: a task owns the engine and the hold, and sends audio to the connection.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use engine::{EngineError, SoundStream, SpeechRequest};
use futures_util::{StreamExt, stream};
use logging::request::work_for_same;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::yield_now;
use tokio::time::timeout;

use super::paid_speech::PaidSpeech;
use super::tail::Tail;
use crate::refusal::inference::Failure;
use crate::request_id::RequestId;

/// Pieces buffered for a slow client before the engine is slowed down.
const PIECES_WAITING_MAX: usize = 16;
/// A client that accepts nothing for this long counts as disconnected.
const STALL_MAX: Duration = Duration::from_secs(120);

enum Piece {
    Sound(Bytes),
    /// The audio is complete and its charge is durable. The last piece.
    End,
    /// The audio broke off. The last piece.
    Failed(Failure),
}

/// A stream of audio whose first bytes have arrived. Dropping it cancels the speech, which is still
/// charged.
pub(super) struct Flow {
    request_id: RequestId,
    first: Bytes,
    pieces: Receiver<Piece>,
}

impl PaidSpeech {
    /// Waits for the first bytes, so that a failure before them gets its own HTTP status.
    pub(super) async fn stream(self, request: Arc<SpeechRequest>) -> Result<Flow, Failure> {
        let (sender, mut pieces) = mpsc::channel(PIECES_WAITING_MAX);
        let request_id = self.funds.request_id.clone();
        let tasks = self.funds.app.tasks.clone();
        tasks.spawn(work_for_same(run(self, request, sender)));
        match pieces.recv().await {
            Some(Piece::Sound(first)) => Ok(Flow { request_id, first, pieces }),
            Some(Piece::Failed(failure)) => Err(failure),
            Some(Piece::End) | None => Err(Failure::Lost),
        }
    }
}

impl Flow {
    /// A body that fails if the audio breaks off: a truncated file must not look complete.
    pub(super) fn into_body(self) -> Body {
        let Flow { request_id, first, pieces } = self;
        let rest = stream::unfold((pieces, request_id), |(mut pieces, request_id)| async move {
            let piece = pieces.recv().await.unwrap_or(Piece::Failed(Failure::Lost));
            let told = match piece {
                Piece::Sound(bytes) => Ok(bytes),
                Piece::End => return None,
                Piece::Failed(failure) => {
                    // An error makes hyper drop everything that it has not written yet, even the
                    // status. Being pending once lets it write that first.
                    yield_now().await;
                    Err(broken(&failure, &request_id))
                }
            };
            Some((told, (pieces, request_id)))
        });
        Body::from_stream(stream::iter([Ok(first)]).chain(rest))
    }
}

fn broken(failure: &Failure, request_id: &RequestId) -> io::Error {
    tracing::warn!(
        http.request_id = request_id.as_str(),
        error = %failure,
        "speech broke off after it had begun: {failure}"
    );
    io::Error::other("the speech broke off")
}

/// The way in which the audio ended.
enum End {
    Whole(Bytes),
    Broken(EngineError),
    /// The client disconnected.
    Unheard,
}

async fn run(speech: PaidSpeech, request: Arc<SpeechRequest>, sender: Sender<Piece>) {
    let engine = Arc::clone(&speech.engine);
    let opened = tokio::select! {
        opened = engine.speak(request) => opened,
        () = sender.closed() => return speech.funds.release(),
    };
    let end = match opened {
        Ok(sound) => pass_on(sound, &sender).await,
        Err(error) => End::Broken(error),
    };
    match end {
        End::Whole(last) => match speech.pay().await {
            Ok(_) => {
                send(&sender, Piece::Sound(last)).await;
                send(&sender, Piece::End).await;
            }
            Err(failure) => {
                send(&sender, Piece::Failed(failure)).await;
            }
        },
        End::Broken(error) => {
            speech.funds.release();
            send(&sender, Piece::Failed(Failure::Engine(error))).await;
        }
        End::Unheard => {
            if let Err(failure) = speech.pay().await {
                tracing::error!(error = %failure, "speech nobody waited for was not charged: {failure}");
            }
        }
    }
}

/// Sends all but the last bytes, which are kept back until the charge is durable.
async fn pass_on(mut sound: SoundStream, sender: &Sender<Piece>) -> End {
    let mut tail = Tail::default();
    loop {
        let next = tokio::select! {
            biased;
            () = sender.closed() => return End::Unheard,
            next = sound.next() => next,
        };
        let bytes = match next {
            Some(Ok(bytes)) => bytes,
            Some(Err(error)) => return End::Broken(error),
            None => return End::Whole(tail.end()),
        };
        if let Some(ready) = tail.push(&bytes)
            && !send(sender, Piece::Sound(ready)).await
        {
            return End::Unheard;
        }
    }
}

/// Returns false if the client has disconnected or stalled.
async fn send(sender: &Sender<Piece>, piece: Piece) -> bool {
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
        let failure = Failure::Engine(EngineError::BadAnswer { cause: "cut".to_owned() });
        assert!(send(&sender, Piece::Failed(failure)).await);
        let first = Bytes::from_static(b"first");
        let flow = Flow { request_id: RequestId::default(), first, pieces };
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
