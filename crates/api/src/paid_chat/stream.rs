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

/// Parts that may wait for a slow listener before the engine is slowed down too: what comes
/// together, and who answers.
const PARTS_WAITING_MAX: usize = TOGETHER_MAX + 1;
/// A listener that takes nothing for this long has gone away.
const STALL_MAX: Duration = Duration::from_secs(120);
/// How long an engine that bills on is read after its listener has gone away.
const DRAIN_MAX: Duration = Duration::from_secs(120);

/// One part of a streamed answer, as it is sent to the connection.
#[derive(Debug)]
pub(crate) enum AnswerPart {
    /// The model has begun to answer.
    Opened(Arc<Model>, RouteNotes),
    Chunk(ChatChunk),
    /// The answer is whole, and its charge is durable. Nothing follows.
    Done(Box<Settled>),
    /// The answer broke off. Nothing follows.
    Failed(Failure),
}

/// The parts of one answer. Dropping it is hanging up.
pub(crate) struct Flow {
    pub(crate) request_id: RequestId,
    prompt_field: &'static str,
    parts: Receiver<AnswerPart>,
}

/// Whether an answer has begun.
pub(crate) enum Opened {
    By(Arc<Model>, RouteNotes),
    /// Not yet; it may still fail.
    NotYet,
}

impl Work {
    /// Asks the models in turn, until one begins to answer.
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
    /// Waits for the answer to begin, but not for ever: a failure in time has a status of its own.
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

    /// Parts that a test sends itself.
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

/// The first candidate that begins to answer, with the bound that it was given.
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

/// A pool says first which of its routes it took.
fn notes(candidate: &Candidate, taken: &[ChatEvent]) -> RouteNotes {
    let served = taken.iter().find_map(|event| match event {
        ChatEvent::Served(served) => Some(served),
        _ => None,
    });
    RouteNotes::of(candidate, served)
}

struct Reading<'a> {
    /// Who answers, until that is told: with the first words, so that they are one write with the
    /// head of the reply.
    candidate: Option<&'a Candidate>,
    meter: Meter,
    sender: &'a Sender<AnswerPart>,
    bills_after_hangup: bool,
    /// The provider that answers, where a pool has chosen it.
    provider: Option<Arc<str>>,
    /// What the upstream calls this answer.
    name: Option<String>,
}

/// Where the reading of an answer ended.
enum End {
    Whole,
    Broken(EngineError),
    /// Nobody listens any more.
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

    /// False if nobody listens. A timer is set only for a listener who is behind.
    async fn send_chunk(&self, chunk: ChatChunk) -> bool {
        match self.sender.try_send(AnswerPart::Chunk(chunk)) {
            Ok(()) => true,
            Err(TrySendError::Closed(_)) => false,
            Err(TrySendError::Full(part)) => {
                matches!(timeout(STALL_MAX, self.sender.send(part)).await, Ok(Ok(())))
            }
        }
    }

    /// Nobody listens any more. What was taken from the engine before that counts.
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

    /// Nobody listens. Stops the engine, unless it would be paid for the whole answer anyway:
    /// then its own count is worth waiting for, within bounds.
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

    /// Counts an event; what is left to tell is a chunk.
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
