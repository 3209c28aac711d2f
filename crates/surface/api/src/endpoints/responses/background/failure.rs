//! The error of a background response that failed.

use axum::http::StatusCode;
use axum::response::Response;
use http_frame::input::LARGE_BYTES;
use http_frame::refusal::Refusal;
use serde_json::{Value, json};

use crate::endpoints::responses::stored::turn::StoredInput;

/// The longest text of an error that is read from a refusal.
const REFUSAL_BYTES_MAX: usize = LARGE_BYTES;

/// The response that its caller gets if it fails.
pub(super) fn build_failed(input: &StoredInput, failure: Option<(String, String)>) -> Value {
    let mut response = input.run.as_ref().map(|run| run.draft.clone()).unwrap_or_default();
    response["status"] = "failed".into();
    if let Some((code, message)) = failure {
        response["error"] = json!({ "code": code, "message": message });
    }
    response
}

/// The code and the message of a refusal.
pub(super) async fn read_refusal(response: Response) -> (String, String) {
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), REFUSAL_BYTES_MAX).await;
    let body: Value =
        body.ok().and_then(|body| serde_json::from_slice(&body).ok()).unwrap_or_default();
    let texts = [&body["error"]["message"], &body["message"], &body["error"]];
    let message = texts.into_iter().find_map(Value::as_str).unwrap_or("The request was refused.");
    let code = match status {
        StatusCode::UNAUTHORIZED => "invalid_api_key",
        StatusCode::PAYMENT_REQUIRED => "insufficient_quota",
        StatusCode::NOT_FOUND | StatusCode::GONE => "model_not_found",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_exceeded",
        status if status.is_client_error() => "invalid_prompt",
        _ => "server_error",
    };
    (code.to_owned(), message.to_owned())
}

pub(super) async fn describe_refusal(refusal: Refusal) -> (String, String) {
    read_refusal(axum::response::IntoResponse::into_response(refusal)).await
}

pub(super) fn refused(message: &str) -> (String, String) {
    ("server_error".to_owned(), message.to_owned())
}
