//! `GET /health`: the models with their states, and the GPUs.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine_text::{GpuDevice, LlamaLibrary};
use serde_json::{Value, json};

use crate::registry::{ModelRegistry, ModelStatus};

pub(crate) async fn show_health(State(registry): State<Arc<ModelRegistry>>) -> Json<Value> {
    let models: Value = registry.statuses().into_iter().map(encode_model_status).collect();
    // On a blocking thread, because it waits for the driver.
    let gpus = tokio::task::spawn_blocking(encode_gpus).await.unwrap_or_default();
    Json(json!({"status": "ok", "models": models, "gpus": gpus}))
}

fn encode_model_status(status: ModelStatus) -> Value {
    json!({
        "id": status.id,
        "type": status.kind.catalogue_name(),
        "state": status.state,
        "memory_bytes": status.memory_bytes,
        "gpu_layers": status.gpu_layers.map(|(on_gpus, _)| on_gpus),
        "layers": status.gpu_layers.map(|(_, all)| all),
    })
}

/// Empty before the first text model is loaded: only its library knows the GPUs.
fn encode_gpus() -> Value {
    let gpus = LlamaLibrary::loaded_library().map(LlamaLibrary::list_gpus).unwrap_or_default();
    let gpu = |gpu: GpuDevice| {
        json!({
            "name": gpu.name,
            "model": gpu.model,
            "free_bytes": gpu.free_bytes,
            "total_bytes": gpu.total_bytes,
        })
    };
    gpus.into_iter().map(gpu).collect()
}
