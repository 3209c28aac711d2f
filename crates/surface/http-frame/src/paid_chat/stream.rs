//! Streamed answers: a task owns the engine and the meter, and sends events to the connection.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use domain::catalogue::CatalogueModel;
use engine::{ChatChunk, ChatEvent, ChatStream, EngineError, TimeoutPhase};
use futures_util::StreamExt;
use logging::request::with_current_request_id;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::{Instant, timeout, timeout_at};

use super::answer_budget::AnswerBudget;
use super::conceal::conceal_prompt;
use super::event_burst::{StreamPosition, TOGETHER_MAX, read_burst};
use super::meter::AnswerMeter;
use super::settle::{ChatSettlement, MeteredAnswer, remember_upstream_id, settle_chat};
use super::silence::SilenceTimer;
use super::tool_turns::ToolEvent;
use super::turn_gatherer::TurnGatherer;
use super::{ChatCandidate, ExtraCharges, HoldPolicy, PaidChat, RouteNotes, no_affordable_model};
use crate::paid_work::HeldFunds;
use crate::refusal::Refusal;
use crate::refusal::context_excess::PromptSize;
use crate::refusal::inference::InferenceFailure;
use crate::refusal::render::RefusalDetail;
use crate::request_id::RequestId;

/// Parts buffered for a slow client before the engine is slowed down: one batch of events, and the
/// `AnswerStart` part.
const PARTS_WAITING_MAX: usize = TOGETHER_MAX + 1;
/// A client that accepts nothing for this long counts as disconnected.
pub(super) const STALL_MAX: Duration = Duration::from_secs(120);
/// Time that an engine is still read after the client disconnected, if it bills the whole answer.
const DRAIN_MAX: Duration = Duration::from_secs(120);

/// One part of a streamed answer, as sent to the connection.
#[derive(Debug)]
pub enum AnswerPart {
    /// The first part: the model that answers.
    Opened(Arc<CatalogueModel>, RouteNotes),
    Chunk(ChatChunk),
    /// Something happened between the turns of an answer with tools.
    Tool(ToolEvent),
    /// The answer is complete and its charge is durable. The last part.
    Done(Box<ChatSettlement>),
    /// The answer broke off. The last part.
    Failed(InferenceFailure),
}

/// The parts of one answer. Dropping it cancels the answer.
pub struct AnswerStream {
    pub request_id: RequestId,
    prompt_field: &'static str,
    prompt_size: PromptSize,
    parts: Receiver<AnswerPart>,
    /// A part that was read while waiting for the start.
    peeked: Option<AnswerPart>,
}

/// Result of waiting for an answer to begin.
pub enum AnswerStart {
    By(Arc<CatalogueModel>, RouteNotes),
    /// Not begun within the wait; it may still fail.
    NotYet,
}

impl PaidChat {
    /// Tries the models in turn until one begins to answer.
    pub fn start_stream(self) -> AnswerStream {
        let (sender, stream) = open_answer_channel(&self);
        let tasks = self.funds.app.tasks.clone();
        tasks.spawn(with_current_request_id(async move {
            run_stream(self, sender).await;
        }));
        stream
    }
}

/// The stream of an answer, and the sender of its parts.
pub(super) fn open_answer_channel(paid_chat: &PaidChat) -> (Sender<AnswerPart>, AnswerStream) {
    let (sender, parts) = mpsc::channel(PARTS_WAITING_MAX);
    let stream = AnswerStream {
        request_id: paid_chat.funds.request_id.clone(),
        prompt_field: paid_chat.prompt_field,
        prompt_size: paid_chat.prompt_size(),
        parts,
        peeked: None,
    };
    (sender, stream)
}

impl AnswerStream {
    /// Waits up to `wait_max` for the answer to begin: an earlier failure gets its own status.
    pub async fn wait_for_start(&mut self, wait_max: Duration) -> Result<AnswerStart, Refusal> {
        match timeout(wait_max, self.next()).await {
            Ok(AnswerPart::Opened(model, notes)) => Ok(AnswerStart::By(model, notes)),
            Ok(AnswerPart::Failed(failure)) => Err(self.to_refusal(failure)),
            // An answer with tools may be complete without a turn.
            Ok(part @ AnswerPart::Done(_)) => {
                self.peeked = Some(part);
                Ok(AnswerStart::NotYet)
            }
            Ok(AnswerPart::Chunk(_) | AnswerPart::Tool(_)) => {
                Err(self.to_refusal(InferenceFailure::Lost))
            }
            Err(_) => Ok(AnswerStart::NotYet),
        }
    }

