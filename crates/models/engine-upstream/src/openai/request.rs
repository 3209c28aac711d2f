//! Encodes a chat request for an OpenAI-style server.

use std::collections::BTreeMap;

use engine::{
    ChatRequest, ChatResponseFormat, EngineError, ReasoningParameters, SamplingParameters, XSearch,
};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::message::OpenAiMessageBody;
use super::reasoning::ReasoningBody;
use super::tools::{OpenAiToolBody, encode_tools};
use crate::dropped_fields;
use crate::quirks::{OutputCap, ServerQuirks};

pub(crate) fn write_whole(
    request: &ChatRequest,
    model: &str,
    quirks: ServerQuirks,
) -> Result<Vec<u8>, EngineError> {
    encode_body(&build_body(request, model, quirks)?)
}

pub(crate) fn write_streamed(
    request: &ChatRequest,
    model: &str,
    quirks: ServerQuirks,
) -> Result<Vec<u8>, EngineError> {
    let stream_options =
        quirks.takes_stream_options.then_some(StreamOptions { include_usage: true });
    encode_body(&ChatRequestBody {
        stream: Some(true),
        stream_options,
        ..build_body(request, model, quirks)?
    })
}

#[derive(Serialize, Default)]
struct ChatRequestBody<'a> {
    model: &'a str,
    messages: Vec<OpenAiMessageBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(flatten)]
    sampling: SamplingBody,
    #[serde(flatten)]
    extensions: Option<ExtensionsBody<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<OpenAiToolBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<FormatBody<'a>>,
    #[serde(flatten)]
    reasoning: ReasoningBody,
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_retention: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search_parameters: Option<SearchBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

/// xAI's live search parameters.
#[derive(Serialize)]
struct SearchBody<'a> {
    mode: &'static str,
    sources: [SourceBody<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    from_date: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_date: Option<&'a str>,
}

#[derive(Serialize)]
struct SourceBody<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    included_x_handles: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    excluded_x_handles: &'a [String],
}

impl<'a> SearchBody<'a> {
    fn from_search(search: &'a XSearch) -> SearchBody<'a> {
        let source = SourceBody {
            r#type: "x",
            included_x_handles: &search.handles,
            excluded_x_handles: &search.excluded_handles,
        };
        SearchBody {
            mode: "on",
            sources: [source],
            from_date: search.from_date.as_deref(),
            to_date: search.to_date.as_deref(),
        }
    }
}

#[derive(Serialize, Default)]
pub(super) struct SamplingBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
}

/// Fields that only some servers know, followed by the caller's unknown fields.
#[derive(Serialize)]
pub(super) struct ExtensionsBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_temp: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_temp: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition_penalty: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_token_ids: &'a [u32],
    #[serde(flatten)]
    rest: BTreeMap<&'a str, &'a Value>,
}

#[derive(Serialize)]
pub(super) struct StreamOptions {
    pub(super) include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum FormatBody<'a> {
    JsonObject,
    JsonSchema { json_schema: SchemaBody<'a> },
}

#[derive(Serialize)]
struct SchemaBody<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    schema: &'a RawValue,
}

/// Fields that we set ourselves; a caller's unknown field cannot override them.
const OUR_FIELDS: [&str; 44] = [
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "seed",
    "top_k",
    "min_p",
    "min_temp",
    "max_temp",
    "repetition_penalty",
    "stop_token_ids",
    "stop",
    "n",
    "best_of",
    "logprobs",
    "top_logprobs",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
    "response_format",
    "reasoning",
    "reasoning_effort",
    "verbosity",
    "prompt_cache_key",
    "prompt_cache_retention",
    "stream",
    "stream_options",
    "user",
    // Fields that make an upstream charge for more than tokens, or select what it charges for.
    "search_parameters",
    "web_search_options",
    "plugins",
    "service_tier",
    "models",
    "provider",
    "route",
    "store",
    "modalities",
    "audio",
];

const TEMPLATE_SWITCHES: &str = "chat_template_kwargs";

