//! Fetches URLs that callers named; all such fetches go through this module.
//!
//! Every URL is parsed once and checked. A name is resolved, all its addresses are checked, and the
//! connection goes to one of these addresses, so that the name cannot resolve differently in
//! between. The same applies to every redirect. Requests contain no cookies and no credentials, and
//! use no proxy.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::web_address::{AddressScope, WebAddress};
use futures_util::future::BoxFuture;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST,
    LOCATION, USER_AGENT,
};
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use sandbox::CallerId;
use tokio::time::timeout;

use crate::body::{self, ExcessPolicy};
use crate::caller_permits::{CallerPermits, PermitLimits};
use crate::connect::{AddressOverride, ByteStream, connect_host};
use crate::fault::FetchFault;
use crate::fetch_stream::FetchStream;
use crate::resolver::NameResolver;

/// Each fetch can hold `bytes_max` of memory for as long as the remote host is slow.
const TURN_LIMITS: PermitLimits =
    PermitLimits { all_max: 64, each_max: 8, wait_max: Duration::from_secs(5) };
/// Limits of a response's headers.
const HEADERS_MAX: usize = 100;
const HEAD_BYTES_MAX: usize = 64 * 1024;

type FetchConnection = http1::Connection<TokioIo<Box<dyn ByteStream>>, Full<Bytes>>;

/// A request and its limits.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    pub method: FetchMethod,
    /// The `Accept` header.
    pub accept: String,
    /// Maximum size of the body, compressed and decompressed.
    pub bytes_max: usize,
    pub(crate) excess: ExcessPolicy,
    pub redirects_max: usize,
    /// Time limit for the whole fetch with redirects.
    pub time_max: Duration,
    /// Further headers, such as those of a page.
    pub headers: HeaderMap,
    /// The caller whose quotas of concurrent fetches and lookups apply.
    pub caller: CallerId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchMethod {
    Get,
    /// With a body. Never repeated after a redirect.
    Post(Bytes),
    /// A CORS preflight of a page.
    Options,
}

impl FetchRequest {
    /// A GET request for a media type.
    pub fn get(
        caller: CallerId,
        accept: &str,
        bytes_max: usize,
        time_max: Duration,
    ) -> FetchRequest {
        FetchRequest {
            method: FetchMethod::Get,
            accept: accept.to_owned(),
            bytes_max,
            excess: ExcessPolicy::Refuse,
            redirects_max: 5,
            time_max,
            headers: HeaderMap::new(),
            caller,
        }
    }

    /// A POST request of JSON that follows no redirect, for [`WebFetcher::open_stream`].
    pub fn post_json(
        caller: CallerId,
        accept: &str,
        body: Bytes,
        time_max: Duration,
    ) -> FetchRequest {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let method = FetchMethod::Post(body);
        let plain = FetchRequest::get(caller, accept, 0, time_max).without_redirects();
        FetchRequest { method, headers, ..plain }
    }

    /// Replaces the further headers.
    #[must_use]
    pub fn with_headers(self, headers: HeaderMap) -> FetchRequest {
        FetchRequest { headers, ..self }
    }

    /// Keeps the first `bytes_max` bytes of a longer body instead of failing.
    #[must_use]
    pub(crate) fn cut_at_limit(self) -> FetchRequest {
        FetchRequest { excess: ExcessPolicy::Cut, ..self }
    }

    /// Follows no redirects: a redirect is returned like any response.
    #[must_use]
    pub fn without_redirects(self) -> FetchRequest {
        FetchRequest { redirects_max: 0, ..self }
    }
}

/// A response, after redirects.
#[derive(Debug, Clone)]
pub struct FetchResponse {
    pub address: WebAddress,
    pub status: u16,
    pub headers: HeaderMap,
    /// Decompressed.
    pub body: Bytes,
}

