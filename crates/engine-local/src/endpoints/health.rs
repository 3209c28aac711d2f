//! `GET /health`: whether the engine answers, and which models it has in which state.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::registry::{Registry, Standing};

pub(crate) async fn show(State(registry): State<Arc<Registry>>) -> Json<Value> {
    let models: Value = registry.standings().into_iter().map(model).collect();
    Json(json!({"status": "ok", "models": models}))
}

fn model(standing: Standing) -> Value {
    json!({
        "id": standing.id,
        "type": standing.kind.word(),
        "state": standing.state,
        "memory_bytes": standing.memory_bytes,
    })
}
