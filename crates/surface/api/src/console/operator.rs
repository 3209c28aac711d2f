//! The operations of the control socket over HTTP, for the operator's pages and programs.
//!
//! Requires the operator's own credential: a session started by a link of `tollgate operator link`,
//! or an OPERATOR key. ADMIN keys administer only their own account.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use http_frame::app::{AppState, SharedApp};
use http_frame::call::refuse_blocked_address;
use http_frame::caller::{OperatorCaller, RequiredCredential};
use http_frame::origin::CallerOrigin;
use http_frame::principal::Principal;
use http_frame::refusal::Refusal;
use http_frame::reply;
use http_frame::request_head::RequestHead;
use serde_json::Value;

use crate::console::small_body::read_small_body;
use crate::console::{ConsoleState, OperateError, OperatorKey};

const BODY_BYTES_MAX: usize = 16 * 1024;

pub(super) async fn post_operation(
    State(app): State<SharedApp>,
    State(console): State<Arc<ConsoleState>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let now = app.clock.now();
    let address = CallerOrigin::from_parts(&app.settings, &parts).address;
    let arrival = RequestHead { headers: &parts.headers, uri: &parts.uri, address, now };
    match perform_operation(&app, &console, &arrival, &parts, body).await {
        Ok(reply) => {
            ([(CACHE_CONTROL, "no-store")], reply::respond_json(reply.to_string())).into_response()
        }
        Err(refusal) => {
            // Failed attempts count, as they do for other endpoints.
            if refusal.status() == StatusCode::UNAUTHORIZED {
                app.note_failure(Principal::Address(address), now);
            }
            refusal.into_response()
        }
    }
}

async fn perform_operation(
    app: &AppState,
    console: &ConsoleState,
    arrival: &RequestHead<'_>,
    parts: &Parts,
    body: Body,
) -> Result<Value, Refusal> {
    refuse_blocked_address(app, arrival.address, arrival.now)?;
    let OperatorCaller(holder) = OperatorCaller::authenticate(app, arrival).await?;
    let operate = console
        .operate
        .as_ref()
        .ok_or_else(|| Refusal::forbidden("This process takes no operations over HTTP."))?;
    let body = read_small_body(app, parts, body, BODY_BYTES_MAX).await?;
    let operation: Value = serde_json::from_slice(&body).map_err(|_| Refusal::not_json())?;
    let name = operation["operation"].as_str().unwrap_or("unknown").to_owned();
    tracing::info!(operation = name, key = ?holder.key().map(|key| key.id), "operator request");
    let last6 = holder.key().map(|key| key.last6.clone()).unwrap_or_default();
    operate(OperatorKey { last6 }, operation).await.map_err(|fault| match fault {
        OperateError::Refused(message) => Refusal::bad_request("Operation refused", message),
        OperateError::Failed(cause) => Refusal::unavailable(cause),
    })
}
