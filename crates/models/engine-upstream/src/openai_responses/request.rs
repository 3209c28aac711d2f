//! Encodes a chat request for the Responses API.
//!
//! The API has no stop sequences, penalties or seed; these are left out and named in the response.

use engine::{
    ChatMessage, ChatRequest, ChatResponseFormat, EffortLevel, EngineError, ReasoningParameters,
};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::input::{InputItemBody, build_conversation};
use super::tools::{ResponsesToolBody, encode_tool_choice, encode_tools};
use crate::dropped_fields;
use crate::openai::{encode_body, retention_word};

/// Settings common to all requests to one model.
pub(crate) struct ResponsesEncoder<'a> {
    pub(crate) model: &'a str,
    /// The model returns encrypted reasoning. Other models reject requests that ask for it.
    pub(crate) has_reasoning: bool,
    /// The smallest `max_output_tokens` that the server accepts.
    pub(crate) output_tokens_min: u64,
}

impl ResponsesEncoder<'_> {
    pub(crate) fn encode_whole(&self, request: &ChatRequest) -> Result<Vec<u8>, EngineError> {
        encode_body(&self.build_body(request)?)
    }

    pub(crate) fn encode_streamed(&self, request: &ChatRequest) -> Result<Vec<u8>, EngineError> {
        encode_body(&ResponsesRequestBody { stream: Some(true), ..self.build_body(request)? })
    }

    fn build_body<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> Result<ResponsesRequestBody<'a>, EngineError> {
        if request.seal.is_some() {
            return Err(reject_request("This model does not take encrypted messages"));
        }
        let conversation = build_conversation(&request.messages)?;
        let cap = request.completion_tokens_max.filter(|_| !request.may_exceed_context);
        let tools = encode_tools(request);
        let retention = request.prompt_cache_retention.as_deref();
        Ok(ResponsesRequestBody {
            model: self.model,
            instructions: conversation.instructions,
            input: conversation.input,
            max_output_tokens: cap.map(|cap| cap.max(self.output_tokens_min)),
            temperature: request.sampling.temperature,
            top_p: request.sampling.top_p,
            top_logprobs: request.logprobs.and_then(|it| it.top),
            // A tool choice without tools is an error.
            tool_choice: request
                .tool_choice
                .as_ref()
                .filter(|_| !tools.is_empty())
                .map(encode_tool_choice),
            parallel_tool_calls: request.parallel_tool_calls.filter(|_| !tools.is_empty()),
            tools,
            reasoning: encode_reasoning(&request.reasoning),
            text: encode_text(request),
            prompt_cache_key: request.prompt_cache_key.as_deref(),
            prompt_cache_retention: retention.and_then(retention_word),
            include: self.list_included(request),
            store: false,
            stream: None,
        })
    }

    /// Nothing is stored at the provider, so reasoning must come back encrypted.
    fn list_included(&self, request: &ChatRequest) -> Vec<&'static str> {
        let reasoning = self.has_reasoning.then_some("reasoning.encrypted_content");
        let logprobs = request.logprobs.map(|_| "message.output_text.logprobs");
        reasoning.into_iter().chain(logprobs).collect()
    }
}

#[derive(Serialize)]
struct ResponsesRequestBody<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    input: Vec<InputItemBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ResponsesToolBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<ReasoningOptionsBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextOptionsBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_retention: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Serialize)]
struct ReasoningOptionsBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
}

#[derive(Serialize)]
struct TextOptionsBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<TextFormatBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<&'a str>,
}

#[derive(Serialize)]
struct TextFormatBody<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a RawValue>,
}

fn encode_reasoning(asked: &ReasoningParameters) -> Option<ReasoningOptionsBody<'_>> {
    let effort = if asked.is_off() { Some(EffortLevel::None) } else { asked.effort };
    // OpenAI's scale ends one level below ours.
    let effort = effort.map(|it| it.min(EffortLevel::ExtraHigh).as_str());
    // Without reasoning there is nothing to summarize.
    let summary = asked.summary.as_deref().filter(|_| !asked.is_off());
    let is_asked = effort.is_some() || summary.is_some();
    is_asked.then_some(ReasoningOptionsBody { effort, summary })
}

fn encode_text(request: &ChatRequest) -> Option<TextOptionsBody<'_>> {
    let format = match &request.response_format {
        ChatResponseFormat::Text => None,
        ChatResponseFormat::JsonObject => {
            Some(TextFormatBody { r#type: "json_object", name: None, strict: None, schema: None })
        }
        ChatResponseFormat::JsonSchema { name, schema, strict } => Some(TextFormatBody {
            r#type: "json_schema",
            name: Some(name),
            strict: *strict,
            schema: Some(schema),
        }),
    };
    let verbosity = request.verbosity.as_deref().filter(|word| *word != "auto");
    let is_asked = format.is_some() || verbosity.is_some();
    is_asked.then_some(TextOptionsBody { format, verbosity })
}

/// Names of the requested fields that this protocol lacks.
pub(super) fn list_dropped_fields(request: &ChatRequest) -> Vec<String> {
    let sampling = &request.sampling;
    let is_off = request.reasoning.is_off();
    let absent = [
        ("top_k", sampling.top_k.is_some()),
        ("min_p", sampling.min_p.is_some()),
        ("min_temp", sampling.temperature_min.is_some()),
        ("max_temp", sampling.temperature_max.is_some()),
        ("frequency_penalty", is_set(sampling.frequency_penalty)),
        ("presence_penalty", is_set(sampling.presence_penalty)),
        ("repetition_penalty", sampling.repetition_penalty.is_some()),
        ("seed", sampling.seed.is_some()),
        ("stop", !request.stop.is_empty()),
        ("stop_token_ids", !request.stop_token_ids.is_empty()),
        ("reasoning.summary", is_off && request.reasoning.summary.is_some()),
        ("messages.name", request.messages.iter().any(has_name)),
    ];
    let ours = absent.into_iter().filter(|(_, is_asked)| *is_asked);
    let ours = ours.map(|(name, _)| name.to_owned());
    ours.chain(dropped_fields::list_unknown_fields(&request.rest)).collect()
}

/// A penalty of zero has no effect.
fn is_set(penalty: Option<f64>) -> bool {
    penalty.is_some_and(|penalty| penalty != 0.0)
}

fn has_name(message: &ChatMessage) -> bool {
    match message {
        ChatMessage::System { name, .. } | ChatMessage::User { name, .. } => name.is_some(),
        ChatMessage::Assistant(turn) => turn.name.is_some(),
        ChatMessage::Tool { .. } | ChatMessage::Prompt(_) => false,
    }
}

pub(super) fn reject_request(message: &str) -> EngineError {
    EngineError::Rejected { message: message.to_owned() }
}
