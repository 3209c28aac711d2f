//! One output item of a response, in progress or completed.

use std::sync::Arc;

use serde_json::{Map, Value};
use wire::chat::{Annotation, CompletionRole, UrlCitation, WebSearchCitation};
use wire::responses::{
    ItemStatus, OutputItem, OutputPart, ResponseAnnotation, SearchAction, SearchSource, SummaryPart,
};

use super::custom_input::{CustomInputReader, read_custom_input};
use super::mcp_item::McpItem;
use super::tool_table::{CallForm, DeclaredTool};
use crate::endpoints::citations;

#[derive(Debug)]
pub(super) struct OutputItemState {
    pub(super) id: String,
    pub(super) kind: OutputItemKind,
    /// The reasoning, the text, the search query, or the arguments of a call.
    pub(super) text: String,
    pub(super) status: ItemStatus,
    /// Sources that a text may cite.
    pub(super) sources: Arc<[WebSearchCitation]>,
    /// True if a search lists its sources.
    pub(super) lists_sources: bool,
    /// Reasoning for the caller to send back.
    pub(super) sealed: Option<String>,
    /// True if reasoning is streamed as a summary.
    pub(super) streams_summary: bool,
    /// The input of a custom tool, as far as it was sent.
    pub(super) input: SentInput,
}

/// The text for a custom tool, in a stream.
#[derive(Debug, Default)]
pub(super) struct SentInput {
    reader: CustomInputReader,
    text: String,
}

impl SentInput {
    /// The new text in a piece of the arguments.
    pub(super) fn push(&mut self, arguments: &str) -> String {
        let added = self.reader.push(arguments);
        self.text.push_str(&added);
        added
    }

    /// The end of the text, if it begins with what was sent.
    pub(super) fn find_rest<'a>(&self, whole: &'a str) -> &'a str {
        whole.strip_prefix(self.text.as_str()).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OutputItemKind {
    /// A web search; the text is its query.
    Search,
    Reasoning,
    Text,
    Refusal,
    Call {
        call_id: String,
        tool: DeclaredTool,
    },
    /// An item about an MCP server; the text has the arguments.
    Mcp(McpItem),
}

impl OutputItemKind {
    /// Prefix of the ids of such items.
    pub(super) fn id_prefix(&self) -> &'static str {
        match self {
            OutputItemKind::Search => "ws",
            OutputItemKind::Reasoning => "rs",
            OutputItemKind::Text | OutputItemKind::Refusal => "msg",
            OutputItemKind::Call { tool, .. } => match tool.form {
                CallForm::Function => "fc",
                CallForm::Custom => "ctc",
                CallForm::ToolSearch => "tsc",
                CallForm::Mcp | CallForm::McpApproval => "mcp",
            },
            OutputItemKind::Mcp(item) => item.id_prefix(),
        }
    }
}

impl OutputItemState {
    /// The item in the response's form. A message in progress has no content yet.
    pub(super) fn to_output_item(&self) -> OutputItem {
        let id = self.id.clone();
        match &self.kind {
            OutputItemKind::Reasoning => {
                let summary = SummaryPart::SummaryText { text: self.text.clone() };
                let summary = if self.text.is_empty() { Vec::new() } else { vec![summary] };
                OutputItem::Reasoning { id, summary, encrypted_content: self.sealed.clone() }
            }
            OutputItemKind::Search => OutputItem::WebSearchCall {
                id,
                status: self.status,
                action: SearchAction::Search {
                    query: self.text.clone(),
                    sources: self.lists_sources.then(|| list_sources(&self.sources)),
                },
            },
            OutputItemKind::Call { call_id, tool } => self.to_call(call_id, tool),
            OutputItemKind::Mcp(item) => item.to_output_item(id, &self.text, self.status),
            OutputItemKind::Text | OutputItemKind::Refusal => OutputItem::Message {
                id,
                status: self.status,
                role: CompletionRole::Assistant,
                content: match self.status {
                    ItemStatus::InProgress => Vec::new(),
                    ItemStatus::Completed | ItemStatus::Incomplete | ItemStatus::Failed => {
                        self.to_output_part().into_iter().collect()
                    }
                },
            },
        }
    }

    /// A call in the form of the tool that was declared.
    fn to_call(&self, call_id: &str, tool: &DeclaredTool) -> OutputItem {
        let (id, call_id, status) = (self.id.clone(), call_id.to_owned(), self.status);
        let DeclaredTool { namespace, name, form } = tool.clone();
        match form {
            // Calls of MCP servers have items of their own.
            CallForm::Function | CallForm::Mcp | CallForm::McpApproval => {
                let arguments = self.text.clone();
                OutputItem::FunctionCall { id, call_id, name, namespace, arguments, status }
            }
            CallForm::Custom => {
                let input = self.custom_input();
                OutputItem::CustomToolCall { id, call_id, name, namespace, input, status }
            }
            CallForm::ToolSearch => {
                let arguments = read_object(&self.text);
                let execution = "client";
                OutputItem::ToolSearchCall { id, call_id, execution, arguments, status }
            }
        }
    }

    /// The text for a custom tool; empty until the call has ended.
    pub(super) fn custom_input(&self) -> String {
        match self.status {
            ItemStatus::InProgress => String::new(),
            ItemStatus::Completed | ItemStatus::Incomplete | ItemStatus::Failed => {
                read_custom_input(&self.text)
            }
        }
    }

    /// The only part of a message; None for other items.
    pub(super) fn to_output_part(&self) -> Option<OutputPart> {
        let text = self.text.clone();
        match &self.kind {
            OutputItemKind::Text => {
                let cited = citations::find_annotations(&text, &self.sources).into_iter();
                Some(OutputPart::OutputText {
                    annotations: cited.map(to_response_annotation).collect(),
                    text,
                })
            }
            OutputItemKind::Refusal => Some(OutputPart::Refusal { refusal: text }),
            OutputItemKind::Search
            | OutputItemKind::Reasoning
            | OutputItemKind::Call { .. }
            | OutputItemKind::Mcp(_) => None,
        }
    }
}

fn to_response_annotation(Annotation { url_citation, .. }: Annotation) -> ResponseAnnotation {
    let UrlCitation { start_index, end_index, title, url } = url_citation;
    ResponseAnnotation::UrlCitation { start_index, end_index, title, url }
}

fn list_sources(sources: &[WebSearchCitation]) -> Vec<SearchSource> {
    sources.iter().map(|source| SearchSource::Url { url: source.url.clone() }).collect()
}

/// The arguments of a search. A client refuses an empty object in its own words, so that the model
/// can try again after arguments that are no object.
fn read_object(arguments: &str) -> Map<String, Value> {
    serde_json::from_str(arguments).unwrap_or_default()
}
