//! Refusals of the x402 endpoints: a code in `error`, the message in `message`.

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use wire::errors::X402Error;
use wire::wallets::TopUpRequired;

use crate::refusal::render::{BoxError, RenderedRefusal};
use crate::refusal::{Refusal, to_value};

/// Retry delay, in seconds, for a payment that was not settled because of a failure of ours.
const RETRY_AFTER_S: &str = "5";

/// A refusal in the x402 envelope, or a standard one where the specification says so (429).
#[derive(Debug)]
pub enum X402Refusal {
    Payment {
        status: StatusCode,
        code: &'static str,
        message: String,
        details: Option<Value>,
        /// For the log only.
        cause: Option<BoxError>,
    },
    /// A payment that was not settled, with the x402 settlement result for the response header.
    Settlement {
        status: StatusCode,
        code: &'static str,
        message: String,
        details: Value,
        result: String,
    },
    /// Also used for the 402 that asks for a payment.
    Standard(Refusal),
}

impl X402Refusal {
    /// 402: how to pay, in the body and in more detail in the header.
    pub fn payment_required(body: &TopUpRequired, header: &str) -> X402Refusal {
        X402Refusal::Standard(Refusal::payment_required(to_value(body), header))
    }
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
        let (status, cause) = (rendered.status, rendered.cause);
        X402Refusal::Payment { status, code, message, details: None, cause }
    }
}

/// A refusal of endpoints on which a wallet reads its own data, in the x402 envelope. A 402 stays
/// the challenge to sign in; validation and 429 keep their own envelopes.
#[derive(Debug)]
pub struct WalletReadRefusal(RenderedRefusal);

impl From<Refusal> for WalletReadRefusal {
    fn from(refusal: Refusal) -> WalletReadRefusal {
        let rendered = refusal.into_rendered();
        let code = match rendered.status.as_u16() {
            402 | 429 => return WalletReadRefusal(rendered),
            400 if rendered.body.get("details").is_some() => return WalletReadRefusal(rendered),
            401 => "X402_INVALID_SIGN_IN",
            403 => "X402_WALLET_MISMATCH",
            500.. => "X402_UNKNOWN_ERROR",
            _ => "X402_INVALID_REQUEST",
        };
        let message = rendered.body["error"].as_str().unwrap_or(rendered.reason).to_owned();
        let body = to_value(&X402Error { error: code, message, details: None });
        WalletReadRefusal(RenderedRefusal { body, ..rendered })
    }
}

impl IntoResponse for WalletReadRefusal {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

impl IntoResponse for X402Refusal {
    fn into_response(self) -> Response {
        match self {
            X402Refusal::Standard(refusal) => refusal.into_response(),
            X402Refusal::Payment { status, code, message, details, cause } => {
                let body = to_value(&X402Error { error: code, message, details });
                RenderedRefusal { cause, ..RenderedRefusal::new(status, code, body) }
                    .into_response()
            }
            X402Refusal::Settlement { status, code, message, details, result } => {
                let body = to_value(&X402Error { error: code, message, details: Some(details) });
                let mut rendered = RenderedRefusal::new(status, code, body);
                if status == StatusCode::SERVICE_UNAVAILABLE {
                    rendered.headers.push((RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_S)));
                }
                if let Ok(result) = HeaderValue::from_str(&result) {
                    for name in ["payment-response", "x-payment-response"] {
                        let name = HeaderName::from_static(name);
                        rendered.headers.push((name, result.clone()));
                    }
                }
                rendered.into_response()
            }
        }
    }
}
