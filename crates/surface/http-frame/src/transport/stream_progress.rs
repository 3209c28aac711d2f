//! Resets HTTP/2 streams whose peer does not accept the response.
//!
//! hyper takes a response piece by piece and asks for the next piece when the peer's window has
//! room for the last. A peer that opens no window would keep the response, its request and its
//! holds for ever: neither the write timeout nor the idle timeout of the connection notices a
//! stream that waits. So responses are cut into small pieces, and a stream on which a piece waits
//! for too long is dropped, which resets it and discards hyper's buffer.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::rt::Executor;
use hyper_util::rt::TokioExecutor;
use lanes::IdleTimer;

use super::idle;
use super::unsent_bytes::{ConnectionUnsent, UnsentResponse};
use crate::static_content::AlreadyCompressed;

/// Bytes handed to hyper at once, and so the most that it buffers for a stream: one frame of the
/// default size. Also the bytes that a peer must accept within each timeout.
const PIECE_BYTES_MAX: usize = 16 * 1024;
/// Frames up to this length are handed over whole. hyper ends a stream when it has the last piece,
/// whether or not the peer accepts it; the last byte of a longer frame is a piece of its own, so
/// that nothing longer than this stays in hyper's buffer unobserved.
const WHOLE_BYTES_MAX: usize = 1024;

/// Memory of a response whose body does not know its length, such as a compressed one.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResponseMemory(pub(super) usize);

/// Progress of one stream's response. Written and read by the stream's own task.
#[derive(Debug, Default)]
struct StreamProgress {
    /// Set while hyper has a piece and has not asked for the next one.
    is_piece_waiting: AtomicBool,
    /// Bytes of all pieces before the last one: the peer's window had room for them.
    bytes_accepted: AtomicU64,
}

/// Runs the streams of one connection, each with a deadline for its peer.
#[derive(Debug, Clone)]
pub(super) struct StreamExecutor {
    send_timeout: Duration,
    unsent: ConnectionUnsent,
    /// The stream whose request was passed to the service and whose task starts next: hyper does
    /// both in one step.
    begun: Arc<Mutex<Option<Arc<StreamProgress>>>>,
}

/// A stream whose request has begun.
pub(super) struct BegunStream {
    progress: Arc<StreamProgress>,
    unsent: ConnectionUnsent,
    request: idle::OpenRequest,
}

impl StreamExecutor {
    pub(super) fn new(send_timeout: Duration, unsent: ConnectionUnsent) -> StreamExecutor {
        StreamExecutor { send_timeout, unsent, begun: Arc::default() }
    }

    /// Registers the stream of a request. hyper starts its task next.
    pub(super) fn begin(&self, request: idle::OpenRequest) -> BegunStream {
        let progress = Arc::<StreamProgress>::default();
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&progress));
        BegunStream { progress, unsent: self.unsent.clone(), request }
    }
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).take();
        match begun {
            Some(progress) => TokioExecutor::new().execute(WatchedStream {
                stream: Box::pin(stream),
                progress,
                send_timeout: self.send_timeout,
                behind: None,
            }),
            None => TokioExecutor::new().execute(stream),
        }
    }
}

impl BegunStream {
    /// Completes when the peer has accepted enough of its other responses.
    pub(super) async fn wait_below_max(&self) {
        self.unsent.wait_below_max().await;
    }

    /// Cuts a response into pieces, and counts its bytes until they are accepted or dropped.
    pub(super) fn track_response(self, response: Response) -> Response {
        let is_shared = response.extensions().get::<AlreadyCompressed>().is_some();
        let memory = response.extensions().get::<ResponseMemory>().map(|it| it.0);
        let memory = if is_shared { Some(0) } else { memory };
        response.map(|body| {
            let length = || body.size_hint().exact().and_then(|it| usize::try_from(it).ok());
            let unsent = self.unsent.count(memory.or_else(length).unwrap_or(0));
            let BegunStream { progress, request, .. } = self;
            let (rest, bytes_handed) = (Bytes::new(), 0);
            let pieces =
                ResponsePieces { body, rest, bytes_handed, progress, unsent, _request: request };
            Body::new(pieces)
        })
    }
}

/// One stream of a connection, until its response ends or its peer is too slow.
struct WatchedStream<F> {
    stream: Pin<Box<F>>,
    progress: Arc<StreamProgress>,
    send_timeout: Duration,
    /// None until the peer is first slower than the response.
    behind: Option<PeerBehind>,
}

/// A peer that accepts a response more slowly than it is produced.
struct PeerBehind {
    timer: IdleTimer,
    /// Value when the timer was last reset.
    bytes_accepted: u64,
}

impl<F: Future<Output = ()>> Future for WatchedStream<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        if !this.progress.is_piece_waiting.load(Ordering::Relaxed) {
            if let Some(behind) = &mut this.behind {
                behind.timer.reset();
            }
            return Poll::Pending;
        }
        let bytes_accepted = this.progress.bytes_accepted.load(Ordering::Relaxed);
        let behind = this.behind.get_or_insert_with(|| PeerBehind {
            timer: IdleTimer::new(this.send_timeout),
            bytes_accepted,
        });
        if PIECE_BYTES_MAX as u64 <= bytes_accepted - behind.bytes_accepted {
            behind.timer.reset();
            behind.bytes_accepted = bytes_accepted;
        }
        let overdue = behind.timer.poll_elapsed(context);
        if overdue.is_ready() {
            tracing::debug!("a stream was reset: its client did not accept the response");
        }
        overdue
    }
}

/// A response body in pieces.
struct ResponsePieces {
    body: Body,
    /// The rest of a frame that was handed over in part.
    rest: Bytes,
    /// Sum over all pieces so far.
    bytes_handed: u64,
    progress: Arc<StreamProgress>,
    unsent: UnsentResponse,
    /// Keeps the connection from counting as idle.
    _request: idle::OpenRequest,
}

impl ResponsePieces {
    fn hand_over_piece(&mut self) -> Bytes {
        let length = self.rest.len();
        let piece = if length <= WHOLE_BYTES_MAX {
            std::mem::take(&mut self.rest)
        } else {
            self.rest.split_to((length - 1).min(PIECE_BYTES_MAX))
        };
        self.progress.is_piece_waiting.store(true, Ordering::Relaxed);
        self.progress.bytes_accepted.store(self.bytes_handed, Ordering::Relaxed);
        self.bytes_handed += piece.len() as u64;
        self.unsent.subtract(piece.len());
        piece
    }
}

impl HttpBody for ResponsePieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            let polled = Pin::new(&mut self.body).poll_frame(context);
            if polled.is_pending() {
                self.progress.is_piece_waiting.store(false, Ordering::Relaxed);
            }
            match polled {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                ended_or_pending => return ended_or_pending,
            }
        }
        Poll::Ready(Some(Ok(Frame::data(self.hand_over_piece()))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (body, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower().saturating_add(rest));
        if let Some(upper) = body.upper().and_then(|upper| upper.checked_add(rest)) {
            hint.set_upper(upper);
        }
        hint
    }
}

#[cfg(test)]
mod tests;
