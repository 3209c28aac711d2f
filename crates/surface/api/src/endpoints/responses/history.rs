//! Turns the items of a conversation into chat messages, whatever tools they are about.

use engine::{AssistantTurn, ChatContent, ChatContentPart, ChatMessage, PartKind, ToolCall};
use schema_check::{PathStep, ValidationFaults};
use serde_json::{Map, Value, json};
use wire::responses::{
    CustomToolCall, FunctionCall, Input, InputItem, InputMessage, InputPart, InputRole, OtherItem,
    PastItem, PastMcpApprovalRequest, PastMcpCall, PastReasoning, ResponseTool, ToolOutput,
    ToolSearchCall, ToolSearchOutput,
};

use super::mcp_history::{CallDecision, McpHistory};
use super::reasoning_seal::{ReasoningSealer, TurnReasoning};
use super::tool_table::{CUSTOM_INPUT, CallForm, DeclaredTool, ToolPlace, ToolTable, shorten};
use super::turns::{CheckedMedia, DocumentReplacement, MessagePartReader, to_message};
use crate::endpoints::mcp_tools::function_name::{build_call_id, build_function_name};

/// Faults of a request, by the models that they concern.
#[derive(Debug, Default)]
pub(super) struct RequestFaults {
    pub(super) for_all: ValidationFaults,
    /// For models whose provider does not have the Responses API.
    pub(super) for_chat: ValidationFaults,
}

/// The data needed to read the items of a conversation.
#[derive(Clone, Copy)]
pub(super) struct HistoryContext<'a> {
    pub(super) media: &'a CheckedMedia<'a>,
    pub(super) sealer: &'a ReasoningSealer,
    /// The id of the requested model.
    pub(super) model: &'a str,
    /// The items of the conversation about MCP servers.
    pub(super) mcp: &'a McpHistory,
}

/// A call of a tool of an MCP server.
struct McpCallText {
    server_label: String,
    name: String,
    arguments: String,
}

const NO_RESULT: &str = "There is no result.";
const REFUSED: &str = "The user did not approve this call.";
const UNDECIDED: &str = "The user has not decided about this call yet.";

/// The messages of a conversation, and the replacements of its documents.
#[derive(Debug, Default)]
pub(super) struct ChatHistory {
    pub(super) messages: Vec<ChatMessage>,
    pub(super) stand_ins: Vec<DocumentReplacement>,
}

/// Reads a conversation. Tools in it are added to the table.
pub(super) fn read_history(
    input: Input,
    context: HistoryContext<'_>,
    tools: &mut ToolTable,
    faults: &mut RequestFaults,
) -> ChatHistory {
    let mut reader = HistoryReader {
        context,
        tools,
        faults,
        history: ChatHistory::default(),
        images: Vec::new(),
        search_call: None,
    };
    match input {
        Input::Text(text) => reader.push_user(ChatContent::Text(text)),
        Input::Items(items) => {
            for (index, item) in items.into_iter().enumerate() {
                reader.read_item(index, item);
            }
        }
    }
    reader.finish()
}

struct HistoryReader<'a> {
    context: HistoryContext<'a>,
    tools: &'a mut ToolTable,
    faults: &'a mut RequestFaults,
    history: ChatHistory,
    /// Images in results of tools. They follow the last result, because chats have no images there
    /// and expect the results of one turn without a message between them.
    images: Vec<ChatContentPart>,
    /// The id of the last search for tools, for a result that names none.
    search_call: Option<String>,
}

