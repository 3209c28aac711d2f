//! Calls one endpoint from another, inside the process.
//!
//! The inner call takes the whole path of a request: it is counted against the endpoint's own limit,
//! checked, held, settled and recorded there, and forwarded to the home of its caller. Only the
//! credential is not checked again: the outer endpoint has authenticated the caller.

use access::CredentialHolder;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE,
    HOST, ORIGIN, TRANSFER_ENCODING,
};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::response::Response;
use axum::routing::MethodRouter;
use tower::ServiceExt;
use wallet::WalletAddress;

use crate::app::SharedApp;
use crate::base_paths::BASE_PATH;
use crate::input::HostHeader;
use crate::nodes::forwarded_identity::{ForwardedIdentity, ForwardedRequest};
use crate::refusal::Refusal;

/// Headers that belong to the outer request only: its body, its credential and its answer's form.
static OUTER_ONLY: [HeaderName; 14] = [
    ACCEPT,
    ACCEPT_ENCODING,
    AUTHORIZATION,
    CONTENT_ENCODING,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    COOKIE,
    ORIGIN,
    TRANSFER_ENCODING,
    HeaderName::from_static("sign-in-with-x"),
    HeaderName::from_static("x-sign-in-with-x"),
    HeaderName::from_static("payment-signature"),
    HeaderName::from_static("x-payment"),
    HeaderName::from_static("x-402-payment"),
];

/// An endpoint as another endpoint calls it.
#[derive(Clone)]
pub struct InnerEndpoint {
    method: Method,
    /// Reads the parameters of the path, which endpoints expect.
    router: Router<SharedApp>,
}

/// The caller of an inner call, authenticated before.
#[derive(Debug, Clone, Copy)]
pub enum InnerCaller<'a> {
    Nobody,
    Holder(&'a CredentialHolder),
    /// A wallet that has just paid.
    Payer(WalletAddress),
}

/// The parts of an outer request that are passed on: headers, request id and the caller's address.
#[derive(Debug, Clone)]
pub struct OuterRequest {
    headers: HeaderMap,
    extensions: Extensions,
}

/// An inner request without its caller.
#[derive(Debug)]
pub struct InnerRequest {
    /// Path and query after the base path.
    pub path: String,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
    /// A signed payment, for the endpoint that takes payments.
    pub payment: Option<HeaderValue>,
}

impl OuterRequest {
    pub fn from_parts(parts: &Parts) -> OuterRequest {
        let mut headers = parts.headers.clone();
        for name in &OUTER_ONLY {
            headers.remove(name);
        }
        // HTTP/2 has the host in the URI, which the inner request does not keep.
        let host = HostHeader::read_host(&parts.headers, &parts.uri);
        if let Some(host) = host.and_then(|it| HeaderValue::from_str(it).ok()) {
            headers.insert(HOST, host);
        }
        OuterRequest { headers, extensions: parts.extensions.clone() }
    }

    fn build_request(
        &self,
        method: Method,
        inner: InnerRequest,
        caller: InnerCaller<'_>,
    ) -> Result<Request, Refusal> {
        let uri = Uri::try_from(format!("{BASE_PATH}{}", inner.path)).map_err(Refusal::internal)?;
        let mut request = Request::new(Body::from(inner.body));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers.clone();
        *request.extensions_mut() = self.extensions.clone();
        if let Some(content_type) = inner.content_type {
            let content_type = HeaderValue::try_from(content_type).map_err(Refusal::internal)?;
            request.headers_mut().insert(CONTENT_TYPE, content_type);
        }
        if let Some(payment) = inner.payment {
            request.headers_mut().insert(HeaderName::from_static("payment-signature"), payment);
        }
        let proved = match caller {
            InnerCaller::Nobody => None,
            InnerCaller::Holder(holder) => Some(ForwardedIdentity::from_holder(holder)),
            InnerCaller::Payer(wallet) => Some(ForwardedIdentity::Wallet(wallet)),
        };
        let outer = self.extensions.get::<ForwardedRequest>();
        let times = outer.map_or(0, |it| it.times);
        let terms = outer.map(|it| it.terms.clone()).unwrap_or_default();
        request.extensions_mut().insert(ForwardedRequest { proved, times, terms });
        Ok(request)
    }
}

impl InnerEndpoint {
    pub(crate) fn new(method: Method, path: &str, route: MethodRouter<SharedApp>) -> InnerEndpoint {
        InnerEndpoint { method, router: Router::new().route(&format!("{BASE_PATH}{path}"), route) }
    }

    pub(crate) fn method(&self) -> &Method {
        &self.method
    }

    pub(crate) async fn serve(&self, app: &SharedApp, request: Request) -> Response {
        let router = self.router.clone().with_state(SharedApp::clone(app));
        router.oneshot(request).await.unwrap_or_else(|never| match never {})
    }

    /// Runs one call of the endpoint.
    pub async fn run(
        &self,
        app: &SharedApp,
        outer: &OuterRequest,
        inner: InnerRequest,
        caller: InnerCaller<'_>,
    ) -> Result<Response, Refusal> {
        let request = outer.build_request(self.method.clone(), inner, caller)?;
        Ok(self.serve(app, request).await)
    }
}
