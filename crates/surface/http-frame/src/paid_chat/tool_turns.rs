//! An answer of several turns: the model calls tools that the service runs, and goes on with their
//! results.
//!
//! All turns and calls have one hold, which is raised when more may be spent, and one charge at the
//! end. A caller that disconnects ends the answer after the current step and pays for what was done.

use std::sync::Arc;

use domain::catalogue::CatalogueModel;
use engine::{
    ChatChunk, ChatContent, ChatMessage, ChatRequest, ChoiceDelta, EngineError, FinishReason,
};
use futures_util::future::BoxFuture;
use ledger::ChargeLine;
use ledger_core::HoldRange;
use logging::request::with_current_request_id;
use money::WorkCost;
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

use super::answer_budget::AnswerBudget;
use super::conceal::conceal_prompt;
use super::credible_usage::bill_usage;
use super::meter::AnswerMeter;
use super::quote::ChatQuote;
use super::settle::{MeteredAnswer, record_usage_fault};
use super::stream::{
    AnswerEnd, AnswerReader, STALL_MAX, open_answer_channel, open_stream, send_last,
};
use super::turn_gatherer::{ModelTurn, TurnGatherer};
use super::turn_tab::TurnTab;
use super::{AnswerPart, AnswerStream, ChatCandidate, HoldPolicy, PaidChat, RouteNotes};
use crate::paid_work::HeldFunds;
use crate::payment;
use crate::refusal::inference::InferenceFailure;

/// Runs the tools of an answer between the turns of the model.
pub trait ToolRunner: Send + 'static {
    /// Runs calls that the conversation left open, before the first turn.
    fn begin<'a>(&'a mut self, desk: ToolDesk<'a>) -> BoxFuture<'a, NextTurn>;

    /// Runs the calls of a turn.
    fn follow_up<'a>(&'a mut self, turn: ModelTurn, desk: ToolDesk<'a>) -> BoxFuture<'a, NextTurn>;
}

/// The next step of an answer.
#[derive(Debug)]
pub enum NextTurn {
    /// The model is asked with the conversation changed so.
    Ask(ConversationEdit),
    /// The answer is complete.
    Stop,
    /// The balance cannot pay for the next call.
    FundsUsedUp,
}

/// A change of the conversation.
#[derive(Debug, Default)]
pub struct ConversationEdit {
    /// New contents of results that the conversation has already.
    pub results: Vec<ToolResultText>,
    /// Messages to append.
    pub added: Vec<ChatMessage>,
    /// True if the model must answer without further calls.
    pub forbids_calls: bool,
}

/// The result of a call, by the call's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResultText {
    pub call_id: String,
    pub text: String,
}

/// An event between the turns, for the caller. Calls are named by the engine's number within
/// their turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolEvent {
    /// A call of an earlier response is run now. It counts as a call of this turn.
    Resumed { number: u32, name: String, arguments: String, approval_id: String },
    /// A call is made now: its arguments are complete.
    Started { number: u32 },
    /// A call has ended, with its result or the reason why it has none.
    Ended { number: u32, outcome: Result<String, String> },
    /// A call waits for the caller's approval.
    AwaitsApproval { number: u32, approval_id: String },
    /// The next turn of the model follows.
    NextTurn,
}

/// The money of an answer and the way to its caller, lent to a [`ToolRunner`].
pub struct ToolDesk<'a> {
    sender: &'a Sender<AnswerPart>,
    funds: &'a mut HeldFunds,
    tab: &'a mut TurnTab,
    /// Set until the response has begun: the model that will answer.
    unopened: Option<Arc<CatalogueModel>>,
}

impl ToolDesk<'_> {
    /// Tells the caller.
    pub async fn report(&mut self, event: ToolEvent) {
        if let Some(model) = self.unopened.take() {
            self.send(AnswerPart::Opened(model, RouteNotes::default())).await;
        }
        self.send(AnswerPart::Tool(event)).await;
    }

    async fn send(&self, part: AnswerPart) {
        let _ = timeout(STALL_MAX, self.sender.send(part)).await;
    }

    /// True while somebody waits for the answer.
    pub fn has_caller(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Holds the cost of one more call. Returns false if the balance cannot pay for it.
    pub fn hold_call(&mut self, cost: WorkCost) -> bool {
        if self.tab.can_pay(cost, self.funds) {
            return true;
        }
        self.funds.raise(HoldRange::UpTo { least: cost, most: cost });
        self.tab.can_pay(cost, self.funds)
    }

    /// Adds a call to the charge.
    pub fn charge_call(&mut self, line: ChargeLine, cost: WorkCost) {
        self.tab.add_call(line, cost);
    }
}

/// The way in which all turns ended.
enum TurnsEnd {
    Done,
    Failed(InferenceFailure),
    /// The client disconnected.
    Unheard,
}

