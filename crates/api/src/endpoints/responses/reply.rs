//! A whole answer in the form of the Responses API.

use std::sync::Arc;

use engine::{Choice, FinishReason, Usage};
use wire::chat::WebSearchCitation;
use wire::responses::{
    IncompleteDetails, IncompleteReason, InputTokensDetails, ItemStatus, OutputItem,
    OutputTokensDetails, Response, ResponseStatus, ResponseUsage,
};

use super::item::{Item, Kind};
use super::tools::Echo;
use crate::endpoints::chat::thoughts;
use crate::paid_chat::PaidAnswer;
use crate::request_id::RequestId;

/// The fields of a response that are known before it begins.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) request_id: RequestId,
    pub(super) created: i64,
    pub(super) model: String,
    pub(super) echo: Echo,
    /// True if `<think>` blocks are removed from the text, and reasoning with them.
    pub(super) strips_thoughts: bool,
    /// The query of the web search, if it had results.
    pub(super) query: Option<String>,
    pub(super) sources: Arc<[WebSearchCitation]>,
}

impl Frame {
    pub(super) fn response(&self, status: ResponseStatus, output: Vec<OutputItem>) -> Response {
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
    pub(super) fn ended(
        &self,
        finish: FinishReason,
        output: Vec<OutputItem>,
        usage: Usage,
    ) -> Response {
        let cut = cut_short(finish);
        let status =
            if cut.is_some() { ResponseStatus::Incomplete } else { ResponseStatus::Completed };
        let incomplete_details = cut.map(|reason| IncompleteDetails { reason });
        let usage = Some(of_usage(usage));
        Response { usage, incomplete_details, ..self.response(status, output) }
    }

    pub(super) fn item(&self, number: usize, kind: Kind, status: ItemStatus) -> Item {
        let id = format!("{}_{}_{number}", kind.prefix(), self.request_id.as_str());
        let sources = Arc::clone(&self.sources);
        Item { id, kind, text: String::new(), status, sources }
    }
}

pub(super) fn whole(frame: Frame, answered: PaidAnswer) -> Response {
    let frame = Frame { model: answered.model.id.clone(), ..frame };
    let mut choice = answered.answer.choices.into_iter().next();
    if let Some(choice) = &mut choice
        && frame.strips_thoughts
    {
        choice.content = choice.content.as_deref().map(thoughts::strip);
        choice.reasoning = None;
    }
    let finish = choice.as_ref().map_or(FinishReason::Stop, |choice| choice.finish);
    let status = last_status(finish);
    let search = frame.query.clone().map(|query| (Kind::Search, query));
    let items = (0..).zip(search.into_iter().chain(choice.map(parts).unwrap_or_default()));
    let output = items.map(|(number, (kind, text))| {
        let status = if kind == Kind::Search { ItemStatus::Completed } else { status };
        Item { text, ..frame.item(number, kind, status) }.output()
    });
    frame.ended(finish, output.collect(), answered.settled.usage)
}

/// The status of an item that was in progress when the answer ended.
pub(super) fn last_status(finish: FinishReason) -> ItemStatus {
    match cut_short(finish) {
        Some(_) => ItemStatus::Incomplete,
        None => ItemStatus::Completed,
    }
}

fn cut_short(finish: FinishReason) -> Option<IncompleteReason> {
    match finish {
        FinishReason::Length => Some(IncompleteReason::MaxOutputTokens),
        FinishReason::ContentFilter => Some(IncompleteReason::ContentFilter),
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall => None,
    }
}

/// Reasoning first, then calls, then text. Empty messages are left out.
fn parts(choice: Choice) -> Vec<(Kind, String)> {
    let mut parts = Vec::new();
    parts.extend(choice.reasoning.map(|text| (Kind::Reasoning, text)));
    for call in choice.tool_calls {
        parts.push((Kind::Call { call_id: call.id, name: call.name }, call.arguments));
    }
    parts.extend(choice.content.map(|text| (Kind::Text, text)));
    parts.extend(choice.refusal.map(|text| (Kind::Refusal, text)));
    parts.retain(|(kind, text)| matches!(kind, Kind::Call { .. }) || !text.is_empty());
    parts
}

fn of_usage(usage: Usage) -> ResponseUsage {
    ResponseUsage {
        input_tokens: usage.prompt(),
        input_tokens_details: InputTokensDetails { cached_tokens: usage.cached() },
        output_tokens: usage.completion(),
        output_tokens_details: OutputTokensDetails { reasoning_tokens: usage.reasoning() },
        total_tokens: usage.total(),
    }
}
