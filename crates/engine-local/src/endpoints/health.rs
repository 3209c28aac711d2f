//! `GET /health`: whether the engine answers, and which models it has in which state.

use axum::Json;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Health {
    status: &'static str,
    models: Vec<ModelHealth>,
}

#[derive(Debug, Serialize)]
struct ModelHealth {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    state: &'static str,
    memory_bytes: u64,
}

pub(crate) async fn show() -> Json<Health> {
    Json(Health { status: "ok", models: Vec::new() })
}
