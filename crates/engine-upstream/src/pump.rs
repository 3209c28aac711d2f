//! Turns a streaming HTTP answer into chat events as they arrive.

use std::collections::VecDeque;
use std::time::Duration;

use engine::{ChatEvent, ChatStream, EngineError, Phase};
use futures_util::stream;
use outbound::Answer;
use tokio::time::{Instant, timeout, timeout_at};

use crate::sse::{SseEvent, SseParser};
use crate::transport::{Timeouts, bad_answer, next_piece};

/// A stream that only ever sends empty events ends here at the latest.
const STREAM_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// How long to wait, after the last event, for the end of the body that frees the connection
/// for the next request.
const TAIL_WAIT: Duration = Duration::from_millis(100);

/// One protocol's way of reading events.
pub(crate) trait Decoder: Send + 'static {
    fn accept(
        &mut self,
        event: &SseEvent,
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<Reading, EngineError>;

    /// The answer is over, by its own mark or because the body ended: fails if it is not whole.
    fn end(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError>;
}

/// Whether the protocol says that more will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    GoesOn,
    Over,
}

/// Reads until the first event is there, then hands out the stream.
pub(crate) async fn start<D: Decoder>(
    answer: Answer,
    decoder: D,
    timeouts: Timeouts,
    deadline: Instant,
) -> Result<ChatStream, EngineError> {
    let mut pump = Pump {
        answer,
        decoding: Decoding::new(decoder),
        ready: VecDeque::new(),
        failure: None,
        is_reading: true,
        bytes_left: STREAM_BYTES_MAX,
    };
    if timeout_at(deadline, pump.fill()).await.is_err() {
        return Err(EngineError::Timeout { phase: Phase::FirstEvent });
    }
    if pump.ready.is_empty() {
        return Err(pump.failure.unwrap_or_else(|| bad_answer("it has no events")));
    }
    Ok(Box::pin(stream::unfold(pump, move |mut pump| async move {
        let item = pump.next(timeouts.next_event).await?;
        Some((item, pump))
    })))
}

struct Pump<D> {
    answer: Answer,
    decoding: Decoding<D>,
    /// Events that are read and not yet taken.
    ready: VecDeque<ChatEvent>,
    /// What ended the reading, told once the events before it are taken.
    failure: Option<EngineError>,
    is_reading: bool,
    bytes_left: u64,
}

impl<D: Decoder> Pump<D> {
    async fn next(&mut self, patience: Duration) -> Option<Result<ChatEvent, EngineError>> {
        if self.ready.is_empty() && timeout(patience, self.fill()).await.is_err() {
            self.stop(Err(EngineError::Timeout { phase: Phase::NextEvent }));
        }
        if let Some(event) = self.ready.pop_front() {
            return Some(Ok(event));
        }
        if let Some(failure) = self.failure.take() {
            return Some(Err(failure));
        }
        let _ = timeout(TAIL_WAIT, next_piece(&mut self.answer)).await;
        None
    }

    /// Reads until an event is ready or the reading is over.
    async fn fill(&mut self) {
        while self.is_reading && self.ready.is_empty() {
            match next_piece(&mut self.answer).await {
                Ok(Some(piece)) => self.take(&piece),
                Ok(None) => {
                    let outcome = self.decoding.finish(&mut self.ready);
                    self.stop(outcome);
                }
                Err(error) => self.stop(Err(error)),
            }
        }
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

/// Bytes in, events out, without a network: a parser and the protocol's decoder behind it.
pub(crate) struct Decoding<D> {
    parser: SseParser,
    decoder: D,
    incoming: VecDeque<SseEvent>,
}

impl<D: Decoder> Decoding<D> {
    pub(crate) fn new(decoder: D) -> Decoding<D> {
        Decoding { parser: SseParser::default(), decoder, incoming: VecDeque::new() }
    }

    /// Events that were read before a failure are ready all the same.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        ready: &mut VecDeque<ChatEvent>,
    ) -> Result<Reading, EngineError> {
        let parsed = self.parser.push(bytes, &mut self.incoming);
        if self.decode(ready)? == Reading::Over {
            return Ok(Reading::Over);
        }
        parsed.map_err(|fault| bad_answer(fault.to_string()))?;
        Ok(Reading::GoesOn)
    }

    /// The body is over.
    pub(crate) fn finish(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<(), EngineError> {
        let parsed = self.parser.finish(&mut self.incoming);
        if self.decode(ready)? == Reading::Over {
            return Ok(());
        }
        parsed.map_err(|fault| bad_answer(fault.to_string()))?;
        self.decoder.end(ready)
    }

    fn decode(&mut self, ready: &mut VecDeque<ChatEvent>) -> Result<Reading, EngineError> {
        while let Some(event) = self.incoming.pop_front() {
            if self.decoder.accept(&event, ready)? == Reading::Over {
                self.decoder.end(ready)?;
                return Ok(Reading::Over);
            }
        }
        Ok(Reading::GoesOn)
    }
}
