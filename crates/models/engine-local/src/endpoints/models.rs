//! `GET /v1/models`: the available models.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::registry::ModelRegistry;

pub(crate) async fn list_models(State(registry): State<Arc<ModelRegistry>>) -> Json<Value> {
    let statuses = registry.statuses().into_iter();
    let models: Value = statuses
        .map(|it| json!({"id": it.id, "object": "model", "owned_by": "local", "type": it.kind.catalogue_name()}))
        .collect();
    Json(json!({"object": "list", "data": models}))
}
