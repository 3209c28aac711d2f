//! Streamed answers: a task owns the engine and the meter, and sends events to the connection.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use domain::catalogue::Model;
use engine::{ChatChunk, ChatEvent, ChatStream, EngineError, Phase};
use futures_util::StreamExt;
use logging::request::work_for_same;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::{Instant, timeout, timeout_at};

use super::conceal::conceal_prompt;
use super::gather::{Behind, TOGETHER_MAX, gather};
use super::meter::Meter;
use super::settle::{MeteredAnswer, Settled, note_name, settle};
use super::silence::Silence;
use super::{Candidate, Extras, RouteNotes, Work, nobody_left};
use crate::paid::HeldFunds;
use crate::refusal::Refusal;
use crate::refusal::inference::Failure;
use crate::request_id::RequestId;

/// Parts buffered for a slow client before the engine is slowed down: one batch of events, and the
/// `Opened` part.
const PARTS_WAITING_MAX: usize = TOGETHER_MAX + 1;
/// A client that accepts nothing for this long counts as disconnected.
const STALL_MAX: Duration = Duration::from_secs(120);
/// Time that an engine is still read after the client disconnected, if it bills the whole answer.
const DRAIN_MAX: Duration = Duration::from_secs(120);

/// One part of a streamed answer, as sent to the connection.
#[derive(Debug)]
pub(crate) enum AnswerPart {
    /// The first part: the model that answers.
    Opened(Arc<Model>, RouteNotes),
    Chunk(ChatChunk),
    /// The answer is complete and its charge is durable. The last part.
    Done(Box<Settled>),
    /// The answer broke off. The last part.
    Failed(Failure),
}

/// The parts of one answer. Dropping it cancels the answer.
pub(crate) struct Flow {
    pub(crate) request_id: RequestId,
    prompt_field: &'static str,
    parts: Receiver<AnswerPart>,
}

/// Result of waiting for an answer to begin.
pub(crate) enum Opened {
    By(Arc<Model>, RouteNotes),
    /// Not begun within the wait; it may still fail.
    NotYet,
}

impl Work {
    /// Tries the models in turn until one begins to answer.
    pub(crate) fn stream(self) -> Flow {
        let (sender, parts) = mpsc::channel(PARTS_WAITING_MAX);
        let request_id = self.funds.request_id.clone();
        let prompt_field = self.prompt_field;
        let tasks = self.funds.app.tasks.clone();
        tasks.spawn(work_for_same(async move {
            let Work { candidates, funds, extras, .. } = self;
            run(&candidates, funds, extras, sender).await;
        }));
        Flow { request_id, prompt_field, parts }
    }
}

impl Flow {
    /// Waits up to `wait_max` for the answer to begin: an earlier failure gets its own status.
    pub(crate) async fn opened(&mut self, wait_max: Duration) -> Result<Opened, Refusal> {
        match timeout(wait_max, self.next()).await {
            Ok(AnswerPart::Opened(model, notes)) => Ok(Opened::By(model, notes)),
            Ok(AnswerPart::Failed(failure)) => Err(self.refuse(failure)),
            Ok(AnswerPart::Chunk(_) | AnswerPart::Done(_)) => Err(self.refuse(Failure::Lost)),
            Err(_) => Ok(Opened::NotYet),
        }
    }

    fn refuse(&self, failure: Failure) -> Refusal {
        failure.into_refusal(&self.request_id, self.prompt_field)
    }

    /// A flow whose parts a test sends.
    #[cfg(test)]
    pub(crate) fn scripted() -> (Sender<AnswerPart>, Flow) {
        let (sender, parts) = mpsc::channel(PARTS_WAITING_MAX);
        (sender, Flow { request_id: RequestId::default(), prompt_field: "messages", parts })
    }

    async fn next(&mut self) -> AnswerPart {
        poll_fn(|context| self.poll_next(context)).await
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<AnswerPart> {
        let part = ready!(self.parts.poll_recv(context));
        Poll::Ready(part.unwrap_or(AnswerPart::Failed(Failure::Lost)))
    }
}

async fn run(
    candidates: &[Candidate],
    funds: HeldFunds,
    extras: Extras,
    sender: Sender<AnswerPart>,
) {
    let opened = tokio::select! {
        opened = open(candidates, &funds, &extras) => opened,
        () = sender.closed() => return funds.release(),
    };
    let (candidate, answer_max, stream) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            funds.release();
            let _ = sender.send(AnswerPart::Failed(Failure::Engine(error))).await;
            return;
        }
    };
    let mut reading = Reading {
        candidate: Some(candidate),
        meter: Meter::new(candidate, answer_max),
        sender: &sender,
        bills_after_hangup: false,
        provider: None,
        name: None,
    };
    let end = reading.read(stream, &funds).await;
    note_name(&funds, candidate, reading.name.as_deref());
    let metered =
        MeteredAnswer { used: reading.meter.used(), provider: reading.provider.as_deref() };
    let settled = settle(funds, candidate, metered, extras).await;
    let last = match (end, settled) {
        (End::Unheard, _) => return,
        (End::Whole, Ok(settled)) => AnswerPart::Done(Box::new(settled)),
        (End::Broken(error), Ok(_)) => {
            let error = conceal_prompt(error, &candidate.request);
            AnswerPart::Failed(Failure::Engine(error))
        }
        (_, Err(failure)) => AnswerPart::Failed(failure),
    };
    let _ = timeout(STALL_MAX, sender.send(last)).await;
}

