//! A whole answer as a message.

use engine::{ChatChoice, EngineUsage, FinishReason};
use http_frame::request_id::RequestId;
use serde_json::{Map, Value};
use wire::chat::WebSearchCitation;
use wire::messages::{
    CacheWriteUsage, MessageBlockReply, MessageEnd, MessageReply, MessageStopReason, MessagesUsage,
    OutputUsageDetails, SearchResultReply, ServerToolUsage,
};

use super::mcp::{McpNames, McpToolName};
use super::thinking_seal::{ThinkingDisplay, ThinkingSeal};

pub(super) const SEARCH_TOOL: &str = "web_search";

/// The parts of a message that are known before it begins.
#[derive(Clone)]
pub(super) struct MessageHead {
    pub(super) request_id: RequestId,
    pub(super) model: String,
    pub(super) display: ThinkingDisplay,
    pub(super) seal: ThinkingSeal,
    /// The search that the service made.
    pub(super) search: Option<MadeSearch>,
    /// Our estimate of the prompt, for the start of a stream.
    pub(super) prompt_estimate: u64,
    /// The caller's stop sequences.
    pub(super) stops: Vec<String>,
    /// The tools of MCP servers.
    pub(super) mcp: McpNames,
}

/// A search that had results.
#[derive(Debug, Clone)]
pub(super) struct MadeSearch {
    pub(super) query: String,
    pub(super) sources: Vec<WebSearchCitation>,
}

impl MessageHead {
    /// The message without content, as it begins.
    pub(super) fn build_message(&self, content: Vec<MessageBlockReply>) -> MessageReply {
        MessageReply {
            id: format!("msg_{}", self.request_id.as_str()),
            kind: "message",
            role: "assistant",
            model: self.model.clone(),
            content,
            stop_reason: None,
            stop_sequence: None,
            usage: self.build_usage(EngineUsage::from_counts(self.prompt_estimate, 0)),
        }
    }

    /// The tokens of an answer. Cached tokens are not part of the input.
    pub(super) fn build_usage(&self, usage: EngineUsage) -> MessagesUsage {
        let (written, hour) = (usage.cache_creation(), usage.cache_creation_1h());
        let net = usage.prompt().saturating_sub(usage.cached()).saturating_sub(written);
        MessagesUsage {
            input_tokens: net,
            cache_creation_input_tokens: written,
            cache_read_input_tokens: usage.cached(),
            cache_creation: CacheWriteUsage {
                ephemeral_5m_input_tokens: written.saturating_sub(hour),
                ephemeral_1h_input_tokens: hour,
            },
            output_tokens: usage.completion(),
            output_tokens_details: OutputUsageDetails { thinking_tokens: usage.reasoning() },
            server_tool_use: self
                .search
                .as_ref()
                .map(|_| ServerToolUsage { web_search_requests: 1 }),
            service_tier: "standard",
        }
    }

    /// The blocks of the search: the use of the tool, and its results.
    pub(super) fn build_search_blocks(&self) -> Vec<MessageBlockReply> {
        let Some(search) = &self.search else { return Vec::new() };
        let id = format!("srvtoolu_{}", self.request_id.as_str());
        let input = Map::from_iter([("query".to_owned(), Value::from(search.query.as_str()))]);
        let results = search.sources.iter().map(|source| SearchResultReply {
            kind: "web_search_result",
            url: source.url.clone(),
            title: source.title.clone(),
            encrypted_content: String::new(),
            page_age: source.date.clone(),
        });
        vec![
            MessageBlockReply::ServerToolUse { id: id.clone(), name: SEARCH_TOOL, input },
            MessageBlockReply::WebSearchToolResult { tool_use_id: id, content: results.collect() },
        ]
    }

