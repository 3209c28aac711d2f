//! What happens to every request whatever it asks for: ids, logs, headers, compression, CORS.
//!
//! Layers are for transport only. Who may call, how often and at what price is decided in
//! [`crate::call`], in the open.

pub mod server;

mod cors;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use domain::entropy;
use futures_util::FutureExt;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};

use crate::app::Shared;
use crate::refusal::Refusal;
use crate::version::VERSION;

/// The 32 hexadecimal digits that name a request in headers, logs and usage rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    /// The id that this request was given when it arrived.
    pub(crate) fn of(extensions: &Extensions) -> RequestId {
        extensions.get::<RequestId>().cloned().expect("every request is given an id on arrival")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Wraps the routes in everything that all of them share.
pub fn wrap(routes: Router<Shared>, app: &Shared) -> Router<Shared> {
    routes
        .layer(CompressionLayer::new().gzip(true).br(true).compress_when(is_worth_it()))
        .layer(cors::layer())
        .layer(from_fn_with_state(app.clone(), attend))
}

/// Sound is small already, and one that is streamed must not wait in a compressor.
fn is_worth_it() -> impl Predicate {
    DefaultPredicate::new().and(NotForContentType::const_new("audio/"))
}

/// Gives the request an id, runs it, and sees to the headers and the log line of its response.
async fn attend(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = RequestId(entropy::request_id(app.entropy.as_ref()));
    let method = request.method().clone();
    // The route's pattern, not the path: paths carry ids and would make a label each.
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_else(|| "unmatched".to_owned());
    request.extensions_mut().insert(id.clone());

    let outcome = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = outcome.unwrap_or_else(|panic| after_panic(panic.as_ref(), &id));
    write_headers(response.headers_mut(), &app, &id);

    let status = response.status().as_u16();
    let elapsed = started.elapsed();
    metrics::counter!(
        "http_requests_total",
        "method" => method.to_string(), "route" => route.clone(), "status" => status.to_string(),
    )
    .increment(1);
    metrics::histogram!("http_request_seconds", "route" => route.clone())
        .record(elapsed.as_secs_f64());
    tracing::info!(
        http.request_id = id.as_str(),
        http.method = %method,
        http.route = route,
        http.status = status,
        http.elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
        "{method} {route} {status}"
    );
    response
}

fn after_panic(panic: &(dyn Any + Send), id: &RequestId) -> Response {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned());
    tracing::error!(http.request_id = id.as_str(), "a handler panicked: {message}");
    Refusal::internal(format!("request {} panicked", id.as_str())).into_response()
}

fn write_headers(headers: &mut HeaderMap, app: &Shared, id: &RequestId) {
    let timestamp = app.clock.now().to_string();
    let lines = [
        ("x-service-version", VERSION),
        ("x-service-timestamp", &timestamp),
        ("x-service-host-name", &app.settings.host_name),
        ("cf-ray", id.as_str()),
        ("x-request-id", id.as_str()),
    ];
    for (name, value) in lines {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
}
