//! All error responses of the standard envelope.
//!
//! Only this module and its submodules pair a cause with a status and a message. The message tells
//! the caller what to do; the cause of an internal failure goes to the log and never to the caller.

pub(crate) mod agent;
pub mod anthropic_error;
pub mod audio;
pub mod content;
pub(crate) mod context_excess;
pub mod image;
pub mod inference;
pub mod key;
pub mod mcp;
pub mod model;
pub(crate) mod openai_error;
pub mod proxy;
pub mod render;
mod tee;
mod wallet;
pub mod x402;

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use schema_check::ValidationFaults;
use serde_json::Value;
use wire::errors::{PayloadTooLarge, SpendLimitError, StandardError};
use wire::x402::PaymentDiscovery;

use crate::refusal::render::{BoxError, InsufficientFunds, RefusalDetail, RenderedRefusal};

/// An error in the standard envelope or a variant: validation, spend limit, payload too large.
#[derive(Debug)]
pub struct Refusal(Box<RenderedRefusal>);

impl Refusal {
    /// A copy, for another request that waits for the same work.
    pub(crate) fn duplicate(&self) -> Refusal {
        Refusal(Box::new(self.0.duplicate()))
    }

    /// 400 with every fault of the request, each with its path.
    pub fn invalid_request(faults: &ValidationFaults) -> Refusal {
        let body = serde_json::json!({
            "error": "Invalid request parameters",
            "details": faults.details(),
            "issues": faults.issues(),
        });
        Refusal::with_body(StatusCode::BAD_REQUEST, "Invalid request parameters", body)
    }

    /// 400 with a message, if no single field is at fault.
    pub fn bad_request(reason: &'static str, message: impl Into<String>) -> Refusal {
        Refusal::standard(StatusCode::BAD_REQUEST, reason, message, None)
    }

    pub fn not_json() -> Refusal {
        Refusal::bad_request("Invalid JSON request", "Invalid JSON request")
    }

    pub(crate) fn bad_host() -> Refusal {
        Refusal::bad_request("Bad host", "Send exactly one Host header.")
            .header("connection", "close")
    }

    pub fn unauthenticated(message: impl Into<String>) -> Refusal {
        let refusal =
            Refusal::standard(StatusCode::UNAUTHORIZED, "Authentication failed", message, None);
        refusal.header("www-authenticate", "Bearer")
    }

    pub fn insufficient_balance(message: impl Into<String>) -> Refusal {
        let (message, code) = (message.into(), Some("INSUFFICIENT_BALANCE"));
        let shortfall = Some(InsufficientFunds(message.clone()));
        let status = StatusCode::PAYMENT_REQUIRED;
        let refusal = Refusal::standard(status, "Insufficient balance", message, code);
        Refusal(Box::new(RenderedRefusal { shortfall, ..*refusal.0 }))
    }

    /// 402 for a caller without a credential: how to get one, or how to pay without one.
    pub fn price_discovery(body: &PaymentDiscovery, header: &str) -> Refusal {
        Refusal::payment_required(to_value(body), header)
    }

    /// 402 for a caller that asks for prices. Does not count as a failure.
    fn payment_required(body: Value, header: &str) -> Refusal {
        let refusal = Refusal::with_body(StatusCode::PAYMENT_REQUIRED, "Payment required", body);
        Refusal(Box::new(RenderedRefusal { is_discovery: true, ..*refusal.0 }))
            .header("payment-required", header)
    }

    pub fn spend_limit(error: &SpendLimitError) -> Refusal {
        let reason = "API key spend limit exceeded";
        Refusal::with_body(StatusCode::PAYMENT_REQUIRED, reason, to_value(error))
    }

    pub fn not_found(reason: &'static str, message: impl Into<String>) -> Refusal {
        Refusal::standard(StatusCode::NOT_FOUND, reason, message, None)
    }

