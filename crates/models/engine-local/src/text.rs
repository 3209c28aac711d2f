//! Chat and text completions: runs a request on a text model and responds whole or streamed.

mod chat;
mod common_fields;
mod completion;
mod full_response;
mod logprobs;
mod stream;

pub(crate) use self::chat::ChatBody;
pub(crate) use self::completion::CompletionBody;

use std::sync::Arc;

use axum::Json;
use axum::response::{IntoResponse, Response};
use engine_text::{ChoiceUsage, TextGeneration, TextModel, TextRequest};
use moment::Timestamp;
use serde_json::{Value, json};

use crate::entropy;
use crate::refusal::EngineRefusal;
use crate::registry::{ModelKind, ModelRegistry, ModelRuntime};

/// The endpoint of the request, which determines the response format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompletionEndpoint {
    Chat,
    Text,
}

/// A parsed request.
#[derive(Debug)]
pub(crate) struct CompletionCall {
    pub(crate) model: String,
    pub(crate) shape: CompletionEndpoint,
    pub(crate) is_streamed: bool,
    pub(crate) request: TextRequest,
}

/// Members common to a response and all of its chunks.
#[derive(Debug, Clone)]
struct CompletionEnvelope {
    shape: CompletionEndpoint,
    id: String,
    created: i64,
    model: String,
}

pub(crate) async fn run_completion(
    registry: &Arc<ModelRegistry>,
    asked: CompletionCall,
    now: Timestamp,
) -> Result<Response, EngineRefusal> {
    let ModelRuntime::Text(model) = registry.get(&asked.model, ModelKind::Text).await?.model else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    let head = CompletionEnvelope::new(asked.shape, asked.model, now);
    let generation = start_generation(&model, asked.request).await?;
    if asked.is_streamed {
        return Ok(stream::stream_response(head, generation, model));
    }
    full_response::collect_response(&head, generation).await
}

/// Counts the tokens of a prompt: null if the model is not loaded, since counting is free and loading
/// is work.
pub(crate) async fn count_prompt(
    registry: &ModelRegistry,
    asked: CompletionCall,
) -> Result<Response, EngineRefusal> {
    let Some(ModelRuntime::Text(model)) = registry.find_loaded(&asked.model).map(|it| it.model)
    else {
        return Ok(Json(json!({"prompt_tokens": null})).into_response());
    };
    let counted = tokio::task::spawn_blocking(move || model.count_prompt(&asked.request)).await;
    let tokens = counted.map_err(|error| EngineRefusal::engine_failure(error.to_string()))??;
    Ok(Json(json!({"prompt_tokens": tokens})).into_response())
}

/// On a blocking thread, because tokenizing a long prompt takes time.
async fn start_generation(
    model: &Arc<TextModel>,
    request: TextRequest,
) -> Result<TextGeneration, EngineRefusal> {
    let model = Arc::clone(model);
    let begun = tokio::task::spawn_blocking(move || model.generate(&request)).await;
    Ok(begun.map_err(|error| EngineRefusal::engine_failure(error.to_string()))??)
}

impl CompletionEnvelope {
    fn new(shape: CompletionEndpoint, model: String, now: Timestamp) -> CompletionEnvelope {
        let prefix = if shape == CompletionEndpoint::Chat { "chatcmpl" } else { "cmpl" };
        let id =
            format!("{prefix}-{:016x}{:016x}", entropy::random_number(), entropy::random_number());
        CompletionEnvelope { shape, id, created: now.seconds(), model }
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

    /// A tool call id, unique within this answer.
    fn call_id(&self, choice: u32, call: usize) -> String {
        let own = self.id.rsplit('-').next().unwrap_or_default();
        format!("call_{own}{choice}{call}")
    }
}

/// Sums the usage of all choices. They share one prompt, which counts once.
#[derive(Debug, Default)]
struct UsageTotals {
    prompt_tokens: u32,
    cached_tokens: Option<u32>,
    completion_tokens: u64,
}

impl UsageTotals {
    fn add(&mut self, usage: ChoiceUsage) {
        self.prompt_tokens = usage.prompt_tokens;
        // The minimum: later choices find the prompt that the first one computed, which was not
        // cached when the request came.
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
