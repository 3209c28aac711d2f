//! Continuations in the response's form.

use engine::FinishReason;
use http_frame::paid_chat::{ChatSettlement, PaidAnswer};
use http_frame::payment;
use http_frame::request_id::RequestId;
use wire::completions::{Completion, CompletionChoice};

use super::echo::PromptEcho;

/// The fields common to all chunks of one answer.
#[derive(Debug, Clone)]
pub(super) struct CompletionHead {
    pub(super) request_id: RequestId,
    pub(super) created: i64,
    pub(super) model: String,
    pub(super) echo: PromptEcho,
}

impl CompletionHead {
    /// A chunk of the answer.
    pub(super) fn build_chunk(&self, choices: Vec<CompletionChoice>) -> Completion {
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
    pub(super) fn build_final_chunk(
        &self,
        choices: Vec<CompletionChoice>,
        settled: &ChatSettlement,
    ) -> Completion {
        let usage = Some(payment::token_usage(settled.usage));
        let cost = Some(payment::to_cost(&settled.receipt));
        Completion { usage, cost, ..self.build_chunk(choices) }
    }
}

pub(super) fn build_completion(frame: &CompletionHead, answered: PaidAnswer) -> Completion {
    let choices = answered.answer.choices.into_iter().map(|choice| CompletionChoice {
        index: choice.index,
        text: frame.echo.choice_prompt(choice.index).to_owned()
            + choice.content.as_deref().unwrap_or(""),
        logprobs: choice.logprobs,
        finish_reason: Some(finish_name(choice.finish)),
    });
    frame.build_final_chunk(choices.collect(), &answered.settled)
}

/// This endpoint has no tool calls, so they are reported as `stop`.
pub(super) fn finish_name(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Length | FinishReason::ContentFilter => finish.as_str(),
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall => {
            FinishReason::Stop.as_str()
        }
    }
}
