//! Reading a body: bounded in size, and in how long the caller may pause.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use crate::refusal::Refusal;

/// How much of a body is read, and how patiently.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    pub bytes_max: usize,
    pub pause_max: Duration,
}

impl BodyLimits {
    /// The specification's cap for JSON, for a caller who has shown a good credential.
    pub const TRUSTED: BodyLimits =
        BodyLimits { bytes_max: 35 * 1024 * 1024, pause_max: Duration::from_secs(30) };

    /// For a caller whose credential is missing or bad. Its body is read only to tell malformed
    /// JSON from a missing credential, which takes no more than this.
    pub const STRANGER: BodyLimits =
        BodyLimits { bytes_max: 64 * 1024, pause_max: Duration::from_secs(10) };
}

/// Reads a whole body into memory.
pub(super) async fn read(
    headers: &HeaderMap,
    mut body: Body,
    limits: BodyLimits,
) -> Result<Bytes, Refusal> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| limits.bytes_max < length) {
        return Err(Refusal::body_too_large());
    }
    let mut whole = BytesMut::with_capacity(announced.unwrap_or(0));
    loop {
        let next = tokio::time::timeout(limits.pause_max, body.frame()).await;
        let Some(frame) = next.map_err(|_| Refusal::too_slow())? else {
            return Ok(whole.freeze());
        };
        let frame = frame.map_err(|_| {
            Refusal::bad_request(
                "Incomplete request",
                "The request body ended before it was complete.",
            )
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if limits.bytes_max < whole.len() + data.len() {
            return Err(Refusal::body_too_large());
        }
        whole.extend_from_slice(&data);
    }
}