impl PaidChat {
    /// Starts an answer with tools. `answer_max` is the caller's bound on all its tokens.
    pub fn start_with_tools(
        self,
        runner: Box<dyn ToolRunner>,
        answer_max: Option<u64>,
    ) -> AnswerStream {
        let (sender, stream) = open_answer_channel(&self);
        let tasks = self.funds.app.tasks.clone();
        tasks.spawn(with_current_request_id(async move {
            run_turns(self, runner, answer_max, sender).await;
        }));
        stream
    }
}

async fn run_turns(
    paid_chat: PaidChat,
    mut runner: Box<dyn ToolRunner>,
    answer_max: Option<u64>,
    sender: Sender<AnswerPart>,
) {
    let PaidChat { candidates, mut funds, extras, policy, .. } = paid_chat;
    let Some(first) = candidates.first().cloned() else { return funds.release() };
    let mut answer = TurnedAnswer {
        candidates,
        answered: None,
        policy,
        tab: TurnTab::new(extras),
        answer_left: answer_max,
        sender: &sender,
    };
    let end = answer.run(runner.as_mut(), &mut funds).await;
    let TurnedAnswer { answered, tab, .. } = answer;
    let ChatCandidate { model, price, .. } = answered.unwrap_or(first);
    let end = match end {
        TurnsEnd::Failed(failure) if tab.is_empty() => {
            funds.release();
            return send_last(&sender, AnswerPart::Failed(failure)).await;
        }
        TurnsEnd::Unheard if tab.is_empty() => return funds.release(),
        end => end,
    };
    let charge = payment::token_charge(&model, &price, tab.usage());
    let settled = tab.settle(funds, charge).await;
    let last = match (end, settled) {
        (TurnsEnd::Unheard, _) => return,
        (TurnsEnd::Done, Ok(settled)) => AnswerPart::Done(Box::new(settled)),
        (TurnsEnd::Failed(failure), Ok(_)) => AnswerPart::Failed(failure),
        (_, Err(failure)) => AnswerPart::Failed(failure),
    };
    send_last(&sender, last).await;
}

/// An answer in progress.
struct TurnedAnswer<'a> {
    /// The models that may take the next turn.
    candidates: Vec<ChatCandidate>,
    /// The model that took the last turn, with the request for it.
    answered: Option<ChatCandidate>,
    policy: HoldPolicy,
    tab: TurnTab,
    /// The tokens that the caller's bound leaves.
    answer_left: Option<u64>,
    sender: &'a Sender<AnswerPart>,
}

