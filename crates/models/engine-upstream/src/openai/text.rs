//! Text completions (`/completions`), which use no chat template.

mod chunk;

use engine::{ChatAnswer, ChatChoice, ChatRequest, CompletionPrompt, EngineError, PromptText};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub(super) use chunk::TextDecoder;

use super::request::{ExtensionsBody, SamplingBody, StreamOptions, build_extensions, encode_body};
use super::usage;
use crate::ServerQuirks;
use crate::failure::UpstreamFailure;
use crate::finish;
use crate::transport::bad_answer;

pub(super) fn write_whole(
    request: &ChatRequest,
    prompt: &CompletionPrompt,
    model: &str,
    quirks: ServerQuirks,
) -> Result<Vec<u8>, EngineError> {
    encode_body(&build_body(request, prompt, model, quirks))
}

pub(super) fn write_streamed(
    request: &ChatRequest,
    prompt: &CompletionPrompt,
    model: &str,
    quirks: ServerQuirks,
) -> Result<Vec<u8>, EngineError> {
    let stream_options =
        quirks.takes_stream_options.then_some(StreamOptions { include_usage: true });
    encode_body(&TextRequestBody {
        stream: Some(true),
        stream_options,
        ..build_body(request, prompt, model, quirks)
    })
}

pub(super) fn read_completion(body: &[u8]) -> Result<ChatAnswer, EngineError> {
    let answer: TextCompletionBody = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not a text completion: {error}")))?;
    // Some servers send status 200 with an error in the body.
    if answer.error.is_some() || answer.object.as_deref() == Some("error") {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        return Err(UpstreamFailure::from_value(&value).into_error());
    }
    let mut choices = Vec::new();
    for choice in answer.choices.unwrap_or_default() {
        choices.push(choice.read()?);
    }
    if choices.is_empty() {
        return Err(bad_answer("it has no choices"));
    }
    let usage = answer.usage.as_deref().and_then(usage::read_usage);
    let prompt_logprobs = None;
    Ok(ChatAnswer {
        served: None,
        upstream_id: answer.id,
        choices,
        prompt_logprobs,
        usage,
        native: None,
    })
}

#[derive(Serialize)]
struct TextRequestBody<'a> {
    model: &'a str,
    prompt: PromptBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suffix: Option<&'a str>,
    /// This endpoint predates `max_completion_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(flatten)]
    sampling: SamplingBody,
    #[serde(flatten)]
    extensions: Option<ExtensionsBody<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u32>,
    /// Number of alternatives to return per token.
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

/// One prompt, or a list of prompts.
#[derive(Serialize)]
#[serde(untagged)]
enum PromptBody<'a> {
    One(TextBody<'a>),
    Several(Vec<TextBody<'a>>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum TextBody<'a> {
    Text(&'a str),
    Tokens(&'a [u32]),
}

#[derive(Deserialize)]
struct TextCompletionBody {
    id: Option<String>,
    object: Option<String>,
    choices: Option<Vec<TextChoiceBody>>,
    usage: Option<Box<RawValue>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct TextChoiceBody {
    #[serde(default)]
    index: u32,
    text: String,
    finish_reason: Option<String>,
    logprobs: Option<Box<RawValue>>,
}

fn build_body<'a>(
    request: &'a ChatRequest,
    prompt: &'a CompletionPrompt,
    model: &'a str,
    quirks: ServerQuirks,
) -> TextRequestBody<'a> {
    TextRequestBody {
        model,
        prompt: PromptBody::from_texts(&prompt.texts),
        suffix: prompt.suffix.as_deref(),
        max_tokens: request.completion_tokens_max,
        sampling: SamplingBody::from_options(&request.sampling),
        extensions: quirks.takes_extensions.then(|| build_extensions(request)),
        stop: &request.stop,
        n: request.choices.filter(|choices| 1 < *choices),
        logprobs: request.logprobs.map(|it| it.top.unwrap_or(0)),
        stream: None,
        stream_options: None,
    }
}

impl<'a> PromptBody<'a> {
    fn from_texts(texts: &'a [PromptText]) -> PromptBody<'a> {
        let body = |text: &'a PromptText| match text {
            PromptText::Text(text) => TextBody::Text(text),
            PromptText::Tokens(tokens) => TextBody::Tokens(tokens),
        };
        match texts {
            [text] => PromptBody::One(body(text)),
            texts => PromptBody::Several(texts.iter().map(body).collect()),
        }
    }
}

impl TextChoiceBody {
    fn read(self) -> Result<ChatChoice, EngineError> {
        let Some(word) = self.finish_reason else {
            return Err(bad_answer("a choice has no finish reason"));
        };
        Ok(ChatChoice {
            index: self.index,
            content: Some(self.text),
            verbatim: None,
            reasoning: None,
            refusal: None,
            tool_calls: Vec::new(),
            reasoning_details: None,
            thought_signature: None,
            logprobs: self.logprobs,
            finish: finish::parse_finish_reason(&word, false)?,
            stop_match: None,
        })
    }
}
