//! Reads the bodies of the console's own routes.

use axum::body::Body;
use axum::http::request::Parts;
use bytes::Bytes;
use http_frame::app::AppState;
use http_frame::input::{BodyLimits, BodyOwner, read_body};
use http_frame::origin::CallerOrigin;
use http_frame::refusal::Refusal;

/// Reads a body of at most `bytes_max`, with the deadlines and the memory limit of callers without
/// a credential: a session is no reason to wait longer for a few hundred bytes.
pub(super) async fn read_small_body(
    app: &AppState,
    parts: &Parts,
    body: Body,
    bytes_max: usize,
) -> Result<Bytes, Refusal> {
    let address = CallerOrigin::from_parts(&app.settings, parts).address;
    let room = app.bodies.open_reservation(BodyOwner::anonymous(address));
    let limits = BodyLimits { bytes_max, ..BodyLimits::STRANGER };
    let body = room.meter_body(body, &parts.headers, limits.pace);
    room.replace_by_fault(read_body(&parts.headers, body, limits).await)
}
