//! A whole answer in the form of the Responses API.

use std::sync::Arc;

use engine::{ChatChoice, EngineUsage, FinishReason};
use wire::chat::WebSearchCitation;
use wire::responses::{
    IncompleteDetails, IncompleteReason, InputTokensDetails, ItemStatus, OutputItem,
    OutputTokensDetails, Response, ResponseStatus, ResponseUsage,
};

use super::item::{OutputItemKind, OutputItemState};
use super::tools::ResponseEcho;
use crate::endpoints::chat::think_filter;
use crate::paid_chat::PaidAnswer;
use crate::request_id::RequestId;

/// The fields of a response that are known before it begins.
#[derive(Debug, Clone)]
pub(super) struct ResponseHead {
    pub(super) request_id: RequestId,
    pub(super) created: i64,
    pub(super) model: String,
    pub(super) echo: ResponseEcho,
    /// True if `<think>` blocks are removed from the text, and reasoning with them.
    pub(super) strips_thoughts: bool,
    /// The query of the web search, if it had results.
    pub(super) query: Option<String>,
    pub(super) sources: Arc<[WebSearchCitation]>,
}

impl ResponseHead {
    pub(super) fn build_response(
        &self,
        status: ResponseStatus,
        output: Vec<OutputItem>,
    ) -> Response {
        Response {
            id: format!("resp_{}", self.request_id.as_str()),
            object: "response",
            created_at: self.created,
            model: self.model.clone(),
            status,
            output,
            parallel_tool_calls: self.echo.parallel_tool_calls,
            tool_choice: self.echo.tool_choice.clone(),
            tools: self.echo.tools.clone(),
            usage: None,
            incomplete_details: None,
            error: None,
        }
    }

    /// A response that has ended.
    pub(super) fn build_final_response(
        &self,
        finish: FinishReason,
        output: Vec<OutputItem>,
        usage: EngineUsage,
    ) -> Response {
        let cut = find_incomplete_reason(finish);
        let status =
            if cut.is_some() { ResponseStatus::Incomplete } else { ResponseStatus::Completed };
        let incomplete_details = cut.map(|reason| IncompleteDetails { reason });
        let usage = Some(to_wire_usage(usage));
        Response { usage, incomplete_details, ..self.build_response(status, output) }
    }

    pub(super) fn build_item(
        &self,
        number: usize,
        kind: OutputItemKind,
        status: ItemStatus,
    ) -> OutputItemState {
        let id = format!("{}_{}_{number}", kind.id_prefix(), self.request_id.as_str());
        let sources = Arc::clone(&self.sources);
        OutputItemState { id, kind, text: String::new(), status, sources }
    }
}

pub(super) fn build_whole_response(frame: ResponseHead, answered: PaidAnswer) -> Response {
    let frame = ResponseHead { model: answered.model.id.clone(), ..frame };
    let mut choice = answered.answer.choices.into_iter().next();
    if let Some(choice) = &mut choice
        && frame.strips_thoughts
    {
        choice.content = choice.content.as_deref().map(think_filter::strip_thoughts);
        choice.reasoning = None;
    }
    let finish = choice.as_ref().map_or(FinishReason::Stop, |choice| choice.finish);
    let status = last_status(finish);
    let search = frame.query.clone().map(|query| (OutputItemKind::Search, query));
    let items = (0..).zip(search.into_iter().chain(choice.map(split_choice).unwrap_or_default()));
    let output = items.map(|(number, (kind, text))| {
        let status = if kind == OutputItemKind::Search { ItemStatus::Completed } else { status };
        OutputItemState { text, ..frame.build_item(number, kind, status) }.to_output_item()
    });
    frame.build_final_response(finish, output.collect(), answered.settled.usage)
}

/// The status of an item that was in progress when the answer ended.
pub(super) fn last_status(finish: FinishReason) -> ItemStatus {
    match find_incomplete_reason(finish) {
        Some(_) => ItemStatus::Incomplete,
        None => ItemStatus::Completed,
    }
}

fn find_incomplete_reason(finish: FinishReason) -> Option<IncompleteReason> {
    match finish {
        FinishReason::Length => Some(IncompleteReason::MaxOutputTokens),
        FinishReason::ContentFilter => Some(IncompleteReason::ContentFilter),
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall => None,
    }
}

/// Reasoning first, then calls, then text. Empty messages are left out.
fn split_choice(choice: ChatChoice) -> Vec<(OutputItemKind, String)> {
    let mut parts = Vec::new();
    parts.extend(choice.reasoning.map(|text| (OutputItemKind::Reasoning, text)));
    for call in choice.tool_calls {
        parts.push((OutputItemKind::Call { call_id: call.id, name: call.name }, call.arguments));
    }
    parts.extend(choice.content.map(|text| (OutputItemKind::Text, text)));
    parts.extend(choice.refusal.map(|text| (OutputItemKind::Refusal, text)));
    parts.retain(|(kind, text)| matches!(kind, OutputItemKind::Call { .. }) || !text.is_empty());
    parts
}

fn to_wire_usage(usage: EngineUsage) -> ResponseUsage {
    ResponseUsage {
        input_tokens: usage.prompt(),
        input_tokens_details: InputTokensDetails { cached_tokens: usage.cached() },
        output_tokens: usage.completion(),
        output_tokens_details: OutputTokensDetails { reasoning_tokens: usage.reasoning() },
        total_tokens: usage.total(),
    }
}
