//! `POST /v1/embeddings`.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use engine_onnx::embedding::{Embedder, EmbeddingError, Embeddings, Overflow};
use serde::Deserialize;
use serde_json::{Value, json};

use super::read_json;
use crate::refusal::Refusal;
use crate::registry::{Model, ModelKind, Registry};

#[derive(Debug, Deserialize)]
struct EmbeddingBody {
    model: String,
    input: Input,
    dimensions: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Input {
    Text(String),
    Texts(Vec<String>),
    Tokens(Vec<u32>),
    TokenLists(Vec<Vec<u32>>),
}

pub(crate) async fn create(
    State(registry): State<Arc<Registry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let body: EmbeddingBody = read_json(body)?;
    let Model::Embedding(model) = registry.get(&body.model, ModelKind::Embedding).await?.model
    else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    if body.dimensions.is_some_and(|wanted| wanted != model.dimensions()) {
        let message = format!("This model gives {} dimensions.", model.dimensions());
        return Err(Refusal::invalid(Some("dimensions"), message));
    }
    let (id, input) = (body.model, body.input);
    let computed = tokio::task::spawn_blocking(move || embed(&model, &input)).await;
    let computed = computed.map_err(|error| Refusal::failed(error.to_string()))?;
    Ok(Json(answer(&id, computed.map_err(refusal)?)))
}

fn embed(model: &Embedder, input: &Input) -> Result<Embeddings, EmbeddingError> {
    match input {
        Input::Text(text) => model.embed(&[text], Overflow::Refuse),
        Input::Texts(texts) => {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            model.embed(&texts, Overflow::Refuse)
        }
        Input::Tokens(tokens) => model.embed_tokens(&[tokens], Overflow::Refuse),
        Input::TokenLists(lists) => {
            let lists: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
            model.embed_tokens(&lists, Overflow::Refuse)
        }
    }
}

fn answer(model: &str, embeddings: Embeddings) -> Value {
    let tokens = embeddings.tokens;
    let vectors = embeddings.vectors.into_iter().enumerate();
    let data: Value = vectors
        .map(|(index, it)| json!({"object": "embedding", "index": index, "embedding": it}))
        .collect();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    json!({"object": "list", "data": data, "model": model, "usage": usage})
}

fn refusal(error: EmbeddingError) -> Refusal {
    let message = error.to_string();
    match error {
        EmbeddingError::TooLong { .. } => Refusal::context_overflow("input", message),
        EmbeddingError::UnknownToken { .. } => Refusal::invalid(Some("input"), message),
        EmbeddingError::Busy => Refusal::unavailable("overloaded", message),
        EmbeddingError::Runtime(_) | EmbeddingError::Failed(_) => Refusal::failed(message),
    }
}
