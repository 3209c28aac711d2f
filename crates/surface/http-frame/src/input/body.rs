//! Reads bodies, with limits on their size and on pauses of the caller.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use http_body::Body as _;
use http_body_util::BodyExt;

use crate::input::metered_body::BodyPace;
use crate::refusal::Refusal;

/// Limits on a body's size and speed.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    pub bytes_max: usize,
    pub pause_max: Duration,
    /// Minimum speed of the whole body.
    pub pace: BodyPace,
}

impl BodyLimits {
    /// For accounts' keys and wallets with a balance. The size is the specification's for JSON.
    pub const TRUSTED: BodyLimits = BodyLimits {
        bytes_max: 35 * 1024 * 1024,
        pause_max: Duration::from_secs(30),
        // At one megabit per second the largest body takes five minutes.
        pace: BodyPace {
            start: Duration::from_secs(20),
            bytes_per_s_min: 16 * 1024,
            total_max: Duration::from_secs(300),
        },
    };

    /// For callers without a valid credential, and for wallets without a balance, since anyone can
    /// create wallets. Without a credential, the body is read only to tell malformed JSON from the
    /// missing credential; endpoints for everyone take no larger bodies.
    pub const STRANGER: BodyLimits = BodyLimits {
        bytes_max: 64 * 1024,
        pause_max: Duration::from_secs(10),
        pace: BodyPace {
            start: Duration::from_secs(10),
            bytes_per_s_min: 4 * 1024,
            total_max: Duration::from_secs(20),
        },
    };
}

impl BodyLimits {
    /// True if these are the limits of [`BodyLimits::STRANGER`].
    pub(crate) fn is_strangers(self) -> bool {
        self.bytes_max == BodyLimits::STRANGER.bytes_max
    }
}

/// Reads a whole body into memory. A body of one piece, the usual case, is not copied.
pub async fn read_body(
    headers: &HeaderMap,
    mut body: Body,
    limits: BodyLimits,
) -> Result<Bytes, Refusal> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| limits.bytes_max < length) {
        return Err(Refusal::body_too_large());
    }
    let Some(first) = read_piece(&mut body, limits, 0).await? else { return Ok(Bytes::new()) };
    if body.is_end_stream() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(announced.unwrap_or(0));
    whole.extend_from_slice(&first);
    while let Some(piece) = read_piece(&mut body, limits, whole.len()).await? {
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

/// The next piece of a body of which `so_far` bytes were read, or `None` at its end.
async fn read_piece(
    body: &mut Body,
    limits: BodyLimits,
    so_far: usize,
) -> Result<Option<Bytes>, Refusal> {
    loop {
        // Data that has already arrived needs no timer.
        let next = match body.frame().now_or_never() {
            Some(next) => next,
            None => tokio::time::timeout(limits.pause_max, body.frame())
                .await
                .map_err(|_| Refusal::too_slow())?,
        };
        let Some(frame) = next else { return Ok(None) };
        let frame = frame.map_err(|_| {
            Refusal::bad_request(
                "Incomplete request",
                "The request body ended before it was complete.",
            )
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if limits.bytes_max < so_far + data.len() {
            return Err(Refusal::body_too_large());
        }
        return Ok(Some(data));
    }
}