fn build_body<'a>(
    request: &'a ChatRequest,
    model: &'a str,
    quirks: ServerQuirks,
) -> Result<ChatRequestBody<'a>, EngineError> {
    let is_told = quirks.ends_at_context || !request.may_exceed_context;
    let cap = request.completion_tokens_max.filter(|_| is_told);
    let (max_tokens, max_completion_tokens) = match quirks.output_cap {
        OutputCap::MaxTokens => (cap, None),
        OutputCap::MaxCompletionTokens => (None, cap),
    };
    let (tools, tool_choice) = encode_tools(request, quirks)?;
    let messages = request.messages.iter();
    let retention = request.prompt_cache_retention.as_deref();
    Ok(ChatRequestBody {
        model,
        messages: messages
            .map(|it| OpenAiMessageBody::from_message(it, quirks.takes_extensions))
            .collect(),
        max_tokens,
        max_completion_tokens,
        sampling: SamplingBody::from_options(&request.sampling),
        extensions: quirks.takes_extensions.then(|| build_extensions(request)),
        stop: &request.stop,
        n: request.choices.filter(|choices| 1 < *choices),
        logprobs: request.logprobs.map(|_| true),
        top_logprobs: request.logprobs.and_then(|it| it.top),
        parallel_tool_calls: request.parallel_tool_calls.filter(|_| !tools.is_empty()),
        tools,
        tool_choice,
        response_format: encode_format(&request.response_format),
        reasoning: ReasoningBody::from_options(&request.reasoning, quirks.reasoning),
        verbosity: request.verbosity.as_deref().filter(|word| *word != "auto"),
        prompt_cache_key: request.prompt_cache_key.as_deref(),
        search_parameters: request.x_search.as_ref().map(SearchBody::from_search),
        prompt_cache_retention: retention.and_then(retention_word),
        stream: None,
        stream_options: None,
    })
}

impl SamplingBody {
    pub(super) fn from_options(sampling: &SamplingParameters) -> SamplingBody {
        SamplingBody {
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            frequency_penalty: sampling.frequency_penalty,
            presence_penalty: sampling.presence_penalty,
            seed: sampling.seed,
        }
    }
}

pub(super) fn build_extensions(request: &ChatRequest) -> ExtensionsBody<'_> {
    let rest = request.rest.iter().map(|(name, value)| (name.as_str(), value));
    // Reserved for us only if the caller set reasoning parameters.
    let ours_too =
        if request.reasoning == ReasoningParameters::default() { "" } else { TEMPLATE_SWITCHES };
    ExtensionsBody {
        top_k: request.sampling.top_k,
        min_p: request.sampling.min_p,
        min_temp: request.sampling.temperature_min,
        max_temp: request.sampling.temperature_max,
        repetition_penalty: request.sampling.repetition_penalty,
        stop_token_ids: &request.stop_token_ids,
        rest: rest.filter(|(name, _)| !OUR_FIELDS.contains(name) && *name != ours_too).collect(),
    }
}

/// Names of the requested fields that a server with these quirks is not sent.
pub(crate) fn list_dropped_fields(request: &ChatRequest, quirks: ServerQuirks) -> Vec<String> {
    let (sampling, reasoning) = (&request.sampling, &request.reasoning);
    let is_strict = !quirks.takes_extensions;
    let absent = [
        ("top_k", is_strict && sampling.top_k.is_some()),
        ("min_p", is_strict && sampling.min_p.is_some()),
        ("min_temp", is_strict && sampling.temperature_min.is_some()),
        ("max_temp", is_strict && sampling.temperature_max.is_some()),
        ("repetition_penalty", is_strict && sampling.repetition_penalty.is_some()),
        ("stop_token_ids", is_strict && !request.stop_token_ids.is_empty()),
        ("reasoning.summary", reasoning.summary.is_some()),
    ];
    let ours = absent.into_iter().filter(|(_, is_asked)| *is_asked);
    let mut names: Vec<String> = ours.map(|(name, _)| name.to_owned()).collect();
    if is_strict {
        names.extend(dropped_fields::list_unknown_fields(&request.rest));
    }
    names
}

fn encode_format(format: &ChatResponseFormat) -> Option<FormatBody<'_>> {
    match format {
        ChatResponseFormat::Text => None,
        ChatResponseFormat::JsonObject => Some(FormatBody::JsonObject),
        ChatResponseFormat::JsonSchema { name, schema, strict } => Some(FormatBody::JsonSchema {
            json_schema: SchemaBody { name, strict: *strict, schema },
        }),
    }
}

/// `default` is expressed by omitting the field; `extended` is our word for the longest retention.
pub(crate) fn retention_word(retention: &str) -> Option<&str> {
    match retention {
        "default" => None,
        "extended" => Some("24h"),
        other => Some(other),
    }
}

pub(crate) fn encode_body(body: &impl Serialize) -> Result<Vec<u8>, EngineError> {
    serde_json::to_vec(body).map_err(|error| EngineError::Rejected {
        message: format!("The request cannot be written as JSON: {error}"),
    })
}
