//! Sends requests to other nodes, and admits requests from them.

pub(crate) mod forwarded_identity;
pub(crate) mod resendable_body;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use access::CredentialHolder;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HOST, HeaderName, ORIGIN, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, Collected, Limited};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use lanes::PerLane;
use subtle::ConstantTimeEq;
use tokio::time::timeout;

use crate::call_terms::CallTerms;
use crate::nodes::forwarded_identity::{ForwardedIdentity, ForwardedRequest};
use crate::nodes::resendable_body::BodyAttempt;
use crate::origin::CallerOrigin;
use crate::request_id::RequestId;
use crate::transport::graceful_close::LINGER;

static NODE_SECRET: HeaderName = HeaderName::from_static("x-tollgate-node");
static NODE_ORIGIN: HeaderName = HeaderName::from_static("x-tollgate-origin");
static NODE_HOLDER: HeaderName = HeaderName::from_static("x-tollgate-holder");
static NODE_REQUEST: HeaderName = HeaderName::from_static("x-tollgate-request");
static NODE_TIMES: HeaderName = HeaderName::from_static("x-tollgate-sent-on");

/// Headers about the connection, not forwarded.
static HOP_BY_HOP: [HeaderName; 5] = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
/// Headers handled by the node that received the request: CORS and compression.
static AT_THE_DOOR: [HeaderName; 2] = [ORIGIN, ACCEPT_ENCODING];

/// A node in the same data centre accepts at once or not at all. Shorter than the kernel's SYN
/// retry: a stopping node does not answer, and nothing was sent.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// Time that an idle connection may be reused. A stopping node serves its connections for longer
/// than that and announces the close on those in use, so no request is sent into a connection that
/// is being closed.
const REUSED_WITHIN: Duration = Duration::from_millis(500);
const _: () = assert!(2 * REUSED_WITHIN.as_millis() <= LINGER.as_millis());
/// As long as an operation on a chain may take.
const ORDER_TIMEOUT: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// HTTP clients to the other nodes.
pub struct NodeClients {
    /// A connection is used only by the lane that opened it, like those to engines.
    clients: PerLane<Client<HttpConnector, Body>>,
    secret: HeaderValue,
}

/// The reason why a node has not answered.
#[derive(Debug)]
pub enum ForwardError {
    /// No connection was made, and nothing was sent.
    Unreached(String),
    /// The request was sent, and its outcome is unknown.
    Lost(String),
}

impl NodeClients {
    /// `secret` is shared by all nodes of the cluster. None if it is not a valid header value.
    pub fn new(secret: &str) -> Option<NodeClients> {
        let mut secret = HeaderValue::from_str(secret).ok()?;
        secret.set_sensitive(true);
        Some(NodeClients { clients: PerLane::new(build_client), secret })
    }

    /// The router for other nodes: requires the cluster secret and trusts the forwarded identity.
    pub fn guard_router(self: &Arc<NodeClients>, routes: Router) -> Router {
        let nodes = Arc::clone(self);
        routes.layer(from_fn(move |request, next| {
            let nodes = Arc::clone(&nodes);
            async move { nodes.admit_node_request(request, next).await }
        }))
    }

    async fn admit_node_request(&self, mut request: Request, next: Next) -> Response {
        let shown = request.headers_mut().remove(&NODE_SECRET);
        let is_node = shown.is_some_and(|it| it.as_bytes().ct_eq(self.secret.as_bytes()).into());
        if !is_node {
            return StatusCode::NOT_FOUND.into_response();
        }
        let origin = match take_header(request.headers_mut(), &NODE_ORIGIN) {
            Some(text) => match CallerOrigin::parse(&text) {
                Some(origin) => Some(origin),
                None => return StatusCode::BAD_REQUEST.into_response(),
            },
            // An order between nodes has no caller.
            None => None,
        };
        let proved = take_header(request.headers_mut(), &NODE_HOLDER)
            .and_then(|it| ForwardedIdentity::parse(&it));
        if let Some(id) = take_header(request.headers_mut(), &NODE_REQUEST) {
            request.extensions_mut().insert(RequestId::new(id));
        }
        if let Some(origin) = origin {
            request.extensions_mut().insert(origin);
        }
        let times = take_header(request.headers_mut(), &NODE_TIMES).and_then(|it| it.parse().ok());
        request.extensions_mut().insert(ForwardedRequest {
            proved,
            times: times.unwrap_or(u8::MAX),
            terms: CallTerms::default(),
        });
        next.run(request).await
    }