    pub fn method_not_allowed() -> Refusal {
        let message = "This path does not support that method. See /api/v1/openapi.json.";
        Refusal::standard(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed", message, None)
    }

    pub fn gone(message: impl Into<String>) -> Refusal {
        Refusal::standard(StatusCode::GONE, "Gone", message, None)
    }

    /// 409: the state of the object does not allow this.
    pub fn conflict(reason: &'static str, message: impl Into<String>) -> Refusal {
        Refusal::standard(StatusCode::CONFLICT, reason, message, None)
    }

    /// 403: not allowed for this caller, although its credential is valid.
    pub fn forbidden(message: impl Into<String>) -> Refusal {
        Refusal::standard(StatusCode::FORBIDDEN, "Unauthorized access", message, None)
    }

    /// 403: the key's `modelPrivacy` does not allow the model.
    pub fn not_private(message: impl Into<String>) -> Refusal {
        let code = Some("MODEL_PRIVACY_RESTRICTED");
        Refusal::standard(StatusCode::FORBIDDEN, "Model not private", message, code)
    }

    /// 401: the operator has frozen the account. Its balance is kept.
    pub fn frozen() -> Refusal {
        Refusal::unauthenticated(
            "Authentication failed. This account is frozen; ask the operator of this service.",
        )
    }

    /// 408: the caller stopped sending in the middle of its body.
    pub fn too_slow() -> Refusal {
        let message = "The request body did not arrive in time. Send it again without pauses.";
        Refusal::standard(StatusCode::REQUEST_TIMEOUT, "Request timeout", message, None)
            .header("connection", "close")
    }

    pub fn body_too_large() -> Refusal {
        Refusal::body_larger_than("Request body exceeds the maximum allowed size.")
    }

    /// 413 with a message of the endpoint's own.
    pub fn body_larger_than(message: &str) -> Refusal {
        Refusal::standard(StatusCode::PAYLOAD_TOO_LARGE, "Payload too large", message, None)
            .header("connection", "close")
    }

    /// 413: the parsed body would take far more memory than its text.
    pub(crate) fn too_many_values() -> Refusal {
        let message = "The request body has more than 500,000 JSON values.";
        Refusal::standard(StatusCode::PAYLOAD_TOO_LARGE, "Payload too large", message, None)
            .header("connection", "close")
    }

    /// 503: the memory for bodies, or the caller's share of it, is used up.
    pub(crate) fn no_room() -> Refusal {
        let message = "The memory for request bodies is in use. Please try again shortly.";
        Refusal::busy(message).header("connection", "close")
    }

    pub fn file_too_large() -> Refusal {
        let error = "File exceeds the maximum allowed size of 25 MB.".to_owned();
        let body = to_value(&PayloadTooLarge { code: "PAYLOAD_TOO_LARGE", error });
        Refusal::with_body(StatusCode::PAYLOAD_TOO_LARGE, "Payload too large", body)
            .header("connection", "close")
    }

    pub fn wrong_content_type(message: impl Into<String>) -> Refusal {
        let reason = "Invalid request content-type";
        Refusal::standard(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason, message, None)
    }

    pub fn rate_limited(message: impl Into<String>, retry_after: Duration) -> Refusal {
        let status = StatusCode::TOO_MANY_REQUESTS;
        Refusal::standard(status, "Rate limit exceeded", message, None).retry_after(retry_after)
    }

    /// 503: a dependency is unavailable.
    pub fn unavailable(cause: impl Into<BoxError>) -> Refusal {
        let message = "The service is temporarily unavailable. Please try again shortly.";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let refusal = Refusal::standard(status, "Service unavailable", message, None);
        refusal.retry_after(Duration::from_secs(5)).caused_by(cause)
    }

    /// 503: too many requests of this kind are in progress.
    pub fn busy(message: impl Into<String>) -> Refusal {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let refusal = Refusal::standard(status, "Service busy", message, Some("SERVICE_BUSY"));
        let mut refusal = refusal.retry_after(Duration::from_secs(2));
        refusal.0.is_busy = true;
        refusal
    }

    /// 502: a web page could not be downloaded.
    pub fn page_failed(message: impl Into<String>) -> Refusal {
        Refusal::standard(StatusCode::BAD_GATEWAY, "The page cannot be reached", message, None)
    }

    /// 502: an MCP server of the operator could not be reached or returned an error.
    pub fn mcp_server_failed(message: impl Into<String>) -> Refusal {
        Refusal::standard(StatusCode::BAD_GATEWAY, "The MCP server failed", message, None)
    }

    /// 502: the request was forwarded to its home node, and no response came back. It may have been
    /// processed and charged, so 503 would be wrong.
    pub(crate) fn answer_lost() -> Refusal {
        let message = "The response was lost between two nodes of this service. The request may \
                       have been processed and charged: check your usage before you send it again.";
        Refusal::standard(StatusCode::BAD_GATEWAY, "The response was lost", message, None)
    }

    /// 503: the model is in the catalogue but cannot be used at present.
    pub fn model_offline(message: impl Into<String>) -> Refusal {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Refusal::standard(status, "The model is temporarily offline", message, None)
            .retry_after(Duration::from_secs(30))
    }

    /// 503: the model is still being prepared; the response says when to retry.
    pub fn model_not_ready(message: impl Into<String>, retry_after: Duration) -> Refusal {
        let (status, code) = (StatusCode::SERVICE_UNAVAILABLE, Some("MODEL_NOT_READY"));
        Refusal::standard(status, "The model is not ready yet", message, code)
            .retry_after(retry_after)
    }

    /// 500: a bug in this service.
    pub fn internal(cause: impl Into<BoxError>) -> Refusal {
        let message = "An unknown error occurred";
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Refusal::standard(status, "Unknown error", message, None).caused_by(cause)
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Refusal {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    pub(crate) fn with_detail(mut self, detail: Option<RefusalDetail>) -> Refusal {
        self.0.detail = detail.or(self.0.detail);
        self
    }

    pub(crate) fn into_rendered(self) -> RenderedRefusal {
        *self.0
    }

    /// SDKs read `retry-after-ms`, then `Retry-After` in whole seconds. Both are at least 1,
    /// because some clients read zero as "now".
    fn retry_after(self, wait: Duration) -> Refusal {
        let ms = wait.as_millis().max(1);
        let seconds = ms.div_ceil(1000);
        self.header("retry-after", &seconds.to_string()).header("retry-after-ms", &ms.to_string())
    }

    fn caused_by(mut self, cause: impl Into<BoxError>) -> Refusal {
        self.0.cause = Some(cause.into());
        self
    }

    fn standard(
        status: StatusCode,
        reason: &'static str,
        message: impl Into<String>,
        code: Option<&'static str>,
    ) -> Refusal {
        let body = to_value(&StandardError { error: message.into(), code });
        Refusal::with_body(status, reason, body)
    }

    fn with_body(status: StatusCode, reason: &'static str, body: Value) -> Refusal {
        Refusal(Box::new(RenderedRefusal::new(status, reason, body)))
    }
}

fn to_value<T: serde::Serialize>(body: &T) -> Value {
    serde_json::to_value(body).expect("refusal bodies are plain data")
}

#[cfg(test)]
mod tests;