impl TurnedAnswer<'_> {
    async fn run(&mut self, runner: &mut dyn ToolRunner, funds: &mut HeldFunds) -> TurnsEnd {
        let unopened = self.candidates.first().map(|first| Arc::clone(&first.model));
        let desk = ToolDesk { sender: self.sender, funds, tab: &mut self.tab, unopened };
        let mut next = runner.begin(desk).await;
        loop {
            let edit = match next {
                NextTurn::Ask(edit) => edit,
                NextTurn::Stop => return TurnsEnd::Done,
                NextTurn::FundsUsedUp => return TurnsEnd::Failed(InferenceFailure::FundsUsedUp),
            };
            if self.sender.is_closed() {
                return TurnsEnd::Unheard;
            }
            if let Err(error) = self.apply_edit(&edit) {
                return TurnsEnd::Failed(InferenceFailure::Engine(error));
            }
            let turn = match self.take_turn(funds).await {
                Ok(turn) => turn,
                Err(end) => return end,
            };
            if self.answer_left == Some(0) && turn.finish != FinishReason::Stop {
                self.report_length().await;
                return TurnsEnd::Done;
            }
            let desk = ToolDesk { sender: self.sender, funds, tab: &mut self.tab, unopened: None };
            next = runner.follow_up(turn, desk).await;
        }
    }

    /// Prepares the requests of the next turn. Only the model that answered before goes on.
    fn apply_edit(&mut self, edit: &ConversationEdit) -> Result<(), EngineError> {
        if let Some(answered) = self.answered.take() {
            self.candidates = vec![answered];
        }
        for candidate in &mut self.candidates {
            candidate.edit_conversation(edit, self.answer_left);
        }
        let first = self.candidates.first();
        match first.filter(|first| first.quote.exceeds_context()) {
            Some(first) => {
                Err(EngineError::ContextOverflow { message: first.quote.overflow_message("input") })
            }
            None => Ok(()),
        }
    }

    /// Lets the model answer once, and adds its tokens to the charge.
    async fn take_turn(&mut self, funds: &mut HeldFunds) -> Result<ModelTurn, TurnsEnd> {
        self.hold_turn(funds);
        let sender = self.sender;
        let opened = tokio::select! {
            opened = open_stream(&self.candidates, funds, self.tab.extras(), self.policy) => opened,
            () = sender.closed() => return Err(TurnsEnd::Unheard),
        };
        let (candidate, answer_max, stream) = match opened {
            Ok(opened) => opened,
            Err(EngineError::Misconfigured { .. })
                if !self.tab.can_go_on(&self.candidates, funds) =>
            {
                return Err(TurnsEnd::Failed(InferenceFailure::FundsUsedUp));
            }
            Err(error) => return Err(TurnsEnd::Failed(InferenceFailure::Engine(error))),
        };
        let mut reading = AnswerReader {
            candidate: Some(candidate),
            meter: AnswerMeter::new(candidate, answer_max),
            budget: AnswerBudget::new(candidate, self.tab.extras(), self.policy, funds),
            sender,
            bills_after_hangup: false,
            provider: None,
            name: None,
            turn: Some(TurnGatherer::default()),
        };
        let end = reading.read(stream, funds).await;
        let used = reading.meter.measured_usage();
        let (provider, turn) = (reading.provider.take(), reading.turn.take());
        let is_nothing = matches!(end, AnswerEnd::Broken(_)) && used.produced == 0;
        if !is_nothing {
            let billed = bill_usage(&used, &candidate.quote);
            if let Some(fault) = billed.fault {
                let metered = MeteredAnswer { used, provider: provider.as_deref() };
                record_usage_fault(funds, candidate, metered, fault);
            }
            if let Some(usage) = billed.usage {
                let charge = payment::token_charge(&candidate.model, &candidate.price, usage);
                self.answer_left =
                    self.answer_left.map(|left| left.saturating_sub(usage.completion()));
                self.tab.add_turn(charge, usage);
            }
        }
        let answered = candidate.clone();
        let end = match end {
            AnswerEnd::Whole => Ok(turn.unwrap_or_default().into_turn()),
            AnswerEnd::Broken(error) => {
                let error = conceal_prompt(error, &answered.request);
                Err(TurnsEnd::Failed(InferenceFailure::Engine(error)))
            }
            AnswerEnd::FundsUsedUp => Err(TurnsEnd::Failed(InferenceFailure::FundsUsedUp)),
            AnswerEnd::Unheard => Err(TurnsEnd::Unheard),
        };
        self.answered = Some(answered);
        end
    }

    /// Raises the hold for the next turn, unless it covers the turn already.
    fn hold_turn(&self, funds: &mut HeldFunds) {
        let Some(ChatCandidate { quote, price, .. }) = self.candidates.first() else { return };
        let means = self.tab.extras().subtract_from(funds.cost_max());
        let wanted = quote.answer_max.saturating_mul(quote.choices);
        if quote.tokens_within(price, means).is_some_and(|tokens| tokens < wanted) {
            let (least, most) = (quote.min_cost(price), quote.max_cost(price));
            funds.raise(HoldRange::Share { least, most });
        }
    }

    /// Ends the answer as one that reached the caller's bound.
    async fn report_length(&self) {
        let delta = ChoiceDelta { finish: Some(FinishReason::Length), ..ChoiceDelta::default() };
        let chunk = ChatChunk { deltas: vec![delta], ..ChatChunk::default() };
        let _ = timeout(STALL_MAX, self.sender.send(AnswerPart::Chunk(chunk))).await;
    }
}

impl ChatCandidate {
    /// Changes the conversation, and quotes it anew. `answer_left` is what the caller's bound leaves.
    fn edit_conversation(&mut self, edit: &ConversationEdit, answer_left: Option<u64>) {
        let Some(text) = self.model.text_spec() else { return };
        let request = Arc::make_mut(&mut self.request);
        apply_conversation_edit(request, edit);
        request.completion_tokens_max = answer_left.or(text.max_completion_tokens);
        request.may_exceed_context = false;
        let quote = ChatQuote::from_upper_limit(request, text);
        if request.completion_tokens_max.is_some() {
            request.completion_tokens_max = Some(quote.answer_max);
            request.may_exceed_context = quote.may_exceed_context;
        }
        self.quote = quote;
    }
}

fn apply_conversation_edit(request: &mut ChatRequest, edit: &ConversationEdit) {
    for message in &mut request.messages {
        let ChatMessage::Tool { call_id, content } = message else { continue };
        if let Some(result) = edit.results.iter().find(|result| result.call_id == *call_id) {
            *content = ChatContent::Text(result.text.clone());
        }
    }
    request.messages.extend(edit.added.iter().cloned());
    if edit.forbids_calls {
        request.tool_choice = Some(engine::ToolChoicePolicy::None);
    } else if !edit.added.is_empty() && request.tool_choice.is_some() {
        // A call that was required has been made.
        request.tool_choice = Some(engine::ToolChoicePolicy::Auto);
    }
}
