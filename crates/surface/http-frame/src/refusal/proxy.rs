//! Refusals of the JSON-RPC proxy where the standard envelope does not fit.

use std::time::Duration;

use axum::http::StatusCode;
use wire::crypto::CapError;

use crate::refusal::{Refusal, to_value};

/// A rate limit of the proxy, as its headers show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitHeaders {
    pub limit: u64,
    pub remaining: u64,
    pub resets_in: Duration,
}

impl Refusal {
    /// 429 with the message in two fields, as the specification has it. These are the only headers
    /// about the proxy's limits.
    pub fn cap_reached(message: &str, cap: LimitHeaders) -> Refusal {
        let (error, custom_message) = (message.to_owned(), message.to_owned());
        let body = to_value(&CapError { error, custom_message });
        let status = StatusCode::TOO_MANY_REQUESTS;
        let resets_in_s = cap.resets_in.as_millis().div_ceil(1000).max(1);
        Refusal::with_body(status, "Rate limit exceeded", body)
            .header("x-ratelimit-limit", &cap.limit.to_string())
            .header("x-ratelimit-remaining", &cap.remaining.to_string())
            .header("x-ratelimit-reset", &resets_in_s.to_string())
            .retry_after(cap.resets_in)
    }

    /// 500: the chain nodes took too long.
    pub fn nodes_failed(message: String) -> Refusal {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Refusal::standard(status, "The node did not answer", message, None)
    }

    /// 503: no chain node is available.
    pub fn nodes_unavailable(message: String) -> Refusal {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Refusal::standard(status, "No node available", message, None)
            .retry_after(Duration::from_secs(5))
    }
}