/// The first candidate that begins to answer, with the bound sent to it and its stream.
async fn open<'a>(
    candidates: &'a [Candidate],
    funds: &HeldFunds,
    extras: &Extras,
) -> Result<(&'a Candidate, Option<u64>, ChatStream), EngineError> {
    let mut failure = nobody_left();
    for candidate in candidates {
        let means = extras.taken_from(funds.means());
        let Some(request) = candidate.within(means) else { continue };
        let answer_max = request.completion_tokens_max;
        match candidate.engine.stream(request).await {
            Ok(stream) => return Ok((candidate, answer_max, stream)),
            Err(error) if error.may_fail_over() => failure = error,
            Err(error) => return Err(conceal_prompt(error, &candidate.request)),
        }
    }
    Err(failure)
}

/// Notes for the response headers. A pool reports the chosen route in its first event.
fn notes(candidate: &Candidate, taken: &[ChatEvent]) -> RouteNotes {
    let served = taken.iter().find_map(|event| match event {
        ChatEvent::Served(served) => Some(served),
        _ => None,
    });
    RouteNotes::of(candidate, served)
}

struct Reading<'a> {
    /// The candidate, until it is reported with the first events, so that the response head and the
    /// first words are one write.
    candidate: Option<&'a Candidate>,
    meter: Meter,
    sender: &'a Sender<AnswerPart>,
    bills_after_hangup: bool,
    /// The provider that answers, if a pool chose it.
    provider: Option<Arc<str>>,
    /// The upstream's id of this answer.
    name: Option<String>,
}

/// The way in which an answer ended.
enum End {
    Whole,
    Broken(EngineError),
    /// The client disconnected.
    Unheard,
}

impl Reading<'_> {
    async fn read(&mut self, mut stream: ChatStream, funds: &HeldFunds) -> End {
        let mut silence = Silence::from(Instant::now());
        let mut taken = Vec::new();
        let sender = self.sender;
        let mut hung_up = pin!(sender.closed());
        loop {
            let behind = tokio::select! {
                biased;
                () = &mut hung_up => return self.unheard(taken.drain(..), stream, funds).await,
                behind = gather(&mut stream, &mut taken) => behind,
            };
            if let Some(candidate) = self.candidate.take() {
                let (model, notes) = (Arc::clone(&candidate.model), notes(candidate, &taken));
                let _ = sender.send(AnswerPart::Opened(model, notes)).await;
            }
            let mut events = taken.drain(..);
            let now = Instant::now();
            while let Some(event) = events.next() {
                let chunk = self.note(event);
                if silence.is_over(self.meter.produced(), now) {
                    return End::Broken(EngineError::Timeout { phase: Phase::NextEvent });
                }
                let Some(chunk) = chunk else { continue };
                let is_over = self.meter.is_over();
                let told = if is_over { self.meter.closing() } else { chunk };
                if !self.send_chunk(told).await {
                    return self.unheard(events, stream, funds).await;
                }
                if is_over {
                    return End::Whole;
                }
            }
            match behind {
                Behind::More => {}
                Behind::End => return End::Whole,
                Behind::Break(error) => return End::Broken(error),
            }
        }
    }

    /// Returns false if the client has disconnected. Sets a timer only if the channel is full.
    async fn send_chunk(&self, chunk: ChatChunk) -> bool {
        match self.sender.try_send(AnswerPart::Chunk(chunk)) {
            Ok(()) => true,
            Err(TrySendError::Closed(_)) => false,
            Err(TrySendError::Full(part)) => {
                matches!(timeout(STALL_MAX, self.sender.send(part)).await, Ok(Ok(())))
            }
        }
    }

    /// Handles a disconnected client. Events that were already read are still counted.
    async fn unheard(
        &mut self,
        events: impl Iterator<Item = ChatEvent>,
        stream: ChatStream,
        funds: &HeldFunds,
    ) -> End {
        events.for_each(|event| {
            self.note(event);
        });
        self.drain(stream, funds).await;
        End::Unheard
    }

    /// Handles a disconnected client. Stops the engine, unless it bills the whole answer anyway:
    /// then its report is awaited, within limits of time and number.
    async fn drain(&mut self, mut stream: ChatStream, funds: &HeldFunds) {
        if !self.bills_after_hangup {
            return;
        }
        let Ok(_place) = funds.app.engines.drains.try_acquire() else { return };
        let deadline = Instant::now() + DRAIN_MAX;
        while let Ok(Some(Ok(event))) = timeout_at(deadline, stream.next()).await {
            self.note(event);
            if self.meter.is_over() {
                return;
            }
        }
    }

    /// Counts an event. Returns the chunk to send, if it is one.
    fn note(&mut self, event: ChatEvent) -> Option<ChatChunk> {
        match event {
            ChatEvent::Served(served) => {
                self.bills_after_hangup = served.bills_after_hangup;
                self.provider = Some(served.provider);
            }
            ChatEvent::UpstreamId(name) => self.name = Some(name),
            ChatEvent::Progress(usage) => self.meter.note_progress(usage),
            ChatEvent::Usage(usage) => self.meter.note_total(usage),
            ChatEvent::Chunk(chunk) => {
                self.meter.count(&chunk);
                return Some(chunk);
            }
        }
        None
    }
}
