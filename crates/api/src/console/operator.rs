//! What the operator's pages ask for: the operations of the control socket, over a session.
//!
//! A key alone does not open this, so that a leaked ADMIN key in some script is worth no more
//! than before: it takes a session that was begun by hand.

use axum::extract::{Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::app::{App, Shared};
use crate::console::OperateError;
use crate::console::session;
use crate::console::sign_in::is_operator;
use crate::console::small_body::read_small_body;
use crate::refusal::Refusal;
use crate::reply;

const BODY_BYTES_MAX: usize = 16 * 1024;

pub(super) async fn operate(State(app): State<Shared>, request: Request) -> Response {
    match perform(&app, request).await {
        Ok(reply) => {
            ([(CACHE_CONTROL, "no-store")], reply::json(reply.to_string())).into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

async fn perform(app: &App, request: Request) -> Result<Value, Refusal> {
    let (parts, body) = request.into_parts();
    let holder = session::holder(app, &parts.headers, app.clock.now()).await?;
    let operate = app.console.operate.as_ref().filter(|_| is_operator(app, &holder));
    let operate = operate.ok_or_else(|| {
        Refusal::forbidden("Only ADMIN keys of the operator's account see these pages.")
    })?;
    let body = read_small_body(app, &parts, body, BODY_BYTES_MAX).await?;
    let operation: Value = serde_json::from_slice(&body).map_err(|_| Refusal::not_json())?;
    let name = operation["operation"].as_str().unwrap_or("unknown").to_owned();
    tracing::info!(operation = name, key = ?holder.key().map(|key| key.id), "an operator asks");
    operate(operation).await.map_err(|fault| match fault {
        OperateError::Refused(message) => Refusal::bad_request("Operation refused", message),
        OperateError::Failed(cause) => Refusal::unavailable(cause),
    })
}
