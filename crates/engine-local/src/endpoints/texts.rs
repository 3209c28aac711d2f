//! `POST /v1/chat/completions` and `POST /v1/completions`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use moment::{Clock, SystemClock, Timestamp};
use serde::de::DeserializeOwned;

use super::read_json;
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::text::{self, Asked, ChatBody, CompletionBody};

pub(crate) async fn create_chat(
    State(registry): State<Arc<Registry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    answer(&registry, body, ChatBody::read).await
}

pub(crate) async fn create_completion(
    State(registry): State<Arc<Registry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    answer(&registry, body, CompletionBody::read).await
}

async fn answer<B: DeserializeOwned>(
    registry: &Arc<Registry>,
    body: Result<Bytes, BytesRejection>,
    read: fn(B, Timestamp) -> Result<Asked, Refusal>,
) -> Result<Response, Refusal> {
    let now = SystemClock.now();
    let body = read_json(body)?;
    text::answer(registry, read(body, now)?, now).await
}
