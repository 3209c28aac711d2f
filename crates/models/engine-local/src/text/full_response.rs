//! Non-streamed completions.

use axum::Json;
use axum::response::{IntoResponse, Response};
use engine_text::{FinishCause, GenerationEvent, TextGeneration, TokenLogprob};
use serde_json::{Value, json};

use super::{CompletionEndpoint, CompletionEnvelope, UsageTotals, logprobs};
use crate::refusal::EngineRefusal;

pub(super) async fn collect_response(
    head: &CompletionEnvelope,
    mut generation: TextGeneration,
) -> Result<Response, EngineRefusal> {
    let mut choices: Vec<ChoiceBuffer> = Vec::new();
    let mut tally = UsageTotals::default();
    while let Some(event) = generation.next().await {
        match event {
            GenerationEvent::Text { choice, text, logprobs } => {
                let choice = choice_at(&mut choices, choice);
                choice.text.push_str(&text);
                choice.logprobs.extend(logprobs);
            }
            GenerationEvent::ToolCall { choice, name, arguments } => {
                choice_at(&mut choices, choice).calls.push((name, arguments));
            }
            GenerationEvent::Finished { choice, finish, stop_match, usage } => {
                let choice = choice_at(&mut choices, choice);
                (choice.finish, choice.stop_match) = (Some(finish), stop_match);
                tally.add(usage);
            }
            GenerationEvent::Failed { cause } => return Err(EngineRefusal::engine_failure(cause)),
        }
    }
    // The generating thread ends without an event only if it panicked.
    if choices.is_empty() || choices.iter().any(|choice| choice.finish.is_none()) {
        return Err(EngineRefusal::engine_failure("The model failed in the middle of its answer."));
    }
    let object =
        if head.shape == CompletionEndpoint::Chat { "chat.completion" } else { "text_completion" };
    let bodies = (0..).zip(&choices).map(|(index, choice)| choice.body(head, index));
    let mut body = head.body(object, bodies.collect());
    body["usage"] = tally.body();
    Ok(Json(body).into_response())
}

#[derive(Debug, Default)]
struct ChoiceBuffer {
    text: String,
    calls: Vec<(String, String)>,
    logprobs: Vec<TokenLogprob>,
    finish: Option<FinishCause>,
    stop_match: Option<String>,
}

fn choice_at(choices: &mut Vec<ChoiceBuffer>, index: u32) -> &mut ChoiceBuffer {
    let index = usize::try_from(index).unwrap_or(0);
    if choices.len() <= index {
        choices.resize_with(index + 1, ChoiceBuffer::default);
    }
    &mut choices[index]
}

impl ChoiceBuffer {
    fn body(&self, head: &CompletionEnvelope, index: u32) -> Value {
        let mut body = json!({
            "index": index,
            "finish_reason": self.finish.map(finish_word),
            "logprobs": logprobs::encode_logprobs(head.shape, &self.logprobs),
        });
        if let Some(stop) = &self.stop_match {
            body["stop_reason"] = stop.as_str().into();
        }
        match head.shape {
            CompletionEndpoint::Chat => body["message"] = self.message(head, index),
            CompletionEndpoint::Text => body["text"] = self.text.as_str().into(),
        }
        body
    }

    fn message(&self, head: &CompletionEnvelope, index: u32) -> Value {
        if self.calls.is_empty() {
            return json!({"role": "assistant", "content": self.text});
        }
        let calls = self.calls.iter().enumerate();
        let calls: Value =
            calls.map(|(call, it)| call_body(head.call_id(index, call), &it.0, &it.1)).collect();
        let content = (!self.text.is_empty()).then_some(&self.text);
        json!({"role": "assistant", "content": content, "tool_calls": calls})
    }
}

pub(super) fn call_body(id: String, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

pub(super) fn finish_word(finish: FinishCause) -> &'static str {
    match finish {
        FinishCause::Stop => "stop",
        FinishCause::Length => "length",
        FinishCause::ToolCalls => "tool_calls",
    }
}
