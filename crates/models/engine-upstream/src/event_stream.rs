//! Turns a streaming HTTP response into chat events as they arrive.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use engine::{ChatEvent, ChatStream, EngineError, TimeoutPhase};
use futures_util::stream;
use lanes::IdleTimer;
use outbound::{BodyPieces, UpstreamResponse};
use tokio::time::{Instant, timeout_at};

use crate::sse::{SseError, SseParser};
use crate::transport::{UpstreamTimeouts, bad_answer, connection_error};

/// Limits streams that send only empty events.
const STREAM_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Time to wait, after the last event, for the end of the body, which frees the connection for
/// reuse.
const TAIL_WAIT: Duration = Duration::from_millis(100);

/// Decodes the events of one protocol.
pub(crate) trait EventDecoder: Send + 'static {
    /// Decodes the data of one event.
    fn decode_event(
        &mut self,
        data: &str,
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<StreamState, EngineError>;

    /// Called at the protocol's end marker or at the end of the body; fails if the answer is
    /// incomplete.
    fn finish_answer(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError>;
}

/// The protocol's statement about further events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamState {
    GoesOn,
    Over,
}

/// Reads until the first event, then returns the stream.
pub(crate) async fn start_stream<D: EventDecoder>(
    answer: UpstreamResponse,
    decoder: D,
    timeouts: UpstreamTimeouts,
    deadline: Instant,
) -> Result<ChatStream, EngineError> {
    let mut pump = ChatEventReader {
        pieces: answer.into_pieces(),
        decoding: SseEventDecoder::new(decoder),
        ready: VecDeque::new(),
        failure: None,
        is_reading: true,
        bytes_left: STREAM_BYTES_MAX,
        idle_timer: IdleTimer::new(timeouts.next_event),
        tail: None,
    };
    if timeout_at(deadline, poll_fn(|context| pump.poll_fill(context))).await.is_err() {
        return Err(EngineError::Timeout { phase: TimeoutPhase::FirstEvent });
    }
    if pump.ready.is_empty() {
        return Err(pump.failure.unwrap_or_else(|| bad_answer("it has no events")));
    }
    Ok(Box::pin(stream::poll_fn(move |context| pump.poll_next(context))))
}

struct ChatEventReader<D> {
    pieces: BodyPieces,
    decoding: SseEventDecoder<D>,
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

impl<D: EventDecoder> ChatEventReader<D> {
    fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<ChatEvent, EngineError>>> {
        if self.ready.is_empty() && self.poll_fill(context).is_pending() {
            ready!(self.idle_timer.poll_elapsed(context));
            self.stop(Err(EngineError::Timeout { phase: TimeoutPhase::NextEvent }));
        }
        if let Some(event) = self.ready.pop_front() {
            self.idle_timer.reset();
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
            return idle_timer.poll_elapsed(context);
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
                Err(fault) => self.stop(Err(connection_error(fault))),
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
            Ok(StreamState::GoesOn) => {}
            Ok(StreamState::Over) => self.stop(Ok(())),
            Err(error) => self.stop(Err(error)),
        }
    }

    fn stop(&mut self, outcome: Result<(), EngineError>) {
        self.is_reading = false;
        self.failure = outcome.err();
    }
}

/// Decodes bytes to events without I/O: an SSE parser with the protocol's decoder.
pub(crate) struct SseEventDecoder<D> {
    parser: SseParser,
    decoder: D,
}

/// The reason why no further event is read.
enum DecodingEnd {
    Over,
    Failed(EngineError),
}

impl From<SseError> for DecodingEnd {
    fn from(fault: SseError) -> DecodingEnd {
        DecodingEnd::Failed(bad_answer(fault.to_string()))
    }
}

impl<D: EventDecoder> SseEventDecoder<D> {
    pub(crate) fn new(decoder: D) -> SseEventDecoder<D> {
        SseEventDecoder { parser: SseParser::default(), decoder }
    }

    /// Events decoded before an error are kept in `ready`.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<StreamState, EngineError> {
        let SseEventDecoder { parser, decoder } = self;
        to_stream_state(parser.push(bytes, &mut |data| decode_event(decoder, data, ready)))
    }

    /// Call at the end of the body.
    pub(crate) fn finish(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError> {
        let SseEventDecoder { parser, decoder } = self;
        match to_stream_state(parser.finish(&mut |data| decode_event(decoder, data, ready)))? {
            StreamState::Over => Ok(()),
            StreamState::GoesOn => decoder.finish_answer(ready),
        }
    }
}

fn decode_event(
    decoder: &mut impl EventDecoder,
    data: &str,
    ready: &mut VecDeque<ChatEvent>,
) -> Result<(), DecodingEnd> {
    match decoder.decode_event(data, ready).map_err(DecodingEnd::Failed)? {
        StreamState::GoesOn => Ok(()),
        StreamState::Over => {
            decoder.finish_answer(ready).map_err(DecodingEnd::Failed)?;
            Err(DecodingEnd::Over)
        }
    }
}

fn to_stream_state(outcome: Result<(), DecodingEnd>) -> Result<StreamState, EngineError> {
    match outcome {
        Ok(()) => Ok(StreamState::GoesOn),
        Err(DecodingEnd::Over) => Ok(StreamState::Over),
        Err(DecodingEnd::Failed(error)) => Err(error),
    }
}
