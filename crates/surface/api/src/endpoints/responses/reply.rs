//! A whole answer in the form of the Responses API.

use std::borrow::Cow;
use std::sync::Arc;

use engine::{ChatChoice, EngineUsage, FinishReason};
use http_frame::paid_chat::PaidAnswer;
use http_frame::request_id::RequestId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use wire::chat::WebSearchCitation;
use wire::responses::{
    IncompleteDetails, IncompleteReason, InputTokensDetails, ItemStatus, OutputItem,
    OutputTokensDetails, Response, ResponseStatus, ResponseUsage,
};

use super::item::{OutputItemKind, OutputItemState, SentInput};
use super::mcp_item::McpStartItem;
use super::reasoning_seal::{ReasoningSealer, TurnReasoning};
use super::tool_table::CallNames;
use super::tools::ResponseEcho;
use crate::endpoints::chat::think_filter;

/// A complete response: ours, or one of a provider that has the Responses API.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ResponseReply {
    Own(Box<Response>),
    Native(Value),
}

/// The published form is ours. A provider's response may have items of other types besides.
impl JsonSchema for ResponseReply {
    fn schema_name() -> Cow<'static, str> {
        Response::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        Response::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Response::json_schema(generator)
    }
}

/// The fields of a response that are known before it begins.
#[derive(Clone)]
pub(super) struct ResponseHead {
    pub(super) request_id: RequestId,
    pub(super) created: i64,
    pub(super) model: String,
    pub(super) echo: ResponseEcho,
    /// True if `<think>` blocks are removed from the text, and reasoning with them.
    pub(super) strips_thoughts: bool,
    /// The tools behind the names of functions.
    pub(super) call_names: CallNames,
    /// Set if reasoning is returned for the caller to send back.
    pub(super) sealer: Option<ReasoningSealer>,
    /// True if the caller asked for a summary: reasoning is streamed in the events of one.
    pub(super) streams_summary: bool,
    /// True if a search lists its sources.
    pub(super) lists_sources: bool,
    /// The query of the web search, if it had results.
    pub(super) query: Option<String>,
    pub(super) sources: Arc<[WebSearchCitation]>,
    /// Items about MCP servers that are known before the model is asked.
    pub(super) mcp_start: Vec<McpStartItem>,
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
            stored: None,
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
        OutputItemState {
            id,
            kind,
            text: String::new(),
            status,
            sources: Arc::clone(&self.sources),
            lists_sources: self.lists_sources,
            sealed: None,
            streams_summary: self.streams_summary,
            input: SentInput::default(),
        }
    }

    /// The reasoning for the caller to send back, if it asked for it.
    pub(super) fn seal_reasoning(&self, reasoning: &TurnReasoning) -> Option<String> {
        self.sealer.as_ref()?.seal(&self.model, reasoning)
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
        choice.reasoning_details = None;
    }
    let finish = choice.as_ref().map_or(FinishReason::Stop, |choice| choice.finish);
    let status = last_status(finish);
    let sealed = choice.as_ref().and_then(|choice| seal_choice(&frame, choice));
    let search = frame.query.clone().map(|query| (OutputItemKind::Search, query));
    let has_seal = sealed.is_some();
    let parts = choice.map(|choice| split_choice(&frame, choice, has_seal)).unwrap_or_default();
    let items = (0..).zip(search.into_iter().chain(parts));
    let output = items.map(|(number, (kind, text))| {
        let status = if kind == OutputItemKind::Search { ItemStatus::Completed } else { status };
        let sealed = sealed.clone().filter(|_| kind == OutputItemKind::Reasoning);
        OutputItemState { text, sealed, ..frame.build_item(number, kind, status) }.to_output_item()
    });
    let output = output.collect();
    frame.build_final_response(finish, output, answered.settled.usage)
}

fn seal_choice(frame: &ResponseHead, choice: &ChatChoice) -> Option<String> {
    let text = choice.reasoning.clone().unwrap_or_default();
    let (details, signature) = (choice.reasoning_details.clone(), choice.thought_signature.clone());
    if text.is_empty() && details.is_none() {
        return None;
    }
    frame.seal_reasoning(&TurnReasoning { text, details, signature })
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

/// Reasoning first, then calls, then text. Empty messages are left out, and empty reasoning if
/// there is none to send back.
fn split_choice(
    frame: &ResponseHead,
    choice: ChatChoice,
    has_seal: bool,
) -> Vec<(OutputItemKind, String)> {
    let mut parts = Vec::new();
    let reasoning = choice.reasoning.or_else(|| has_seal.then(String::new));
    parts.extend(reasoning.map(|text| (OutputItemKind::Reasoning, text)));
    for call in choice.tool_calls {
        let tool = frame.call_names.find(&call.name);
        parts.push((OutputItemKind::Call { call_id: call.id, tool }, call.arguments));
    }
    parts.extend(choice.content.map(|text| (OutputItemKind::Text, text)));
    parts.extend(choice.refusal.map(|text| (OutputItemKind::Refusal, text)));
    parts.retain(|(kind, text)| match kind {
        OutputItemKind::Call { .. } => true,
        OutputItemKind::Reasoning => has_seal || !text.is_empty(),
        _ => !text.is_empty(),
    });
    parts
}

pub(super) fn to_wire_usage(usage: EngineUsage) -> ResponseUsage {
    ResponseUsage {
        input_tokens: usage.prompt(),
        input_tokens_details: InputTokensDetails { cached_tokens: usage.cached() },
        output_tokens: usage.completion(),
        output_tokens_details: OutputTokensDetails { reasoning_tokens: usage.reasoning() },
        total_tokens: usage.total(),
    }
}
