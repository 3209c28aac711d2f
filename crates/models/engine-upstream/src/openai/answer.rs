//! Decodes a complete response of an OpenAI-style server.

use engine::{ChatAnswer, ChatChoice, EngineError, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::usage;
use crate::failure::UpstreamFailure;
use crate::finish;
use crate::transport::bad_answer;

pub(crate) fn read_answer(body: &[u8]) -> Result<ChatAnswer, EngineError> {
    let answer: ChatCompletionBody<'_> = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not a chat completion: {error}")))?;
    // Some servers send status 200 with an error in the body.
    if answer.error.is_some() || answer.object.as_deref() == Some("error") {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        return Err(UpstreamFailure::from_value(&value).into_error());
    }
    let mut choices = Vec::new();
    for choice in answer.choices.unwrap_or_default() {
        choices.push(choice.read(answer.id.as_deref())?);
    }
    if choices.is_empty() {
        return Err(bad_answer("it has no choices"));
    }
    let usage = answer.usage.as_deref().and_then(usage::read_usage);
    let prompt_logprobs = answer.prompt_logprobs;
    Ok(ChatAnswer {
        served: None,
        upstream_id: answer.id,
        choices,
        prompt_logprobs,
        usage,
        native: None,
    })
}

#[derive(Deserialize)]
struct ChatCompletionBody<'a> {
    id: Option<String>,
    object: Option<String>,
    #[serde(borrow)]
    choices: Option<Vec<ChatChoiceBody<'a>>>,
    prompt_logprobs: Option<Box<RawValue>>,
    usage: Option<Box<RawValue>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ChatChoiceBody<'a> {
    #[serde(default)]
    index: u32,
    #[serde(borrow)]
    message: ChoiceMessageBody<'a>,
    finish_reason: Option<String>,
    #[serde(borrow)]
    stop_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    matched_stop: Option<&'a RawValue>,
    logprobs: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ChoiceMessageBody<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    refusal: Option<String>,
    reasoning_details: Option<Box<RawValue>>,
    thought_signature: Option<String>,
    tool_calls: Option<Vec<AnswerCallBody>>,
}

#[derive(Deserialize)]
struct AnswerCallBody {
    id: Option<String>,
    function: AnswerFunctionBody,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

#[derive(Deserialize)]
struct AnswerFunctionBody {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl ChatChoiceBody<'_> {
    fn read(self, upstream_id: Option<&str>) -> Result<ChatChoice, EngineError> {
        let message = self.message;
        let calls = message.tool_calls.unwrap_or_default();
        let tool_calls: Vec<ToolCall> =
            (0..).zip(calls).map(|(index, call)| call.read(index, upstream_id)).collect();
        let Some(word) = self.finish_reason else {
            return Err(bad_answer("a choice has no finish reason"));
        };
        Ok(ChatChoice {
            index: self.index,
            content: message.content.map(parse_text).transpose()?,
            verbatim: message.content.map(ToOwned::to_owned),
            reasoning: message.reasoning_content.or(message.reasoning),
            refusal: message.refusal,
            reasoning_details: message.reasoning_details,
            thought_signature: message.thought_signature,
            logprobs: self.logprobs,
            finish: finish::parse_finish_reason(&word, !tool_calls.is_empty())?,
            stop_match: finish::read_stop_match(self.stop_reason, self.matched_stop),
            tool_calls,
        })
    }
}

fn parse_text(content: &RawValue) -> Result<String, EngineError> {
    serde_json::from_str(content.get())
        .map_err(|error| bad_answer(format!("its content is not a text: {error}")))
}

impl AnswerCallBody {
    fn read(mut self, index: u32, upstream_id: Option<&str>) -> ToolCall {
        self.extra.shift_remove("type");
        self.extra.shift_remove("index");
        ToolCall {
            id: self.id.unwrap_or_else(|| made_up_id(upstream_id, index)),
            name: self.function.name,
            arguments: arguments_text(self.function.arguments),
            extra: self.extra,
        }
    }
}

/// An id for a tool call without one, distinct from those of other answers in the same chat.
pub(super) fn made_up_id(upstream_id: Option<&str>, index: u32) -> String {
    format!("call_{}_{index}", upstream_id.unwrap_or("0"))
}

/// Arguments must be a JSON string; some servers send the JSON value itself.
fn arguments_text(arguments: Value) -> String {
    match arguments {
        Value::String(text) => text,
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    }
}
