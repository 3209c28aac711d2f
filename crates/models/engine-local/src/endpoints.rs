//! One file per endpoint.

mod caller_watch;
pub(crate) mod cutouts;
pub(crate) mod edits;
pub(crate) mod embeddings;
pub(crate) mod health;
pub(crate) mod images;
pub(crate) mod models;
mod picture_crop;
mod picture_file;
mod picture_form;
mod repaint;
pub(crate) mod safety;
pub(crate) mod speech;
pub(crate) mod texts;
pub(crate) mod transcriptions;
pub(crate) mod upscales;
pub(crate) mod videos;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use serde::de::DeserializeOwned;

use crate::refusal::EngineRefusal;

/// Parses the body as JSON.
fn read_json<B: DeserializeOwned>(body: Result<Bytes, BytesRejection>) -> Result<B, EngineRefusal> {
    let body = body.map_err(|rejection| EngineRefusal::too_large(rejection.body_text()))?;
    serde_json::from_slice(&body)
        .map_err(|error| EngineRefusal::invalid(None, format!("The body cannot be read: {error}.")))
}