impl FetchResponse {
    /// The media type without parameters, in lower case; empty if there is none.
    pub fn media_type(&self) -> String {
        let told = self.headers.get(http::header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let essence = told.unwrap_or_default().split(';').next().unwrap_or_default();
        essence.trim().to_ascii_lowercase()
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

pub struct WebFetcher {
    names: Arc<dyn NameResolver>,
    reach: AddressScope,
    tls: Arc<ClientConfig>,
    /// The `User-Agent` header.
    agent: HeaderValue,
    turns: CallerPermits,
    stand_in: Option<AddressOverride>,
}

impl WebFetcher {
    pub fn new(
        names: Arc<dyn NameResolver>,
        reach: AddressScope,
        tls: Arc<ClientConfig>,
        agent: HeaderValue,
    ) -> WebFetcher {
        let turns = CallerPermits::new(TURN_LIMITS);
        WebFetcher { names, reach, tls, agent, turns, stand_in: None }
    }

    /// For tests: checks addresses as usual, then connects elsewhere.
    #[must_use]
    pub fn with_address_override(self, stand_in: AddressOverride) -> WebFetcher {
        WebFetcher { stand_in: Some(stand_in), ..self }
    }

    /// The addresses that a URL may lead to.
    pub fn address_scope(&self) -> AddressScope {
        self.reach
    }

    pub fn parse(&self, address: &str) -> Result<WebAddress, FetchFault> {
        WebAddress::parse(address, self.reach).map_err(FetchFault::Address)
    }

    pub async fn fetch(
        &self,
        address: &WebAddress,
        ask: &FetchRequest,
    ) -> Result<FetchResponse, FetchFault> {
        // The time limit starts after the wait for a free slot: other callers must not use it up.
        let waiting = timeout(ask.time_max, self.turns.take(Some(ask.caller))).await;
        let _turn = waiting.map_err(|_| FetchFault::Busy)?.map_err(|_| FetchFault::Busy)?;
        let fetching = async {
            let mut address = address.clone();
            for _ in 0..=ask.redirects_max {
                let fetched = self.fetch_once(address, ask).await?;
                let Some(next) = redirect_target(&fetched) else { return Ok(fetched) };
                if ask.redirects_max == 0 || ask.method != FetchMethod::Get {
                    return Ok(fetched);
                }
                let next = fetched.address.join(next, self.reach);
                address = next.map_err(FetchFault::Redirect)?;
            }
            Err(FetchFault::Redirects)
        };
        timeout(ask.time_max, fetching).await.map_err(|_| FetchFault::TimedOut)?
    }

    /// Sends a request and returns its response with the body still to be read. Follows no
    /// redirect. The time limit is for the head.
    pub async fn open_stream(
        &self,
        address: &WebAddress,
        ask: &FetchRequest,
    ) -> Result<FetchStream, FetchFault> {
        let waiting = timeout(ask.time_max, self.turns.take(Some(ask.caller))).await;
        let turn = waiting.map_err(|_| FetchFault::Busy)?.map_err(|_| FetchFault::Busy)?;
        let opening = async {
            let mut request = self.build_request(address, ask)?;
            // Pieces of a packed body could not be read as they arrive.
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            let (mut sender, connection) = self.connect(address, ask.caller).await?;
            let mut driving: BoxFuture<'static, ()> =
                Box::pin(async move { drop(connection.await) });
            let mut sending = pin!(sender.send_request(request));
            let mut is_driven = true;
            let response = tokio::select! {
                response = &mut sending => response,
                // The response may have come with the end of the connection.
                () = &mut driving => {
                    is_driven = false;
                    sending.await
                }
            };
            let driving = is_driven.then_some(driving);
            let response = response.map_err(|_| FetchFault::Broken)?;
            if response.headers().contains_key(CONTENT_ENCODING) {
                return Err(FetchFault::Garbled);
            }
            Ok(FetchStream::new(response, driving, turn))
        };
        timeout(ask.time_max, opening).await.map_err(|_| FetchFault::TimedOut)?
    }

    async fn connect(
        &self,
        address: &WebAddress,
        caller: CallerId,
    ) -> Result<(SendRequest<Full<Bytes>>, FetchConnection), FetchFault> {
        let (names, stand_in) = (self.names.as_ref(), self.stand_in.as_ref());
        let stream =
            connect_host(address, names, self.reach, Some(caller), &self.tls, stand_in).await?;
        let handshake = http1::Builder::new()
            .max_headers(HEADERS_MAX)
            .max_buf_size(HEAD_BYTES_MAX)
            .handshake(TokioIo::new(stream));
        handshake.await.map_err(|_| FetchFault::Broken)
    }

    /// Sends one request over one connection, which this task drives until the body is read.
    async fn fetch_once(
        &self,
        address: WebAddress,
        ask: &FetchRequest,
    ) -> Result<FetchResponse, FetchFault> {
        let (mut sender, connection) = self.connect(&address, ask.caller).await?;
        let request = self.build_request(&address, ask)?;
        let reading = async move {
            let answer = sender.send_request(request).await.map_err(|_| FetchFault::Broken)?;
            let (head, body) = answer.into_parts();
            let packed = body::read_body(body, ask.bytes_max, ask.excess).await?;
            Ok((head, packed))
        };
        let driving = async {
            // The reader of the body sees the end of the connection.
            let _ = connection.await;
            std::future::pending::<()>().await;
        };
        let (head, packed) = tokio::select! {
            read = reading => read?,
            () = driving => return Err(FetchFault::Broken),
        };
        let body = body::unpack_body(&head.headers, packed, ask.bytes_max, ask.excess).await?;
        Ok(FetchResponse { address, status: head.status.as_u16(), headers: head.headers, body })
    }

    fn build_request(
        &self,
        address: &WebAddress,
        ask: &FetchRequest,
    ) -> Result<Request<Full<Bytes>>, FetchFault> {
        let (method, body) = match &ask.method {
            FetchMethod::Get => (http::Method::GET, Bytes::new()),
            FetchMethod::Post(body) => (http::Method::POST, body.clone()),
            FetchMethod::Options => (http::Method::OPTIONS, Bytes::new()),
        };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = address.path_and_query().parse().map_err(|_| FetchFault::Broken)?;
        let headers = request.headers_mut();
        headers.extend(ask.headers.clone());
        let accept = HeaderValue::from_str(&ask.accept).unwrap_or(HeaderValue::from_static("*/*"));
        headers.insert(ACCEPT, accept);
        headers.insert(HOST, host_header(address)?);
        headers.insert(USER_AGENT, self.agent.clone());
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate"));
        headers.entry(ACCEPT_LANGUAGE).or_insert(HeaderValue::from_static("en, *;q=0.5"));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        Ok(request)
    }
}

fn host_header(address: &WebAddress) -> Result<HeaderValue, FetchFault> {
    let host = address.url().host_str().unwrap_or_default();
    let host = match address.url().port() {
        None => host.to_owned(),
        Some(port) => format!("{host}:{port}"),
    };
    HeaderValue::try_from(host).map_err(|_| FetchFault::Broken)
}

fn redirect_target(fetched: &FetchResponse) -> Option<&str> {
    matches!(fetched.status, 301 | 302 | 303 | 307 | 308)
        .then(|| fetched.headers.get(LOCATION))?
        .and_then(|location| location.to_str().ok())
}
