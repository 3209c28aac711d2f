//! `POST /v1/chat/completions`, `POST /v1/chat/tokens` and `POST /v1/completions`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use moment::{Clock, SystemClock, Timestamp};
use serde::de::DeserializeOwned;

use super::read_json;
use crate::refusal::EngineRefusal;
use crate::registry::ModelRegistry;
use crate::text::{self, ChatBody, CompletionBody, CompletionCall};

pub(crate) async fn create_chat(
    State(registry): State<Arc<ModelRegistry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, EngineRefusal> {
    handle_completion(&registry, body, ChatBody::read).await
}

pub(crate) async fn count_chat_tokens(
    State(registry): State<Arc<ModelRegistry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, EngineRefusal> {
    let body: ChatBody = read_json(body)?;
    text::count_prompt(&registry, body.read(SystemClock.now())?).await
}

pub(crate) async fn create_completion(
    State(registry): State<Arc<ModelRegistry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, EngineRefusal> {
    handle_completion(&registry, body, CompletionBody::read).await
}

async fn handle_completion<B: DeserializeOwned>(
    registry: &Arc<ModelRegistry>,
    body: Result<Bytes, BytesRejection>,
    read: fn(B, Timestamp) -> Result<CompletionCall, EngineRefusal>,
) -> Result<Response, EngineRefusal> {
    let now = SystemClock.now();
    let body = read_json(body)?;
    text::run_completion(registry, read(body, now)?, now).await
}
