//! Converts messages to the instructions and input items of the Responses API.

use engine::{
    AssistantTurn, ChatContent, ChatContentPart, ChatMessage, EngineError, PartKind, ToolCall,
};
use serde::Serialize;

use super::reasoning_details::{self, EncryptedReasoning};
use super::request::reject_request;

/// Between two system messages or parts, as in a prompt of several paragraphs.
const PARAGRAPH_BREAK: &str = "\n\n";

pub(super) struct InputConversation<'a> {
    pub(super) instructions: Option<String>,
    pub(super) input: Vec<InputItemBody<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum InputItemBody<'a> {
    Message {
        role: &'static str,
        content: InputContentBody<'a>,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: InputContentBody<'a>,
    },
    Reasoning {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        summary: Vec<SummaryPartBody>,
        encrypted_content: String,
    },
}

/// Plain text is sent as a string, which every server takes.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum InputContentBody<'a> {
    Text(&'a str),
    JoinedText(String),
    Parts(Vec<InputPartBody<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type")]
pub(super) enum InputPartBody<'a> {
    #[serde(rename = "input_text")]
    Text { text: &'a str },
    #[serde(rename = "input_image")]
    Image { image_url: &'a str, detail: &'a str },
    #[serde(rename = "input_file")]
    File {
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_data: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_url: Option<&'a str>,
    },
}

#[derive(Serialize)]
pub(super) struct SummaryPartBody {
    r#type: &'static str,
    text: String,
}

/// The system messages before all others become the instructions. Later ones, and those of a
/// request that has no others, stay in their place.
pub(super) fn build_conversation(
    messages: &[ChatMessage],
) -> Result<InputConversation<'_>, EngineError> {
    let leading = messages.iter().map_while(instruction_text);
    let leading: Vec<String> = leading.collect();
    let count = if leading.len() < messages.len() { leading.len() } else { 0 };
    let mut input = Vec::new();
    for message in messages.iter().skip(count) {
        add_message(message, &mut input)?;
    }
    let instructions = (0 < count).then(|| leading.join(PARAGRAPH_BREAK));
    Ok(InputConversation { instructions, input })
}

/// The text of a system message; `None` for other messages and other content.
fn instruction_text(message: &ChatMessage) -> Option<String> {
    match message {
        ChatMessage::System { content, .. } => join_texts(content, PARAGRAPH_BREAK),
        _ => None,
    }
}

fn add_message<'a>(
    message: &'a ChatMessage,
    input: &mut Vec<InputItemBody<'a>>,
) -> Result<(), EngineError> {
    match message {
        ChatMessage::System { content, .. } => {
            let content = encode_content(content)?;
            input.push(InputItemBody::Message { role: "developer", content });
        }
        ChatMessage::User { content, .. } => {
            let content = encode_content(content)?;
            input.push(InputItemBody::Message { role: "user", content });
        }
        ChatMessage::Tool { call_id, content } => {
            let output = encode_output(content)?;
            input.push(InputItemBody::FunctionCallOutput { call_id, output });
        }
        ChatMessage::Assistant(turn) => add_turn(turn, input)?,
        ChatMessage::Prompt(_) => {
            return Err(reject_request("This model supports chats only; use /chat/completions"));
        }
    }
    Ok(())
}

/// Reasoning comes first, as generated. It is left out of a turn without content and calls, because
/// the API rejects reasoning that nothing follows.
fn add_turn<'a>(
    turn: &'a AssistantTurn,
    input: &mut Vec<InputItemBody<'a>>,
) -> Result<(), EngineError> {
    let content = match &turn.content {
        Some(content) => Some(join_texts(content, "\n").ok_or_else(|| {
            reject_request("A message of the assistant must be text for this model")
        })?),
        None => None,
    };
    let content = content.filter(|text| !text.is_empty());
    let has_output = content.is_some() || !turn.tool_calls.is_empty();
    if let Some(details) = turn.reasoning_details.as_ref().filter(|_| has_output) {
        input.extend(reasoning_details::decode_items(details).into_iter().map(encode_reasoning));
    }
    input.extend(content.map(|text| InputItemBody::Message {
        role: "assistant",
        content: InputContentBody::JoinedText(text),
    }));
    input.extend(turn.tool_calls.iter().map(encode_call));
    Ok(())
}

fn encode_reasoning<'a>(item: EncryptedReasoning) -> InputItemBody<'a> {
    let summary = item.summary.into_iter();
    let summary = summary.map(|text| SummaryPartBody { r#type: "summary_text", text }).collect();
    InputItemBody::Reasoning { id: item.id, summary, encrypted_content: item.encrypted_content }
}

fn encode_call(call: &ToolCall) -> InputItemBody<'_> {
    let arguments = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    InputItemBody::FunctionCall { call_id: &call.id, name: &call.name, arguments }
}

/// The result of a call is plain text if all of its parts are.
fn encode_output(content: &ChatContent) -> Result<InputContentBody<'_>, EngineError> {
    match join_texts(content, "\n") {
        Some(text) => Ok(InputContentBody::JoinedText(text)),
        None => encode_content(content),
    }
}

fn encode_content(content: &ChatContent) -> Result<InputContentBody<'_>, EngineError> {
    match content {
        ChatContent::Text(text) => Ok(InputContentBody::Text(text)),
        ChatContent::Parts(parts) => {
            let parts: Result<_, _> = parts.iter().map(encode_part).collect();
            Ok(InputContentBody::Parts(parts?))
        }
    }
}

fn encode_part(part: &ChatContentPart) -> Result<InputPartBody<'_>, EngineError> {
    match &part.kind {
        PartKind::Text(text) => Ok(InputPartBody::Text { text }),
        PartKind::Image { url, detail } => {
            Ok(InputPartBody::Image { image_url: url, detail: detail.as_deref().unwrap_or("auto") })
        }
        PartKind::Document { url, name } => Ok(encode_document(url, name.as_deref())),
        PartKind::Audio { .. } => Err(reject_request("This model does not take audio")),
        PartKind::Video { .. } => Err(reject_request("This model does not take video")),
    }
}

/// The API requires a name for a file that is sent inline, and derives its type from it.
fn encode_document<'a>(url: &'a str, name: Option<&'a str>) -> InputPartBody<'a> {
    if url.starts_with("data:") {
        let filename = Some(name.unwrap_or("document.pdf"));
        return InputPartBody::File { filename, file_data: Some(url), file_url: None };
    }
    InputPartBody::File { filename: None, file_data: None, file_url: Some(url) }
}

/// The texts of the content; `None` if it has other parts.
fn join_texts(content: &ChatContent, separator: &str) -> Option<String> {
    match content {
        ChatContent::Text(text) => Some(text.clone()),
        ChatContent::Parts(parts) => {
            let texts: Option<Vec<&str>> = parts.iter().map(part_text).collect();
            Some(texts?.join(separator))
        }
    }
}

fn part_text(part: &ChatContentPart) -> Option<&str> {
    match &part.kind {
        PartKind::Text(text) => Some(text),
        _ => None,
    }
}
