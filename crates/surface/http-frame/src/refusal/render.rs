//! Turns a refusal of any envelope into a response.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::ext::ReasonPhrase;
use serde_json::Value;

use crate::refusal::Refusal;
use crate::refusal::context_excess::ContextExcess;

pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A refusal in any envelope, ready to be sent.
#[derive(Debug)]
pub struct RenderedRefusal {
    pub status: StatusCode,
    /// The reason phrase of HTTP/1.1, for clients that show nothing else.
    pub reason: &'static str,
    pub body: Value,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub cause: Option<BoxError>,
    /// Set for price requests (402), which are not failures of the caller.
    pub(crate) is_discovery: bool,
    /// Set if the service is too busy, which does not use up a request of the caller.
    pub(crate) is_busy: bool,
    /// Set if the caller has too little money. A wallet also gets the ways to top up.
    pub(crate) shortfall: Option<InsufficientFunds>,
    /// Facts for envelopes that state them in their own words.
    pub detail: Option<RefusalDetail>,
}

/// A fact about a refusal that the standard envelope does not have a field for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalDetail {
    /// The prompt does not fit into the model's context.
    ContextExcess(ContextExcess),
    /// The upstream reported that its whole service is overloaded (529), not only our account.
    ServiceOverloaded,
}

/// Marks a response to a caller that has too little money. Holds the message.
#[derive(Debug, Clone)]
pub(crate) struct InsufficientFunds(pub(crate) String);

/// The message of a refusal, for the console's list of errors.
#[derive(Debug, Clone)]
pub(crate) struct RefusalMessage(pub(crate) String);

/// The refusal's JSON body, for paths that write it in another shape.
#[derive(Debug, Clone)]
pub(crate) struct RefusalBody(pub(crate) Arc<Value>);

/// Marks a response that does not count as the caller's failure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PriceDiscovery;

/// Marks a response that the service was too busy to give.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServiceBusy;

impl RenderedRefusal {
    pub fn new(status: StatusCode, reason: &'static str, body: Value) -> RenderedRefusal {
        RenderedRefusal {
            status,
            reason,
            body,
            headers: Vec::new(),
            cause: None,
            is_discovery: false,
            is_busy: false,
            shortfall: None,
            detail: None,
        }
    }

    pub(crate) fn duplicate(&self) -> RenderedRefusal {
        RenderedRefusal {
            status: self.status,
            reason: self.reason,
            body: self.body.clone(),
            headers: self.headers.clone(),
            cause: self.cause.as_ref().map(|cause| cause.to_string().into()),
            is_discovery: self.is_discovery,
            is_busy: self.is_busy,
            shortfall: self.shortfall.clone(),
            detail: self.detail,
        }
    }
}

impl IntoResponse for RenderedRefusal {
    fn into_response(self) -> Response {
        if let Some(cause) = &self.cause {
            tracing::error!(http.status = self.status.as_u16(), error = %cause, "{cause}");
        }
        let words = read_message(&self.body).unwrap_or(self.reason).to_owned();
        let mut response = Response::new(Body::from(self.body.to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(self.headers);
        // The AI SDK shows only this phrase. HTTP/2 has no reason phrase and drops it.
        response.extensions_mut().insert(ReasonPhrase::from_static(self.reason.as_bytes()));
        response.extensions_mut().insert(RefusalMessage(words));
        response.extensions_mut().insert(RefusalBody(Arc::new(self.body)));
        if let Some(detail) = self.detail {
            response.extensions_mut().insert(detail);
        }
        if self.is_discovery {
            response.extensions_mut().insert(PriceDiscovery);
        }
        if self.is_busy {
            response.extensions_mut().insert(ServiceBusy);
        }
        if let Some(shortfall) = self.shortfall {
            response.extensions_mut().insert(shortfall);
        }
        response
    }
}

/// The message of any envelope.
pub(super) fn read_message(body: &Value) -> Option<&str> {
    let error = &body["error"];
    body["message"].as_str().or_else(|| error.as_str()).or_else(|| error["message"].as_str())
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        self.into_rendered().into_response()
    }
}
