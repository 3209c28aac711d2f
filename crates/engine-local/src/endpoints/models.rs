//! `GET /v1/models`: the available models.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::registry::Registry;

pub(crate) async fn list(State(registry): State<Arc<Registry>>) -> Json<Value> {
    let statuses = registry.statuses().into_iter();
    let models: Value = statuses
        .map(|it| json!({"id": it.id, "object": "model", "owned_by": "local", "type": it.kind.word()}))
        .collect();
    Json(json!({"object": "list", "data": models}))
}
