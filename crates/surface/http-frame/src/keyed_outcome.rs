//! The outcome of a request with an idempotency key, for all its callers.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use moment::Timestamp;
use rpc::idempotency::{ANSWERS_PER_OWNER_MAX, LIFETIME, RequestFingerprint};
use store::error::StoreError;

use crate::payment::BALANCE_REMAINING;
use crate::refusal::Refusal;
use crate::refusal::proxy::LimitHeaders;
use crate::settings::ApiSettings;

// Header names, parsed once instead of for each response.
static REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
static REMAINING: HeaderName = HeaderName::from_static(BALANCE_REMAINING);

type BuildRefusal = dyn Fn(&ApiSettings, Timestamp) -> Refusal + Send + Sync;

/// The refusal for each caller that waits. Nothing was charged.
#[derive(Clone)]
pub struct KeyedFailure(Arc<BuildRefusal>);

impl KeyedFailure {
    pub fn new(
        refuse: impl Fn(&ApiSettings, Timestamp) -> Refusal + Send + Sync + 'static,
    ) -> KeyedFailure {
        KeyedFailure(Arc::new(refuse))
    }

    pub fn into_refusal(self, settings: &ApiSettings, now: Timestamp) -> Refusal {
        (self.0)(settings, now)
    }
}

/// A response, and whether it is a replay.
#[derive(Debug, Clone)]
pub struct AnswerOrReplay {
    pub answer: Arc<KeyedAnswer>,
    /// True for a repeated response, which is not charged again.
    pub(crate) is_replay: bool,
}

#[derive(Debug, Clone)]
pub struct KeyedAnswer {
    pub body: Bytes,
    /// Headers that are stored with the response and replayed.
    pub headers: HeaderMap,
    /// Known only if the response was charged just now.
    pub balance_remaining: Option<String>,
}

impl AnswerOrReplay {
    /// Always JSON, whatever content type the upstream sent.
    pub fn into_response(self) -> Response {
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
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// The outcome of a request in progress, for all its callers.
#[derive(Clone)]
pub(crate) struct KeyedOutcome {
    pub(crate) fingerprint: RequestFingerprint,
    pub(crate) outcome: Result<AnswerOrReplay, KeyedError>,
}

#[derive(Clone)]
pub(crate) enum KeyedError {
    /// The key was used for another request.
    Clash,
    /// The owner has the maximum number of stored responses.
    Full,
    Unreadable(StoreError),
    Failed(KeyedFailure),
}

impl KeyedError {
    pub(crate) fn into_refusal(self, settings: &ApiSettings, now: Timestamp) -> Refusal {
        match self {
            KeyedError::Clash => Refusal::bad_request(
                "Idempotency-Key reused",
                "This Idempotency-Key was used for another request within the last 24 hours. Use a \
                 new key, or send the same body to the same path.",
            ),
            KeyedError::Full => {
                let limit = ANSWERS_PER_OWNER_MAX;
                let message = format!(
                    "Idempotency limit exceeded: {limit} answers, or 1 GiB of them, are kept per 24 \
                     hours. Leave out the Idempotency-Key, or wait."
                );
                Refusal::cap_reached(
                    &message,
                    LimitHeaders { limit, remaining: 0, resets_in: LIFETIME },
                )
            }
            KeyedError::Unreadable(error) => Refusal::unavailable(error),
            KeyedError::Failed(failed) => failed.into_refusal(settings, now),
        }
    }
}