    /// The reason of the end. Few engines name the stop sequence that they met; with others the
    /// reason of an answer that ended at one is `end_turn`.
    pub(super) fn build_end(
        &self,
        finish: FinishReason,
        has_calls: bool,
        stop_match: Option<String>,
    ) -> MessageEnd {
        let stop_reason = to_stop_reason(finish, has_calls);
        let is_end = stop_reason == MessageStopReason::EndTurn;
        // Some servers have other words in the same member.
        match stop_match.filter(|stop| is_end && self.stops.contains(stop)) {
            Some(stop) => MessageEnd {
                stop_reason: MessageStopReason::StopSequence,
                stop_sequence: Some(stop),
            },
            None => MessageEnd { stop_reason, stop_sequence: None },
        }
    }

    /// The id of a call: of one that the service makes our own, of others the upstream's if it gave
    /// one.
    pub(super) fn choose_call_id(&self, name: &str, own: Option<String>, number: usize) -> String {
        if self.mcp.find(name).is_some() {
            return format!("mcptoolu_{}_{number}", self.request_id.as_str());
        }
        own.unwrap_or_else(|| self.build_call_id(number))
    }

    /// The block of a call.
    pub(super) fn build_call_block(
        &self,
        id: String,
        name: String,
        input: Map<String, Value>,
    ) -> MessageBlockReply {
        match self.mcp.find(&name).cloned() {
            Some(McpToolName { server, tool }) => {
                MessageBlockReply::McpToolUse { id, name: tool, server_name: server, input }
            }
            None => MessageBlockReply::ToolUse { id, name, input },
        }
    }

    /// The id of a tool call for which the upstream gave none.
    pub(super) fn build_call_id(&self, number: usize) -> String {
        format!("toolu_{}_{number}", self.request_id.as_str())
    }
}

/// A whole answer.
pub(super) fn build_whole_message(
    head: &MessageHead,
    choice: Option<ChatChoice>,
    usage: EngineUsage,
) -> MessageReply {
    let mut content = head.build_search_blocks();
    let mut end = MessageEnd { stop_reason: MessageStopReason::EndTurn, stop_sequence: None };
    if let Some(mut choice) = choice {
        let stop_match = choice.stop_match.take();
        end = head.build_end(choice.finish, !choice.tool_calls.is_empty(), stop_match);
        content.extend(build_blocks(head, choice));
    }
    MessageReply {
        stop_reason: Some(end.stop_reason),
        stop_sequence: end.stop_sequence,
        usage: head.build_usage(usage),
        ..head.build_message(content)
    }
}

/// Thinking, then text, then calls. Empty texts are left out.
fn build_blocks(head: &MessageHead, choice: ChatChoice) -> Vec<MessageBlockReply> {
    let mut blocks = Vec::new();
    let reasoning = choice.reasoning.filter(|text| !text.is_empty());
    if let Some(text) = reasoning.filter(|_| head.display != ThinkingDisplay::Absent) {
        let signature = head.seal.sign(&text, head.display);
        let thinking = if head.display == ThinkingDisplay::Shown { text } else { String::new() };
        blocks.push(MessageBlockReply::Thinking { thinking, signature });
    }
    for text in [choice.content, choice.refusal].into_iter().flatten() {
        if !text.is_empty() {
            blocks.push(MessageBlockReply::Text { text });
        }
    }
    for (number, call) in choice.tool_calls.into_iter().enumerate() {
        let id = if call.id.is_empty() { head.build_call_id(number) } else { call.id };
        let input = parse_input(&call.arguments);
        blocks.push(MessageBlockReply::ToolUse { id, name: call.name, input });
    }
    blocks
}

/// The input of a tool. Arguments that are no JSON object are given under one name, so that the
/// client can show them.
pub(super) fn parse_input(arguments: &str) -> Map<String, Value> {
    if arguments.trim().is_empty() {
        return Map::new();
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(input)) => input,
        _ => Map::from_iter([("arguments".to_owned(), Value::from(arguments))]),
    }
}

/// A message that called a tool ends with `tool_use`, whatever the upstream says.
fn to_stop_reason(finish: FinishReason, has_calls: bool) -> MessageStopReason {
    match finish {
        FinishReason::Length => MessageStopReason::MaxTokens,
        FinishReason::ContentFilter => MessageStopReason::Refusal,
        _ if has_calls => MessageStopReason::ToolUse,
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall => {
            MessageStopReason::EndTurn
        }
    }
}