impl HistoryReader<'_> {
    fn finish(mut self) -> ChatHistory {
        self.flush_images();
        self.history.messages.retain(|message| match message {
            ChatMessage::Assistant(turn) => turn.content.is_some() || !turn.tool_calls.is_empty(),
            _ => true,
        });
        if self.history.messages.is_empty() {
            let message = "Must have an item that is not left out, such as a message";
            self.faults.for_all.at(["input"]).push(message);
        }
        self.history
    }

    fn read_item(&mut self, index: usize, item: InputItem) {
        let is_result = matches!(
            item,
            InputItem::Past(
                PastItem::FunctionCallOutput(_)
                    | PastItem::CustomToolCallOutput(_)
                    | PastItem::ToolSearchOutput(_)
            )
        );
        if !is_result {
            self.flush_images();
        }
        match item {
            InputItem::Message(message) => self.add_message(index, message),
            InputItem::Past(item) => self.add_past_item(index, item),
            InputItem::Other(item) => self.add_other(index, &item),
        }
    }

    fn add_past_item(&mut self, index: usize, item: PastItem) {
        match item {
            PastItem::FunctionCall(FunctionCall {
                call_id, name, namespace, arguments, ..
            }) => {
                let tool = DeclaredTool { namespace, name, form: CallForm::Function };
                self.add_call(call_id, &tool, arguments);
            }
            PastItem::CustomToolCall(CustomToolCall {
                call_id, name, namespace, input, ..
            }) => {
                let tool = DeclaredTool { namespace, name, form: CallForm::Custom };
                self.add_call(call_id, &tool, json!({ CUSTOM_INPUT: input }).to_string());
            }
            PastItem::FunctionCallOutput(output) => {
                self.add_output(index, output.call_id, output.output);
            }
            PastItem::CustomToolCallOutput(output) => {
                self.add_output(index, output.call_id, output.output);
            }
            PastItem::ToolSearchCall(call) => self.add_search_call(index, call),
            PastItem::ToolSearchOutput(output) => self.add_search_output(index, output),
            PastItem::AdditionalTools(added) => {
                self.add_tools(index, &added.tools);
            }
            PastItem::Reasoning(reasoning) => self.add_reasoning(&reasoning),
            PastItem::McpCall(call) => self.add_mcp_call(call),
            PastItem::McpApprovalRequest(request) => self.add_approval_request(request),
            // They were read before (`McpHistory`).
            PastItem::McpListTools(_) | PastItem::McpApprovalResponse(_) => {}
            // They refer to data of another service, or to stored data, and nothing is stored.
            PastItem::ItemReference(_)
            | PastItem::WebSearchCall(_)
            | PastItem::Compaction(_)
            | PastItem::CompactionSummary(_)
            | PastItem::ContextCompaction(_) => {}
        }
    }

    /// A call that the service made, with its result.
    fn add_mcp_call(&mut self, call: PastMcpCall) {
        let PastMcpCall { id, server_label, name, arguments, output, error, .. } = call;
        let text = match (output, error) {
            (Some(output), _) => output,
            (None, Some(Value::String(error))) => format!("Error: {error}"),
            (None, Some(error)) => format!("Error: {error}"),
            (None, None) => NO_RESULT.to_owned(),
        };
        let call_id = build_call_id(&id);
        self.add_mcp_turn(call_id, &McpCallText { server_label, name, arguments }, text);
    }

    /// A call that needs approval. The result of an approved one takes the place of the text.
    fn add_approval_request(&mut self, request: PastMcpApprovalRequest) {
        let PastMcpApprovalRequest { id, server_label, name, arguments } = request;
        let text = match self.context.mcp.find_decision(&id) {
            CallDecision::Made => return,
            CallDecision::Approved => NO_RESULT.to_owned(),
            CallDecision::Refused { reason: None } => REFUSED.to_owned(),
            CallDecision::Refused { reason: Some(reason) } => format!("{REFUSED} {reason}"),
            CallDecision::None => UNDECIDED.to_owned(),
        };
        let call_id = build_call_id(&id);
        self.add_mcp_turn(call_id, &McpCallText { server_label, name, arguments }, text);
    }

    fn add_mcp_turn(&mut self, call_id: String, call: &McpCallText, text: String) {
        let McpCallText { server_label, name, arguments } = call;
        let name = build_function_name(server_label, name, |_| false);
        let (id, arguments) = (call_id.clone(), arguments.clone());
        self.push_tool_call(ToolCall { id, name, arguments, extra: Map::new() });
        let content = ChatContent::Text(text);
        self.history.messages.push(ChatMessage::Tool { call_id, content });
    }

    /// An item for models that are passed the request as it is. Its text is there to be counted.
    fn add_other(&mut self, index: usize, item: &OtherItem) {
        let path = [PathStep::from("input"), index.into(), "type".into()];
        let message =
            format!("Items of type `{}` are not supported by this model", shorten(&item.kind));
        self.faults.for_chat.at(path).push(message);
        let text = serde_json::to_string(&item.rest).unwrap_or_default();
        self.push_user(ChatContent::Text(text));
    }

    fn push_user(&mut self, content: ChatContent) {
        self.history.messages.push(ChatMessage::User { content, name: None });
    }

    fn flush_images(&mut self) {
        if !self.images.is_empty() {
            let images = std::mem::take(&mut self.images);
            self.push_user(ChatContent::Parts(images));
        }
    }

    fn part_reader(&mut self, index: usize, field: &'static str) -> MessagePartReader<'_> {
        MessagePartReader {
            index,
            field,
            sent: self.context.media,
            stand_ins: &mut self.history.stand_ins,
            faults: &mut self.faults.for_all,
            images: 0,
            files: 0,
        }
    }

    /// Adds a message. The text of a turn whose reasoning or calls came before it joins them.
    fn add_message(&mut self, index: usize, message: InputMessage) {
        let is_assistant = message.role == InputRole::Assistant;
        let message = to_message(message, self.part_reader(index, "content"));
        if is_assistant && let ChatMessage::Assistant(AssistantTurn { content, .. }) = message {
            let open = self.last_turn().filter(|turn| turn.content.is_none());
            match open {
                Some(turn) => turn.content = content,
                None => self.push_turn(AssistantTurn { content, ..AssistantTurn::default() }),
            }
            return;
        }
        self.history.messages.push(message);
    }

    fn last_turn(&mut self) -> Option<&mut AssistantTurn> {
        match self.history.messages.last_mut() {
            Some(ChatMessage::Assistant(turn)) => Some(turn),
            _ => None,
        }
    }

    fn push_turn(&mut self, turn: AssistantTurn) {
        self.history.messages.push(ChatMessage::Assistant(turn));
    }

    /// Adds a call to the assistant's turn before it, or to a new one.
    fn add_call(&mut self, id: String, tool: &DeclaredTool, arguments: String) {
        let name = self.tools.function_name(tool);
        self.push_tool_call(ToolCall { id, name, arguments, extra: Map::new() });
    }

    fn push_tool_call(&mut self, call: ToolCall) {
        match self.last_turn() {
            Some(turn) => turn.tool_calls.push(call),
            None => {
                self.push_turn(AssistantTurn { tool_calls: vec![call], ..AssistantTurn::default() })
            }
        }
    }

    /// Adds reasoning that this service sealed to a new turn. Other reasoning is left out.
    fn add_reasoning(&mut self, reasoning: &PastReasoning) {
        let HistoryContext { sealer, model, .. } = self.context;
        let sealed = reasoning.encrypted_content.as_deref();
        let Some(opened) = sealed.and_then(|sealed| sealer.open(model, sealed)) else { return };
        let TurnReasoning { text, details, signature } = opened;
        self.push_turn(AssistantTurn {
            reasoning: Some(text).filter(|text| !text.is_empty()),
            reasoning_details: details,
            thought_signature: signature,
            ..AssistantTurn::default()
        });
    }

    /// Adds the result of a call as text. Images follow in a message of the user.
    fn add_output(&mut self, index: usize, call_id: String, output: ToolOutput) {
        let text = match output {
            ToolOutput::Text(text) => text,
            ToolOutput::Json(value) => value.to_string(),
            ToolOutput::Parts(parts) => self.read_output_parts(index, parts),
        };
        let content = ChatContent::Text(text);
        self.history.messages.push(ChatMessage::Tool { call_id, content });
    }

    fn read_output_parts(&mut self, index: usize, parts: Vec<InputPart>) -> String {
        let mut texts = Vec::new();
        let mut images = Vec::new();
        let mut reader = self.part_reader(index, "output");
        for (position, part) in parts.into_iter().enumerate() {
            if matches!(part, InputPart::InputFile(_)) {
                let message = "Files are not supported here; send them in a message of the user";
                reader.add_fault(position, message);
                continue;
            }
            match reader.read_part(position, part) {
                Some(PartKind::Text(text)) => texts.push(text),
                Some(kind) => images.push(ChatContentPart { kind, cache: None }),
                None => {}
            }
        }
        self.images.append(&mut images);
        texts.join("\n")
    }

    fn add_search_call(&mut self, index: usize, call: ToolSearchCall) {
        let id = call.call_id.unwrap_or_else(|| format!("tool_search_{index}"));
        self.search_call = Some(id.clone());
        let arguments = match call.arguments {
            Value::String(text) => text,
            other => other.to_string(),
        };
        self.add_call(id, &DeclaredTool::tool_search(), arguments);
    }

    /// Offers the tools that were found, and tells the model their names.
    fn add_search_output(&mut self, index: usize, output: ToolSearchOutput) {
        let names = self.add_tools(index, &output.tools);
        let text = match names.as_slice() {
            [] => "No tools were found.".to_owned(),
            names => format!("These tools can be called now: {}", names.join(", ")),
        };
        let Some(call_id) = output.call_id.or_else(|| self.search_call.take()) else {
            let path = [PathStep::from("input"), index.into(), "call_id".into()];
            self.faults.for_chat.at(path).push("Required");
            return;
        };
        let content = ChatContent::Text(text);
        self.history.messages.push(ChatMessage::Tool { call_id, content });
    }

    fn add_tools(&mut self, index: usize, tools: &[ResponseTool]) -> Vec<String> {
        let path = vec!["input".into(), index.into(), "tools".into()];
        let place = ToolPlace { path, is_history: true };
        self.tools.add_tools(tools, &place, &mut self.faults.for_chat)
    }
}
