//! Continuations in the response's form.

use engine::FinishReason;
use wire::completions::{Completion, CompletionChoice};

use super::echo::Echo;
use crate::paid_chat::{PaidAnswer, Settled};
use crate::payment;
use crate::request_id::RequestId;

/// The fields common to all chunks of one answer.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) request_id: RequestId,
    pub(super) created: i64,
    pub(super) model: String,
    pub(super) echo: Echo,
}

impl Frame {
    /// A chunk of the answer.
    pub(super) fn piece(&self, choices: Vec<CompletionChoice>) -> Completion {
        Completion {
            id: format!("cmpl-{}", self.request_id.as_str()),
            object: "text_completion",
            created: self.created,
            model: self.model.clone(),
            choices,
            usage: None,
            cost: None,
        }
    }

    /// The last chunk, or the whole answer.
    pub(super) fn settled(&self, choices: Vec<CompletionChoice>, settled: &Settled) -> Completion {
        let usage = Some(payment::token_usage(settled.usage));
        let cost = Some(payment::cost(&settled.receipt));
        Completion { usage, cost, ..self.piece(choices) }
    }
}

pub(super) fn whole(frame: &Frame, answered: PaidAnswer) -> Completion {
    let choices = answered.answer.choices.into_iter().map(|choice| CompletionChoice {
        index: choice.index,
        text: frame.echo.before(choice.index).to_owned() + choice.content.as_deref().unwrap_or(""),
        logprobs: choice.logprobs,
        finish_reason: Some(finish_word(choice.finish)),
    });
    frame.settled(choices.collect(), &answered.settled)
}

/// This endpoint has no tool calls, so they are reported as `stop`.
pub(super) fn finish_word(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Length | FinishReason::ContentFilter => finish.word(),
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall => {
            FinishReason::Stop.word()
        }
    }
}
