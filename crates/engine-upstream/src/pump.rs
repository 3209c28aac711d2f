//! Turns a streaming HTTP response into chat events as they arrive.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use engine::{ChatEvent, ChatStream, EngineError, Phase};
use futures_util::stream;
use lanes::IdleTimer;
use outbound::{Answer, Pieces};
use tokio::time::{Instant, timeout_at};

use crate::sse::{SseError, SseParser};
use crate::transport::{Timeouts, bad_answer, broken};

/// Limits streams that send only empty events.
const STREAM_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Time to wait, after the last event, for the end of the body, which frees the connection for
/// reuse.
const TAIL_WAIT: Duration = Duration::from_millis(100);

/// Decodes the events of one protocol.
pub(crate) trait Decoder: Send + 'static {
    /// Decodes the data of one event.
    fn accept(
        &mut self,
        data: &str,
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<Reading, EngineError>;

    /// Called at the protocol's end marker or at the end of the body; fails if the answer is
    /// incomplete.
    fn end(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError>;
}

/// The protocol's statement about further events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    GoesOn,
    Over,
}

/// Reads until the first event, then returns the stream.
pub(crate) async fn start<D: Decoder>(
    answer: Answer,
    decoder: D,
    timeouts: Timeouts,
    deadline: Instant,
) -> Result<ChatStream, EngineError> {
    let mut pump = Pump {
        pieces: answer.into_pieces(),
        decoding: Decoding::new(decoder),
        ready: VecDeque::new(),
        failure: None,
        is_reading: true,
        bytes_left: STREAM_BYTES_MAX,
        idle_timer: IdleTimer::new(timeouts.next_event),
        tail: None,
    };
    if timeout_at(deadline, poll_fn(|context| pump.poll_fill(context))).await.is_err() {
        return Err(EngineError::Timeout { phase: Phase::FirstEvent });
    }
    if pump.ready.is_empty() {
        return Err(pump.failure.unwrap_or_else(|| bad_answer("it has no events")));
    }
    Ok(Box::pin(stream::poll_fn(move |context| pump.poll_next(context))))
}

struct Pump<D> {
    pieces: Pieces,
    decoding: Decoding<D>,
    /// Decoded events that were not yet taken.
    ready: VecDeque<ChatEvent>,
    /// The error that ended the reading, returned after the events before it.
    failure: Option<EngineError>,
    is_reading: bool,
    bytes_left: u64,
    /// Timeout of the next event.
    idle_timer: IdleTimer,
    /// Timeout of the end of the body.
    tail: Option<IdleTimer>,
}

impl<D: Decoder> Pump<D> {
    fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<ChatEvent, EngineError>>> {
        if self.ready.is_empty() && self.poll_fill(context).is_pending() {
            ready!(self.idle_timer.poll_over(context));
            self.stop(Err(EngineError::Timeout { phase: Phase::NextEvent }));
        }
        if let Some(event) = self.ready.pop_front() {
            self.idle_timer.calm();
            return Poll::Ready(Some(Ok(event)));
        }
        if let Some(failure) = self.failure.take() {
            return Poll::Ready(Some(Err(failure)));
        }
        self.poll_tail(context).map(|()| None)
    }

    /// Polls for the end of the body. It usually arrived with the last event and is ready at the
    /// next poll, so the timer is created only if it is not.
    fn poll_tail(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.pieces.poll_next(context).is_ready() {
            return Poll::Ready(());
        }
        if let Some(idle_timer) = &mut self.tail {
            return idle_timer.poll_over(context);
        }
        self.tail = Some(IdleTimer::new(TAIL_WAIT));
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads until an event is ready or the reading has ended.
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.is_reading && self.ready.is_empty() {
            match ready!(self.pieces.poll_next(context)) {
                Ok(Some(piece)) => self.take(&piece),
                Ok(None) => {
                    let outcome = self.decoding.finish(&mut self.ready);
                    self.stop(outcome);
                }
                Err(fault) => self.stop(Err(broken(fault))),
            }
        }
        Poll::Ready(())
    }

    fn take(&mut self, piece: &[u8]) {
        let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        let Some(bytes_left) = self.bytes_left.checked_sub(length) else {
            return self.stop(Err(bad_answer(format!("it is over {STREAM_BYTES_MAX} bytes long"))));
        };
        self.bytes_left = bytes_left;
        match self.decoding.push(piece, &mut self.ready) {
            Ok(Reading::GoesOn) => {}
            Ok(Reading::Over) => self.stop(Ok(())),
            Err(error) => self.stop(Err(error)),
        }
    }

    fn stop(&mut self, outcome: Result<(), EngineError>) {
        self.is_reading = false;
        self.failure = outcome.err();
    }
}

/// Decodes bytes to events without I/O: an SSE parser with the protocol's decoder.
pub(crate) struct Decoding<D> {
    parser: SseParser,
    decoder: D,
}

/// The reason why no further event is read.
enum Stop {
    Over,
    Failed(EngineError),
}

impl From<SseError> for Stop {
    fn from(fault: SseError) -> Stop {
        Stop::Failed(bad_answer(fault.to_string()))
    }
}

impl<D: Decoder> Decoding<D> {
    pub(crate) fn new(decoder: D) -> Decoding<D> {
        Decoding { parser: SseParser::default(), decoder }
    }

    /// Events decoded before an error are kept in `ready`.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<Reading, EngineError> {
        let Decoding { parser, decoder } = self;
        reading(parser.push(bytes, &mut |data| decode(decoder, data, ready)))
    }

    /// Call at the end of the body.
    pub(crate) fn finish(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError> {
        let Decoding { parser, decoder } = self;
        match reading(parser.finish(&mut |data| decode(decoder, data, ready)))? {
            Reading::Over => Ok(()),
            Reading::GoesOn => decoder.end(ready),
        }
    }
}

fn decode(
    decoder: &mut impl Decoder,
    data: &str,
    ready: &mut VecDeque<ChatEvent>,
) -> Result<(), Stop> {
    match decoder.accept(data, ready).map_err(Stop::Failed)? {
        Reading::GoesOn => Ok(()),
        Reading::Over => {
            decoder.end(ready).map_err(Stop::Failed)?;
            Err(Stop::Over)
        }
    }
}

fn reading(outcome: Result<(), Stop>) -> Result<Reading, EngineError> {
    match outcome {
        Ok(()) => Ok(Reading::GoesOn),
        Err(Stop::Over) => Ok(Reading::Over),
        Err(Stop::Failed(error)) => Err(error),
    }
}
