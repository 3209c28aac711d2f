//! One file per endpoint.

pub(crate) mod cutouts;
pub(crate) mod edits;
pub(crate) mod embeddings;
pub(crate) mod health;
pub(crate) mod images;
pub(crate) mod models;
mod picture_cut;
mod picture_file;
mod picture_form;
mod repaint;
pub(crate) mod safety;
pub(crate) mod speech;
pub(crate) mod texts;
pub(crate) mod transcriptions;
pub(crate) mod upscales;
pub(crate) mod videos;
mod waiting;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use serde::de::DeserializeOwned;

use crate::refusal::Refusal;

/// Parses the body as JSON.
fn read_json<B: DeserializeOwned>(body: Result<Bytes, BytesRejection>) -> Result<B, Refusal> {
    let body = body.map_err(|rejection| Refusal::too_large(rejection.body_text()))?;
    serde_json::from_slice(&body)
        .map_err(|error| Refusal::invalid(None, format!("The body cannot be read: {error}.")))
}
