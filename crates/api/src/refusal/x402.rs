//! Refusals of the x402 endpoints: a code in `error`, its words in `message`.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use wire::errors::X402Error;

use crate::refusal::render::Rendered;
use crate::refusal::{Refusal, to_value};

/// A refusal in the x402 envelope, or a standard one where the specification says so (429).
#[derive(Debug)]
pub enum X402Refusal {
    Payment { status: StatusCode, code: &'static str, message: String, details: Option<Value> },
    Standard(Refusal),
}

impl From<Refusal> for X402Refusal {
    fn from(refusal: Refusal) -> X402Refusal {
        if refusal.status() == StatusCode::TOO_MANY_REQUESTS {
            return X402Refusal::Standard(refusal);
        }
        let rendered = refusal.into_rendered();
        let message = rendered.body["error"].as_str().unwrap_or(rendered.reason).to_owned();
        let code = match rendered.status.as_u16() {
            500.. => "X402_UNKNOWN_ERROR",
            _ => "X402_INVALID_REQUEST",
        };
        X402Refusal::Payment { status: rendered.status, code, message, details: None }
    }
}

impl IntoResponse for X402Refusal {
    fn into_response(self) -> Response {
        match self {
            X402Refusal::Standard(refusal) => refusal.into_response(),
            X402Refusal::Payment { status, code, message, details } => {
                let body = to_value(&X402Error { error: code, message, details });
                Rendered::new(status, code, body).into_response()
            }
        }
    }
}
