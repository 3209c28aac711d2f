//! A node's answer on its way to the caller.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use schemars::SchemaGenerator;
use wire::crypto::{CapError, RpcAnswers};

use crate::operation::Operation;
use crate::payment::BALANCE_REMAINING;
use crate::refusal::Refusal;
use crate::reply::Reply;

// Names that are checked once and not for every answer.
static REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
static REMAINING: HeaderName = HeaderName::from_static(BALANCE_REMAINING);

/// An answer and what is told about it in headers.
#[derive(Debug, Clone)]
pub(crate) struct Relayed {
    pub(super) answer: Arc<Answered>,
    /// Given before, and not charged for again.
    pub(super) is_replay: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(super) body: Bytes,
    /// Those that belong to the answer whenever it is given.
    pub(super) headers: HeaderMap,
    /// Known only when the answer was charged for just now.
    pub(super) balance_remaining: Option<String>,
}

impl Reply for Relayed {
    fn into_response(self) -> Result<Response, Refusal> {
        let answer = Arc::unwrap_or_clone(self.answer);
        let mut response = Response::new(Body::from(answer.body));
        *response.headers_mut() = answer.headers;
        let headers = response.headers_mut();
        let remaining = answer.balance_remaining.map(HeaderValue::try_from);
        match remaining {
            _ if self.is_replay => {
                headers.insert(&REPLAYED, HeaderValue::from_static("true"));
            }
            Some(Ok(remaining)) => {
                headers.insert(&REMAINING, remaining);
            }
            _ => {}
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
