//! Non-streamed completions.

use axum::Json;
use axum::response::{IntoResponse, Response};
use engine_text::{Event, Finish, Generation, TokenLogprob};
use serde_json::{Value, json};

use super::{Head, Shape, Tally, logprobs};
use crate::refusal::Refusal;

pub(super) async fn respond(head: &Head, mut generation: Generation) -> Result<Response, Refusal> {
    let mut choices: Vec<Choice> = Vec::new();
    let mut tally = Tally::default();
    while let Some(event) = generation.next().await {
        match event {
            Event::Text { choice, text, logprobs } => {
                let choice = at(&mut choices, choice);
                choice.text.push_str(&text);
                choice.logprobs.extend(logprobs);
            }
            Event::ToolCall { choice, name, arguments } => {
                at(&mut choices, choice).calls.push((name, arguments));
            }
            Event::Finished { choice, finish, usage } => {
                at(&mut choices, choice).finish = Some(finish);
                tally.add(usage);
            }
            Event::Failed { cause } => return Err(Refusal::failed(cause)),
        }
    }
    // The generating thread ends without an event only if it panicked.
    if choices.is_empty() || choices.iter().any(|choice| choice.finish.is_none()) {
        return Err(Refusal::failed("The model stopped in the middle of its answer."));
    }
    let object = if head.shape == Shape::Chat { "chat.completion" } else { "text_completion" };
    let bodies = (0..).zip(&choices).map(|(index, choice)| choice.body(head, index));
    let mut body = head.body(object, bodies.collect());
    body["usage"] = tally.body();
    Ok(Json(body).into_response())
}

#[derive(Debug, Default)]
struct Choice {
    text: String,
    calls: Vec<(String, String)>,
    logprobs: Vec<TokenLogprob>,
    finish: Option<Finish>,
}

fn at(choices: &mut Vec<Choice>, index: u32) -> &mut Choice {
    let index = usize::try_from(index).unwrap_or(0);
    if choices.len() <= index {
        choices.resize_with(index + 1, Choice::default);
    }
    &mut choices[index]
}

impl Choice {
    fn body(&self, head: &Head, index: u32) -> Value {
        let mut body = json!({
            "index": index,
            "finish_reason": self.finish.map(finish_word),
            "logprobs": logprobs::body(head.shape, &self.logprobs),
        });
        match head.shape {
            Shape::Chat => body["message"] = self.message(head, index),
            Shape::Text => body["text"] = self.text.as_str().into(),
        }
        body
    }

    fn message(&self, head: &Head, index: u32) -> Value {
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

pub(super) fn finish_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ToolCalls => "tool_calls",
    }
}