    /// The refusal for an answer that failed before anything of it was sent.
    pub fn to_refusal(&self, failure: InferenceFailure) -> Refusal {
        let detail = self.find_detail(&failure);
        failure.into_refusal(&self.request_id, self.prompt_field).with_detail(detail)
    }

    /// The fact about a failure for protocols that state it in their own words.
    pub(crate) fn find_detail(&self, failure: &InferenceFailure) -> Option<RefusalDetail> {
        self.prompt_size.find_detail(failure)
    }

    /// A flow whose parts a test sends.
    #[cfg(test)]
    pub(crate) fn scripted() -> (Sender<AnswerPart>, AnswerStream) {
        let (sender, parts) = mpsc::channel(PARTS_WAITING_MAX);
        let prompt_size = PromptSize { estimate: 0, context: 0 };
        let (request_id, prompt_field) = (RequestId::default(), "messages");
        (sender, AnswerStream { request_id, prompt_field, prompt_size, parts, peeked: None })
    }

    /// The next part. There is none after `Done` or `Failed`.
    pub async fn next(&mut self) -> AnswerPart {
        poll_fn(|context| self.poll_next(context)).await
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<AnswerPart> {
        if let Some(part) = self.peeked.take() {
            return Poll::Ready(part);
        }
        let part = ready!(self.parts.poll_recv(context));
        Poll::Ready(part.unwrap_or(AnswerPart::Failed(InferenceFailure::Lost)))
    }
}

async fn run_stream(paid_chat: PaidChat, sender: Sender<AnswerPart>) {
    let PaidChat { candidates, mut funds, extras, policy, .. } = paid_chat;
    let opened = tokio::select! {
        opened = open_stream(&candidates, &funds, &extras, policy) => opened,
        () = sender.closed() => return funds.release(),
    };
    let (candidate, answer_max, stream) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            funds.release();
            let _ = sender.send(AnswerPart::Failed(InferenceFailure::Engine(error))).await;
            return;
        }
    };
    let mut reading = AnswerReader {
        candidate: Some(candidate),
        meter: AnswerMeter::new(candidate, answer_max),
        budget: AnswerBudget::new(candidate, &extras, policy, &funds),
        sender: &sender,
        bills_after_hangup: false,
        provider: None,
        name: None,
        turn: None,
    };
    let end = reading.read(stream, &mut funds).await;
    if let (AnswerEnd::Broken(error), 0) = (&end, reading.meter.produced_tokens()) {
        // Nothing was delivered, so the prompt is free as well, even if the engine counted it.
        let error = conceal_prompt(error.clone(), &candidate.request);
        funds.release();
        return send_last(&sender, AnswerPart::Failed(InferenceFailure::Engine(error))).await;
    }
    remember_upstream_id(&funds, candidate, reading.name.as_deref());
    let metered = MeteredAnswer {
        used: reading.meter.measured_usage(),
        provider: reading.provider.as_deref(),
    };
    let settled = settle_chat(funds, candidate, metered, extras.clone()).await;
    let last = match (end, settled) {
        (AnswerEnd::Unheard, _) => return,
        (AnswerEnd::FundsUsedUp, Ok(_)) => AnswerPart::Failed(InferenceFailure::FundsUsedUp),
        (AnswerEnd::Whole, Ok(settled)) => AnswerPart::Done(Box::new(settled)),
        (AnswerEnd::Broken(error), Ok(_)) => {
            let error = conceal_prompt(error, &candidate.request);
            AnswerPart::Failed(InferenceFailure::Engine(error))
        }
        (_, Err(failure)) => AnswerPart::Failed(failure),
    };
    send_last(&sender, last).await;
}

pub(super) async fn send_last(sender: &Sender<AnswerPart>, last: AnswerPart) {
    let _ = timeout(STALL_MAX, sender.send(last)).await;
}

/// The first candidate that begins to answer, with the bound sent to it and its stream.
pub(super) async fn open_stream<'a>(
    candidates: &'a [ChatCandidate],
    funds: &HeldFunds,
    extras: &ExtraCharges,
    policy: HoldPolicy,
) -> Result<(&'a ChatCandidate, Option<u64>, ChatStream), EngineError> {
    let mut failure = no_affordable_model();
    for candidate in candidates {
        let means = extras.subtract_from(funds.cost_max());
        let Some(request) = candidate.request_to_stream(policy, means) else { continue };
        let answer_max = request.completion_tokens_max;
        match candidate.engine.stream_chat(request).await {
            Ok(stream) => return Ok((candidate, answer_max, stream)),
            Err(error) if error.may_fail_over() => failure = error,
            Err(error) => return Err(conceal_prompt(error, &candidate.request)),
        }
    }
    Err(failure)
}

