//! A node's answer on its way to the caller.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use schemars::SchemaGenerator;
use wire::crypto::{CapError, RpcAnswers};

use crate::operation::Operation;
use crate::payment::BALANCE_REMAINING;
use crate::refusal::Refusal;
use crate::reply::Reply;

const REPLAYED: &str = "idempotent-replayed";

/// An answer and what is told about it in headers.
#[derive(Debug, Clone)]
pub(crate) struct Relayed {
    pub(super) answer: Arc<Answered>,
    /// Given before, and not charged for again.
    pub(super) is_replay: bool,
}

#[derive(Debug)]
pub(crate) struct Answered {
    pub(super) body: Bytes,
    /// Those that belong to the answer whenever it is given.
    pub(super) headers: Vec<(String, String)>,
    /// Known only when the answer was charged for just now.
    pub(super) balance_remaining: Option<String>,
}

impl Reply for Relayed {
    fn into_response(self) -> Result<Response, Refusal> {
        let mut response = Response::new(Body::from(self.answer.body.clone()));
        let headers = response.headers_mut();
        let mut put = |name: &str, value: &str| {
            let name = HeaderName::try_from(name);
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
                headers.insert(name, value);
            }
        };
        for (name, value) in &self.answer.headers {
            put(name, value);
        }
        match &self.answer.balance_remaining {
            _ if self.is_replay => put(REPLAYED, "true"),
            Some(remaining) => put(BALANCE_REMAINING, remaining),
            None => {}
        }
        // Whatever the node called it.
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(response)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.reply::<RpcAnswers>(generator);
        let meaning = "A cap is reached; X-RateLimit-Limit, -Remaining and -Reset (in seconds from \
                       now) tell of it";
        operation.refusal::<CapError>(429, meaning, generator);
    }
}
