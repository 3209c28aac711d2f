//! The body of `POST /v1/chat/completions`.

use engine_text::{
    ChatPrompt, GenerationFormat, PromptTool, TextPrompt, TextRequest, ToolCallPolicy,
};
use moment::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::common_fields::CommonFields;
use super::{CompletionCall, CompletionEndpoint};
use crate::refusal::EngineRefusal;

#[derive(Debug, Deserialize)]
pub(crate) struct ChatBody {
    model: String,
    messages: Vec<Value>,
    /// The newer name of `max_tokens`.
    max_completion_tokens: Option<u32>,
    logprobs: Option<bool>,
    top_logprobs: Option<u32>,
    #[serde(default)]
    tools: Vec<ChatToolBody>,
    tool_choice: Option<Value>,
    parallel_tool_calls: Option<bool>,
    response_format: Option<Value>,
    #[serde(default)]
    chat_template_kwargs: Map<String, Value>,
    #[serde(flatten)]
    common: CommonFields,
}

#[derive(Debug, Deserialize)]
struct ChatToolBody {
    function: ChatFunctionBody,
}

#[derive(Debug, Deserialize)]
struct ChatFunctionBody {
    name: String,
    description: Option<String>,
    parameters: Option<Value>,
}

impl ChatBody {
    pub(crate) fn read(self, now: Timestamp) -> Result<CompletionCall, EngineRefusal> {
        if self.messages.is_empty() {
            return Err(EngineRefusal::invalid(Some("messages"), "Send at least one message."));
        }
        let tool = |ChatToolBody { function }| {
            let ChatFunctionBody { name, description, parameters } = function;
            PromptTool { name, description, parameters }
        };
        let chat = ChatPrompt {
            messages: self.messages,
            tools: self.tools.into_iter().map(tool).collect(),
            tool_choice: tool_choice(self.tool_choice.as_ref())?,
            is_one_call_enough: self.parallel_tool_calls == Some(false),
            switches: self.chat_template_kwargs,
        };
        let common = self.common;
        let wants_logprobs = self.logprobs.unwrap_or(self.top_logprobs.is_some());
        let request = TextRequest {
            prompt: TextPrompt::Chat(chat),
            completion_tokens_max: self.max_completion_tokens.or(common.max_tokens),
            sampling: common.sampling(),
            stop: common.stop_strings(),
            choices: common.n.unwrap_or(1),
            logprobs: wants_logprobs.then(|| self.top_logprobs.unwrap_or(0)),
            format: parse_format(self.response_format.as_ref())?,
            seed: common.seed_or_random(),
            now_s: now.seconds(),
            stop_token_ids: common.stop_token_ids,
            cache_key: common.prompt_cache_key,
        };
        let is_streamed = common.stream.unwrap_or(false);
        Ok(CompletionCall {
            model: self.model,
            shape: CompletionEndpoint::Chat,
            is_streamed,
            request,
        })
    }
}

fn tool_choice(choice: Option<&Value>) -> Result<ToolCallPolicy, EngineRefusal> {
    let Some(choice) = choice.filter(|it| !it.is_null()) else { return Ok(ToolCallPolicy::Auto) };
    let named = choice.pointer("/function/name").and_then(Value::as_str);
    match (choice.as_str(), named) {
        (Some("auto"), _) => Ok(ToolCallPolicy::Auto),
        (Some("none"), _) => Ok(ToolCallPolicy::None),
        (Some("required"), _) => Ok(ToolCallPolicy::Required),
        (None, Some(name)) => Ok(ToolCallPolicy::Function(name.to_owned())),
        _ => Err(EngineRefusal::invalid(
            Some("tool_choice"),
            "Choose auto, none, required, or a function by its name.",
        )),
    }
}

/// The schema is in OpenAI's `json_schema` envelope, or given directly.
fn parse_format(format: Option<&Value>) -> Result<GenerationFormat, EngineRefusal> {
    let Some(format) = format.filter(|it| !it.is_null()) else { return Ok(GenerationFormat::Text) };
    let invalid = |message| EngineRefusal::invalid(Some("response_format"), message);
    match format.get("type").and_then(Value::as_str) {
        Some("text") => Ok(GenerationFormat::Text),
        Some("json_object") => Ok(GenerationFormat::JsonObject),
        Some("json_schema") => {
            let schema = format.get("json_schema").ok_or_else(|| invalid("Send a json_schema."))?;
            Ok(GenerationFormat::JsonSchema(schema.get("schema").unwrap_or(schema).clone()))
        }
        _ => Err(invalid("Choose text, json_object or json_schema.")),
    }
}
