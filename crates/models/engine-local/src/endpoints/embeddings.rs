//! `POST /v1/embeddings`.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use engine_onnx::embedding::{EmbeddingError, EmbeddingVectors, OverflowPolicy, TextEmbedder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::read_json;
use crate::refusal::EngineRefusal;
use crate::registry::{ModelKind, ModelRegistry, ModelRuntime};

#[derive(Debug, Deserialize)]
struct EmbeddingBody {
    model: String,
    input: EmbeddingInputBody,
    dimensions: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum EmbeddingInputBody {
    Text(String),
    Texts(Vec<String>),
    Tokens(Vec<u32>),
    TokenLists(Vec<Vec<u32>>),
}

pub(crate) async fn create_embeddings(
    State(registry): State<Arc<ModelRegistry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, EngineRefusal> {
    let body: EmbeddingBody = read_json(body)?;
    let ModelRuntime::Embedding(model) =
        registry.get(&body.model, ModelKind::Embedding).await?.model
    else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    if body.dimensions.is_some_and(|wanted| wanted != model.dimensions()) {
        let message = format!("This model returns {} dimensions.", model.dimensions());
        return Err(EngineRefusal::invalid(Some("dimensions"), message));
    }
    let (id, input) = (body.model, body.input);
    let computed = tokio::task::spawn_blocking(move || embed_input(&model, &input)).await;
    let computed = computed.map_err(|error| EngineRefusal::engine_failure(error.to_string()))?;
    Ok(Json(encode_response(&id, computed.map_err(convert_embedding_error)?)))
}

fn embed_input(
    model: &TextEmbedder,
    input: &EmbeddingInputBody,
) -> Result<EmbeddingVectors, EmbeddingError> {
    match input {
        EmbeddingInputBody::Text(text) => model.embed(&[text], OverflowPolicy::Refuse),
        EmbeddingInputBody::Texts(texts) => {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            model.embed(&texts, OverflowPolicy::Refuse)
        }
        EmbeddingInputBody::Tokens(tokens) => model.embed_tokens(&[tokens], OverflowPolicy::Refuse),
        EmbeddingInputBody::TokenLists(lists) => {
            let lists: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
            model.embed_tokens(&lists, OverflowPolicy::Refuse)
        }
    }
}

fn encode_response(model: &str, embeddings: EmbeddingVectors) -> Value {
    let tokens = embeddings.tokens;
    let vectors = embeddings.vectors.into_iter().enumerate();
    let data: Value = vectors
        .map(|(index, it)| json!({"object": "embedding", "index": index, "embedding": it}))
        .collect();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    json!({"object": "list", "data": data, "model": model, "usage": usage})
}

fn convert_embedding_error(error: EmbeddingError) -> EngineRefusal {
    let message = error.to_string();
    match error {
        EmbeddingError::TooLong { .. } => EngineRefusal::context_overflow("input", message),
        EmbeddingError::UnknownToken { .. } => EngineRefusal::invalid(Some("input"), message),
        EmbeddingError::Busy => EngineRefusal::unavailable("overloaded", message),
        EmbeddingError::Runtime(_) | EmbeddingError::Failed(_) => {
            EngineRefusal::engine_failure(message)
        }
    }
}
