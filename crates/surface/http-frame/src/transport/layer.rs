//! Handles one request: assigns its id, writes common headers, logs and counts it.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::http::header::{ACCEPT_ENCODING, ORIGIN, VARY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use domain::entropy::{self, EntropySource};
use futures_util::future::{BoxFuture, Either};
use futures_util::{FutureExt, TryFutureExt};
use logging::request::with_request_id;
use moment::Clock;
use tokio_util::task::TaskTracker;
use tower::util::MapResponse;
use tower::{Layer, Service};

use super::TransportContext;
use super::cors_and_compression::CorsAndCompression;
use super::request_metrics::RequestMetrics;
use super::unread_body::UnreadBody;
use crate::refusal::Refusal;
use crate::refusal::openai_error::ResponseShape;
use crate::request_id::RequestId;
use crate::version::VERSION;

// Header names, parsed once instead of for each response.
static SERVICE_VERSION: HeaderName = HeaderName::from_static("x-service-version");
static SERVICE_TIMESTAMP: HeaderName = HeaderName::from_static("x-service-timestamp");
static SERVICE_HOST_NAME: HeaderName = HeaderName::from_static("x-service-host-name");
static CF_RAY: HeaderName = HeaderName::from_static("cf-ray");
static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Label in the log and the metrics for requests that match no route.
const UNMATCHED: &str = "unmatched";

/// One layer for everything that all routes share: each layer of a router costs an allocation, and
/// each request clones them all.
#[derive(Clone)]
pub(super) struct TransportLayer {
    shared: Arc<TransportState>,
}

struct TransportState {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn EntropySource>,
    tasks: TaskTracker,
    dress: CorsAndCompression,
    tally: RequestMetrics,
    host_name: Option<HeaderValue>,
}

#[derive(Clone)]
pub(super) struct TransportService<S> {
    shared: Arc<TransportState>,
    inner: S,
}

impl TransportLayer {
    pub(super) fn new(context: TransportContext<'_>) -> TransportLayer {
        let TransportContext { host_name, clock, entropy, tasks } = context;
        let host_name = Some(host_name).filter(|name| !name.is_empty());
        let host_name = host_name.and_then(|name| HeaderValue::from_str(name).ok());
        let (dress, tally) = (CorsAndCompression::new(), RequestMetrics::new());
        let shared = TransportState { clock, entropy, tasks, dress, tally, host_name };
        TransportLayer { shared: Arc::new(shared) }
    }
}

impl<S> Layer<S> for TransportLayer {
    type Service = TransportService<S>;

    fn layer(&self, inner: S) -> TransportService<S> {
        TransportService { shared: Arc::clone(&self.shared), inner }
    }
}

impl<S> Service<Request> for TransportService<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let started = Instant::now();
        let (mut request, unread) = UnreadBody::wrap_request(request);
        let shared = Arc::clone(&self.shared);
        // A request that another node forwarded keeps its id.
        let id = request.extensions().get::<RequestId>().cloned();
        let id = id.unwrap_or_else(|| RequestId::new(entropy::request_id(shared.entropy.as_ref())));
        let method = request.method().clone();
        // The route's pattern, not the path: each path with an id would become a metrics label.
        let route = request.extensions().get::<MatchedPath>().cloned();
        request.extensions_mut().insert(id.clone());
        let headers = request.headers();
        let path = request.uri().path();
        let shape = ResponseShape::for_request(path, headers, &id, || shared.clock.now());
        let write = {
            let shape = shape.clone();
            move |response| shape.apply(response)
        };
        let is_plain = !headers.contains_key(ORIGIN) && !headers.contains_key(ACCEPT_ENCODING);
        let work = if is_plain {
            Either::Left(self.inner.call(request).map_ok(write))
        } else {
            let inner = MapResponse::new(self.inner.clone(), write);
            Either::Right(shared.dress.call_service(inner, request))
        };
        Box::pin(async move {
            let work =
                with_request_id(id.as_str().to_owned(), AssertUnwindSafe(work).catch_unwind());
            let mut response = match work.await {
                Ok(Ok(response)) => response,
                Err(panic) => shape.apply(after_panic(panic.as_ref(), &id)),
            };
            if let Some(unread) = unread {
                unread.drain_rest(&mut response, &shared.tasks).await;
            }
            shared.write_headers(response.headers_mut(), &id, is_plain);
            let route = route.as_ref().map_or(UNMATCHED, MatchedPath::as_str);
            let (status, elapsed) = (response.status().as_u16(), started.elapsed());
            shared.tally.count(&method, route, status, elapsed);
            log_request(&id, &method, route, status, elapsed);
            Ok(response)
        })
    }
}

impl TransportState {
    fn write_headers(&self, headers: &mut HeaderMap, id: &RequestId, is_plain: bool) {
        headers.insert(&SERVICE_VERSION, HeaderValue::from_static(VERSION));
        if let Ok(now) = HeaderValue::try_from(self.clock.now().to_string()) {
            headers.insert(&SERVICE_TIMESTAMP, now);
        }
        if let Some(name) = &self.host_name {
            headers.insert(&SERVICE_HOST_NAME, name.clone());
        }
        if let Ok(id) = HeaderValue::from_str(id.as_str()) {
            headers.insert(&CF_RAY, id.clone());
            headers.insert(&X_REQUEST_ID, id);
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if is_plain {
            // A cache must not give this response to a browser page, which needs the CORS headers.
            headers.append(VARY, HeaderValue::from_static("origin, accept-encoding"));
        }
    }
}

fn log_request(id: &RequestId, method: &Method, route: &str, status: u16, elapsed: Duration) {
    tracing::info!(
        http.request_id = id.as_str(),
        http.method = method.as_str(),
        http.route = route,
        http.status = status,
        http.elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
        "{method} {route} {status}"
    );
}

fn after_panic(panic: &(dyn Any + Send), id: &RequestId) -> Response {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    tracing::error!(http.request_id = id.as_str(), "a handler panicked: {message}");
    Refusal::internal(format!("request {} panicked", id.as_str())).into_response()
}
