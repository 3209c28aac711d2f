//! `GET /health`: whether the engine answers, and which models it has in which state.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine_text::{Gpu, Library};
use serde_json::{Value, json};

use crate::registry::{Registry, Standing};

pub(crate) async fn show(State(registry): State<Arc<Registry>>) -> Json<Value> {
    let models: Value = registry.standings().into_iter().map(model).collect();
    // It waits for the driver.
    let gpus = tokio::task::spawn_blocking(gpus).await.unwrap_or_default();
    Json(json!({"status": "ok", "models": models, "gpus": gpus}))
}

fn model(standing: Standing) -> Value {
    json!({
        "id": standing.id,
        "type": standing.kind.word(),
        "state": standing.state,
        "memory_bytes": standing.memory_bytes,
        "gpu_layers": standing.gpu_layers.map(|(on_gpus, _)| on_gpus),
        "layers": standing.gpu_layers.map(|(_, all)| all),
    })
}

/// Nothing before the first text model: only its library knows.
fn gpus() -> Value {
    let gpus = Library::loaded().map(Library::gpus).unwrap_or_default();
    let gpu = |gpu: Gpu| {
        json!({
            "name": gpu.name,
            "model": gpu.model,
            "free_bytes": gpu.free_bytes,
            "total_bytes": gpu.total_bytes,
        })
    };
    gpus.into_iter().map(gpu).collect()
}
