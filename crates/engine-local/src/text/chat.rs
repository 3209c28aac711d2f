//! The body of `POST /v1/chat/completions`.

use engine_text::{Chat, Format, Prompt, Request, Tool, ToolChoice};
use moment::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::asked::Common;
use super::{Asked, Shape};
use crate::refusal::Refusal;

#[derive(Debug, Deserialize)]
pub(crate) struct ChatBody {
    model: String,
    messages: Vec<Value>,
    /// The newer name of `max_tokens`.
    max_completion_tokens: Option<u32>,
    logprobs: Option<bool>,
    top_logprobs: Option<u32>,
    #[serde(default)]
    tools: Vec<ToolBody>,
    tool_choice: Option<Value>,
    parallel_tool_calls: Option<bool>,
    response_format: Option<Value>,
    #[serde(default)]
    chat_template_kwargs: Map<String, Value>,
    #[serde(flatten)]
    common: Common,
}

#[derive(Debug, Deserialize)]
struct ToolBody {
    function: FunctionBody,
}

#[derive(Debug, Deserialize)]
struct FunctionBody {
    name: String,
    description: Option<String>,
    parameters: Option<Value>,
}

impl ChatBody {
    pub(crate) fn read(self, now: Timestamp) -> Result<Asked, Refusal> {
        if self.messages.is_empty() {
            return Err(Refusal::invalid(Some("messages"), "Send at least one message."));
        }
        let tool = |ToolBody { function }| {
            let FunctionBody { name, description, parameters } = function;
            Tool { name, description, parameters }
        };
        let chat = Chat {
            messages: self.messages,
            tools: self.tools.into_iter().map(tool).collect(),
            tool_choice: tool_choice(self.tool_choice.as_ref())?,
            is_one_call_enough: self.parallel_tool_calls == Some(false),
            switches: self.chat_template_kwargs,
        };
        let common = self.common;
        let wants_logprobs = self.logprobs.unwrap_or(self.top_logprobs.is_some());
        let request = Request {
            prompt: Prompt::Chat(chat),
            completion_tokens_max: self.max_completion_tokens.or(common.max_tokens),
            sampling: common.sampling(),
            stop: common.stops(),
            choices: common.n.unwrap_or(1),
            logprobs: wants_logprobs.then(|| self.top_logprobs.unwrap_or(0)),
            format: format(self.response_format.as_ref())?,
            seed: common.seed(),
            now_s: now.seconds(),
            stop_token_ids: common.stop_token_ids,
            cache_key: common.prompt_cache_key,
        };
        let is_streamed = common.stream.unwrap_or(false);
        Ok(Asked { model: self.model, shape: Shape::Chat, is_streamed, request })
    }
}

fn tool_choice(choice: Option<&Value>) -> Result<ToolChoice, Refusal> {
    let Some(choice) = choice.filter(|it| !it.is_null()) else { return Ok(ToolChoice::Auto) };
    let named = choice.pointer("/function/name").and_then(Value::as_str);
    match (choice.as_str(), named) {
        (Some("auto"), _) => Ok(ToolChoice::Auto),
        (Some("none"), _) => Ok(ToolChoice::None),
        (Some("required"), _) => Ok(ToolChoice::Required),
        (None, Some(name)) => Ok(ToolChoice::Function(name.to_owned())),
        _ => Err(Refusal::invalid(
            Some("tool_choice"),
            "Choose auto, none, required, or a function by its name.",
        )),
    }
}

/// The schema is in OpenAI's `json_schema` envelope, or given directly.
fn format(format: Option<&Value>) -> Result<Format, Refusal> {
    let Some(format) = format.filter(|it| !it.is_null()) else { return Ok(Format::Text) };
    let invalid = |message| Refusal::invalid(Some("response_format"), message);
    match format.get("type").and_then(Value::as_str) {
        Some("text") => Ok(Format::Text),
        Some("json_object") => Ok(Format::JsonObject),
        Some("json_schema") => {
            let schema = format.get("json_schema").ok_or_else(|| invalid("Send a json_schema."))?;
            Ok(Format::JsonSchema(schema.get("schema").unwrap_or(schema).clone()))
        }
        _ => Err(invalid("Choose text, json_object or json_schema.")),
    }
}
