//! Output items of a response: messages, reasoning and tool calls.

use serde::Deserialize;
use serde_json::Value;

/// One output item. Calls of tools that the provider runs itself are ignored.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ResponseItemBody {
    Message {
        content: Option<Vec<ResponsePartBody>>,
    },
    Reasoning {
        id: Option<String>,
        summary: Option<Vec<ReasoningPartBody>>,
        content: Option<Vec<ReasoningPartBody>>,
        encrypted_content: Option<String>,
    },
    FunctionCall {
        call_id: String,
        name: String,
        arguments: Option<String>,
    },
    CustomToolCall {
        call_id: String,
        name: String,
        input: Option<String>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ResponsePartBody {
    OutputText {
        #[serde(default)]
        text: String,
        logprobs: Option<Value>,
    },
    Refusal {
        #[serde(default)]
        refusal: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct ReasoningPartBody {
    #[serde(default)]
    text: String,
}

/// The texts of a message, joined by kind.
#[derive(Default)]
pub(super) struct MessageTexts {
    pub(super) content: String,
    pub(super) refusal: String,
    /// The log probabilities of all parts, as the API returns them.
    pub(super) logprobs: Vec<Value>,
}

impl MessageTexts {
    pub(super) fn add_parts(&mut self, parts: Vec<ResponsePartBody>) {
        for part in parts {
            match part {
                ResponsePartBody::OutputText { text, logprobs } => {
                    self.content.push_str(&text);
                    if let Some(Value::Array(tokens)) = logprobs {
                        self.logprobs.extend(tokens);
                    }
                }
                ResponsePartBody::Refusal { refusal } => self.refusal.push_str(&refusal),
                ResponsePartBody::Other => {}
            }
        }
    }
}

/// The texts of the parts that are not empty.
pub(super) fn list_texts(parts: Option<Vec<ReasoningPartBody>>) -> Vec<String> {
    let texts = parts.into_iter().flatten().map(|part| part.text);
    texts.filter(|text| !text.is_empty()).collect()
}

/// Between two parts of a reasoning summary.
pub(super) const PART_BREAK: &str = "\n\n";

/// The readable text of a reasoning item: its summary, or else the reasoning itself.
pub(super) fn readable_reasoning(summary: &[String], content: &[String]) -> String {
    if summary.is_empty() { content.concat() } else { summary.join(PART_BREAK) }
}

/// A call of a function or of a custom tool.
pub(super) struct CalledTool {
    pub(super) call_id: String,
    pub(super) name: String,
    /// The input of a custom tool, which is free text.
    pub(super) arguments: String,
}

impl CalledTool {
    /// Arguments of a function are JSON: clients cannot parse an empty string.
    pub(super) fn of_function(
        call_id: String,
        name: String,
        arguments: Option<String>,
    ) -> CalledTool {
        let arguments = arguments.filter(|text| !text.is_empty());
        CalledTool { call_id, name, arguments: arguments.unwrap_or_else(|| "{}".to_owned()) }
    }

    pub(super) fn of_custom_tool(
        call_id: String,
        name: String,
        input: Option<String>,
    ) -> CalledTool {
        CalledTool { call_id, name, arguments: input.unwrap_or_default() }
    }
}