/// Notes for the response headers. A pool reports the chosen route in its first event.
fn find_route_notes(candidate: &ChatCandidate, taken: &[ChatEvent]) -> RouteNotes {
    let served = taken.iter().find_map(|event| match event {
        ChatEvent::Served(served) => Some(served),
        _ => None,
    });
    RouteNotes::from_served(candidate, served)
}

pub(super) struct AnswerReader<'a> {
    /// The candidate, until it is reported with the first events, so that the response head and the
    /// first words are one write.
    pub(super) candidate: Option<&'a ChatCandidate>,
    pub(super) meter: AnswerMeter,
    pub(super) budget: AnswerBudget<'a>,
    pub(super) sender: &'a Sender<AnswerPart>,
    pub(super) bills_after_hangup: bool,
    /// The provider that answers, if a pool chose it.
    pub(super) provider: Option<Arc<str>>,
    /// The upstream's id of this answer.
    pub(super) name: Option<String>,
    /// Set for answers with tools: the turn so far.
    pub(super) turn: Option<TurnGatherer>,
}

/// The way in which an answer ended.
pub(super) enum AnswerEnd {
    Whole,
    Broken(EngineError),
    /// The balance cannot pay for more.
    FundsUsedUp,
    /// The client disconnected.
    Unheard,
}

impl AnswerReader<'_> {
    pub(super) async fn read(
        &mut self,
        mut stream: ChatStream,
        funds: &mut HeldFunds,
    ) -> AnswerEnd {
        let mut silence = SilenceTimer::from(Instant::now());
        let mut taken = Vec::new();
        let sender = self.sender;
        let mut hung_up = pin!(sender.closed());
        loop {
            let behind = tokio::select! {
                biased;
                () = &mut hung_up => return self.finish_disconnected(taken.drain(..), stream, funds).await,
                behind = read_burst(&mut stream, &mut taken) => behind,
            };
            if let Some(candidate) = self.candidate.take() {
                let (model, notes) =
                    (Arc::clone(&candidate.model), find_route_notes(candidate, &taken));
                let _ = sender.send(AnswerPart::Opened(model, notes)).await;
            }
            let mut events = taken.drain(..);
            let now = Instant::now();
            while let Some(event) = events.next() {
                let chunk = self.count_event(event);
                if silence.is_over(self.meter.produced_tokens(), now) {
                    return AnswerEnd::Broken(EngineError::Timeout {
                        phase: TimeoutPhase::NextEvent,
                    });
                }
                let Some(chunk) = chunk else { continue };
                let is_over = self.meter.is_over();
                let told = if is_over { self.meter.build_closing_chunk() } else { chunk };
                if !self.send_chunk(told).await {
                    return self.finish_disconnected(events, stream, funds).await;
                }
                if is_over {
                    return AnswerEnd::Whole;
                }
                if !self.is_covered(funds) {
                    return AnswerEnd::FundsUsedUp;
                }
            }
            match behind {
                StreamPosition::More => {}
                StreamPosition::End => return AnswerEnd::Whole,
                StreamPosition::Break(error) => return AnswerEnd::Broken(error),
            }
        }
    }

    /// Returns false if the balance cannot pay for what was produced, and more is to come.
    fn is_covered(&mut self, funds: &mut HeldFunds) -> bool {
        let produced = self.meter.produced_tokens();
        self.budget.cover_tokens(produced, funds) || self.meter.is_finished()
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
    async fn finish_disconnected(
        &mut self,
        events: impl Iterator<Item = ChatEvent>,
        stream: ChatStream,
        funds: &HeldFunds,
    ) -> AnswerEnd {
        events.for_each(|event| {
            self.count_event(event);
        });
        self.drain(stream, funds).await;
        AnswerEnd::Unheard
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
            self.count_event(event);
            if self.meter.is_over() {
                return;
            }
        }
    }

    /// Counts an event. Returns the chunk to send, if it is one.
    fn count_event(&mut self, event: ChatEvent) -> Option<ChatChunk> {
        match event {
            ChatEvent::Served(served) => {
                self.bills_after_hangup = served.bills_after_hangup;
                self.provider = Some(served.provider);
            }
            ChatEvent::UpstreamId(name) => self.name = Some(name),
            ChatEvent::Progress(usage) => self.meter.note_progress(usage),
            ChatEvent::Usage(usage) => self.meter.note_total(usage),
            ChatEvent::Chunk(chunk) => {
                self.meter.count_chunk(&chunk);
                if let Some(turn) = &mut self.turn {
                    turn.push(&chunk);
                }
                return Some(chunk);
            }
        }
        None
    }
}
