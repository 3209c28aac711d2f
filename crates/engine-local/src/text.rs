//! Chats and plain texts: what is asked, run on a text model, and told whole or as it is written.

mod asked;
mod chat;
mod completion;
mod logprobs;
mod stream;
mod whole;

pub(crate) use self::chat::ChatBody;
pub(crate) use self::completion::CompletionBody;

use std::sync::Arc;

use axum::response::Response;
use engine_text::{Generation, Request, TextModel, Usage};
use moment::Timestamp;
use serde_json::{Value, json};

use crate::entropy;
use crate::refusal::Refusal;
use crate::registry::{Model, ModelKind, Registry};

/// Which of the two endpoints asked: they tell the same things in different shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Chat,
    Text,
}

/// A request, read.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) model: String,
    pub(crate) shape: Shape,
    pub(crate) is_streamed: bool,
    pub(crate) request: Request,
}

/// What every answer and every chunk of it begins with.
#[derive(Debug, Clone)]
struct Head {
    shape: Shape,
    id: String,
    created: i64,
    model: String,
}

pub(crate) async fn answer(
    registry: &Arc<Registry>,
    asked: Asked,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let Model::Text(model) = registry.get(&asked.model, ModelKind::Text).await?.model else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    let head = Head::new(asked.shape, asked.model, now);
    let generation = begin(&model, asked.request).await?;
    if asked.is_streamed {
        return Ok(stream::respond(head, generation, model));
    }
    whole::respond(&head, generation).await
}

/// Reading a long prompt takes a while, which is not for a thread that serves others too.
async fn begin(model: &Arc<TextModel>, request: Request) -> Result<Generation, Refusal> {
    let model = Arc::clone(model);
    let begun = tokio::task::spawn_blocking(move || model.generate(&request)).await;
    Ok(begun.map_err(|error| Refusal::failed(error.to_string()))??)
}

impl Head {
    fn new(shape: Shape, model: String, now: Timestamp) -> Head {
        let prefix = if shape == Shape::Chat { "chatcmpl" } else { "cmpl" };
        let id = format!("{prefix}-{:016x}{:016x}", entropy::number(), entropy::number());
        Head { shape, id, created: now.seconds(), model }
    }

    fn body(&self, object: &str, choices: Value) -> Value {
        json!({
            "id": self.id,
            "object": object,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }

    /// Unique for every call of every choice of this answer.
    fn call_id(&self, choice: u32, call: usize) -> String {
        let own = self.id.rsplit('-').next().unwrap_or_default();
        format!("call_{own}{choice}{call}")
    }
}

/// Adds up what the choices took. The prompt is the same for all of them and counts once.
#[derive(Debug, Default)]
struct Tally {
    prompt_tokens: u32,
    cached_tokens: Option<u32>,
    completion_tokens: u64,
}

impl Tally {
    fn add(&mut self, usage: Usage) {
        self.prompt_tokens = usage.prompt_tokens;
        // A later choice finds what the first one read; the caller did not have it before.
        let cached =
            self.cached_tokens.map_or(usage.cached_tokens, |it| it.min(usage.cached_tokens));
        self.cached_tokens = Some(cached);
        self.completion_tokens += u64::from(usage.completion_tokens);
    }

    fn body(&self) -> Value {
        json!({
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": u64::from(self.prompt_tokens) + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens.unwrap_or(0)},
        })
    }
}