    /// Sends another node an order that is not a caller's request. Returns the response's body.
    pub async fn send_order(
        &self,
        node: &str,
        path: &str,
        order: Vec<u8>,
    ) -> Result<Bytes, ForwardError> {
        let request = Request::post(format!("{node}{path}"))
            .header(&NODE_SECRET, &self.secret)
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(order))
            .map_err(|error| ForwardError::Unreached(error.to_string()))?;
        let told = async {
            let answer = self.clients.get().request(request).await.map_err(to_forward_error)?;
            let status = answer.status();
            if status.is_client_error() {
                return Err(ForwardError::Unreached(format!("it answers {status}")));
            }
            if !status.is_success() {
                return Err(ForwardError::Lost(format!("it answers {status}")));
            }
            let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
            body.map(Collected::to_bytes).map_err(|error| ForwardError::Lost(error.to_string()))
        };
        let lost = || Err(ForwardError::Lost("it does not answer".to_owned()));
        timeout(ORDER_TIMEOUT, told).await.unwrap_or_else(|_| lost())
    }

    /// Forwards a caller's request unchanged.
    pub async fn send(
        &self,
        node: &str,
        parts: &Parts,
        origin: CallerOrigin,
        holder: Option<&CredentialHolder>,
        body: BodyAttempt,
    ) -> Result<Response, ForwardError> {
        let request = self.build_request(node, parts, origin, holder, Body::new(body));
        let request =
            request.ok_or_else(|| ForwardError::Lost("it cannot be sent there".to_owned()))?;
        let answer = self.clients.get().request(request).await.map_err(to_forward_error)?;
        let mut response = answer.map(Body::new);
        for name in HOP_BY_HOP.iter().chain([&VARY]) {
            response.headers_mut().remove(name);
        }
        Ok(response)
    }

    fn build_request(
        &self,
        node: &str,
        parts: &Parts,
        origin: CallerOrigin,
        holder: Option<&CredentialHolder>,
        body: Body,
    ) -> Option<Request> {
        let path = parts.uri.path_and_query().map_or("/", |it| it.as_str());
        let uri: Uri = format!("{node}{path}").parse().ok()?;
        let mut request = Request::new(body);
        *request.method_mut() = parts.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = parts.headers.clone();
        let headers = request.headers_mut();
        for name in HOP_BY_HOP.iter().chain(&AT_THE_DOOR).chain([&NODE_HOLDER]) {
            headers.remove(name);
        }
        // HTTP/2 has the host in the URI; the other node is called over HTTP/1.1.
        if let (false, Some(host)) = (headers.contains_key(HOST), parts.uri.authority()) {
            headers.insert(HOST, HeaderValue::from_str(host.as_str()).ok()?);
        }
        let id = RequestId::from_extensions(&parts.extensions);
        headers.insert(NODE_REQUEST.clone(), HeaderValue::from_str(id.as_str()).ok()?);
        let times =
            parts.extensions.get::<ForwardedRequest>().map_or(0, |it| it.times).saturating_add(1);
        headers.insert(NODE_TIMES.clone(), HeaderValue::from(u16::from(times)));
        headers.insert(NODE_SECRET.clone(), self.secret.clone());
        headers.insert(NODE_ORIGIN.clone(), HeaderValue::from_str(&origin.to_text()).ok()?);
        if let Some(holder) = holder {
            let proved =
                HeaderValue::from_str(&ForwardedIdentity::from_holder(holder).to_text()).ok()?;
            headers.insert(NODE_HOLDER.clone(), proved);
        }
        Some(request)
    }
}

fn to_forward_error(error: ClientError) -> ForwardError {
    let (is_unreached, cause) = (error.is_connect(), error.to_string());
    if is_unreached { ForwardError::Unreached(cause) } else { ForwardError::Lost(cause) }
}

fn build_client() -> Client<HttpConnector, Body> {
    let mut connector = HttpConnector::new();
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(REUSED_WITHIN)
        .build(connector)
}

fn take_header(headers: &mut HeaderMap, name: &HeaderName) -> Option<String> {
    headers.remove(name)?.to_str().ok().map(str::to_owned)
}
