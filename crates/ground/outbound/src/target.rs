//! The URL and the fixed headers of requests of one kind.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, PROXY_AUTHORIZATION,
};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Request, Uri};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::client::OutboundClient;
use crate::content::{OutboundBody, RequestContent};
use crate::outgoing_request::{OutgoingRequest, PostHead};

/// Far more than a URL needs, and below the limit of the HTTP library.
const URL_BYTES_MAX: usize = 8 * 1024;

/// A URL and the headers of every request to it.
#[derive(Clone)]
pub struct RequestTarget {
    uri: Uri,
    /// Set if the server is connected without TLS and reads our requests itself.
    plain: Option<PlainTarget>,
    /// Has capacity for the headers that a request adds, so that the map never grows.
    headers: HeaderMap,
}

/// Prepared data for requests over our own connections.
#[derive(Clone)]
pub(crate) struct PlainTarget {
    /// The server's name, which is the key of its connections in the pool.
    pub(crate) server: Arc<str>,
    pub(crate) address: Uri,
    pub(crate) post: PostHead,
}

/// The URL is not http or https, is too long, or has characters that HTTP does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not an http or https URL")]
pub struct InvalidTarget;

impl RequestTarget {
    /// A user name and password in the URL become a header, unless `headers` already has one.
    pub fn new(
        client: &OutboundClient,
        url: &Url,
        headers: HeaderMap,
    ) -> Result<RequestTarget, InvalidTarget> {
        let mut bare = url.clone();
        let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
        let is_bare = bare.set_username("").is_ok() && bare.set_password(None).is_ok();
        let is_short = bare.as_str().len() <= URL_BYTES_MAX;
        if !(is_http && is_bare && is_short) {
            return Err(InvalidTarget);
        }
        let uri = Uri::try_from(bare.as_str()).map_err(|_| InvalidTarget)?;
        let mut all = HeaderMap::with_capacity(headers.len() + 6);
        all.insert(ACCEPT, HeaderValue::from_static("*/*"));
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        all.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        if uri.scheme_str() == Some("http") {
            // Only without TLS: HTTP/2, possible over TLS, has a pseudo-header for the host.
            all.insert(HOST, host_header(&uri)?);
            all.extend(client.proxy_credentials(&uri).map(|it| (PROXY_AUTHORIZATION, it)));
        }
        all.extend(basic_credentials(url)?.map(|it| (AUTHORIZATION, it)));
        // Replaces headers of the same name.
        all.extend(headers);
        let server = uri.authority().filter(|_| client.is_plain(&uri));
        let server = server.map(|authority| Arc::from(authority.as_str()));
        Ok(RequestTarget::from_uri(uri, server, all))
    }

    /// A URL below this one; the operator's own path stays unchanged. `path` has only letters,
    /// digits and slashes.
    pub fn join_path(&self, path: &'static str) -> RequestTarget {
        let mut longer = format!("{}/{path}", self.uri.path().trim_end_matches('/'));
        if let Some(query) = self.uri.query() {
            longer.push('?');
            longer.push_str(query);
        }
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query =
            Some(PathAndQuery::try_from(longer).expect("a path stays one with letters behind it"));
        let uri = Uri::from_parts(parts).expect("only the path has changed");
        let server = self.plain.as_ref().map(|plain| Arc::clone(&plain.server));
        RequestTarget::from_uri(uri, server, self.headers.clone())
    }

    /// Another path of the same server, with an optional query.
    pub fn with_path(&self, path: &str) -> Result<RequestTarget, InvalidTarget> {
        let is_path = path.starts_with('/') && path.len() <= URL_BYTES_MAX;
        let path = is_path.then(|| PathAndQuery::try_from(path)).and_then(Result::ok);
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(path.ok_or(InvalidTarget)?);
        let uri = Uri::from_parts(parts).map_err(|_| InvalidTarget)?;
        let server = self.plain.as_ref().map(|plain| Arc::clone(&plain.server));
        Ok(RequestTarget::from_uri(uri, server, self.headers.clone()))
    }

    /// The host without its port.
    pub fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }

    /// The path and the query.
    pub fn path(&self) -> &str {
        path_and_query(&self.uri)
    }

    /// True if the URL has the same server and scheme.
    pub fn is_same_server(&self, url: &Url) -> bool {
        let port = self.uri.port_u16().or(match self.uri.scheme_str() {
            Some("https") => Some(443),
            _ => Some(80),
        });
        self.uri.scheme_str() == Some(url.scheme())
            && self.uri.host() == url.host_str()
            && port == url.port_or_known_default()
    }

    /// Sets headers for every request.
    pub fn set_headers(&mut self, headers: HeaderMap) {
        self.headers.extend(headers);
        if let Some(plain) = &mut self.plain {
            plain.post = PostHead::new(path_and_query(&self.uri), &self.headers);
        }
    }

    fn from_uri(uri: Uri, server: Option<Arc<str>>, headers: HeaderMap) -> RequestTarget {
        let post = PostHead::new(path_and_query(&uri), &headers);
        let plain = server.map(|server| PlainTarget { server, address: uri.clone(), post });
        RequestTarget { uri, plain, headers }
    }

    pub(crate) fn post_request(&self, content: RequestContent) -> Request<OutboundBody> {
        let body = OutboundBody::new(content.pieces);
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, content.media_type);
        if let Some(length) = http_body::Body::size_hint(&body).exact() {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        build_request(Method::POST, self.uri.clone(), headers, body)
    }

    /// This URL with `rest` appended.
    pub(crate) fn with_suffix(&self, rest: &str) -> Result<Uri, InvalidTarget> {
        Uri::try_from(format!("{}{rest}", self.uri)).map_err(|_| InvalidTarget)
    }

    pub(crate) fn get_request(&self, uri: Uri) -> Request<OutboundBody> {
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_LENGTH);
        build_request(Method::GET, uri, headers, OutboundBody::default())
    }

    pub(crate) fn put_request(&self) -> Request<OutboundBody> {
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_TYPE);
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        build_request(Method::PUT, self.uri.clone(), headers, OutboundBody::default())
    }

    pub(crate) fn plain_put(&self) -> OutgoingRequest {
        OutgoingRequest::put(path_and_query(&self.uri), &self.headers)
    }

    pub(crate) fn delete_request(&self) -> Request<OutboundBody> {
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_TYPE);
        build_request(Method::DELETE, self.uri.clone(), headers, OutboundBody::default())
    }

    pub(crate) fn plain_delete(&self) -> OutgoingRequest {
        OutgoingRequest::delete(path_and_query(&self.uri), &self.headers)
    }

    pub(crate) fn plain_target(&self) -> Option<&PlainTarget> {
        self.plain.as_ref()
    }

    pub(crate) fn plain_get(&self, uri: &Uri) -> OutgoingRequest {
        OutgoingRequest::get(path_and_query(uri), &self.headers)
    }
}

fn build_request(
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: OutboundBody,
) -> Request<OutboundBody> {
    let mut request = Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    request
}

fn path_and_query(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", PathAndQuery::as_str)
}

fn host_header(uri: &Uri) -> Result<HeaderValue, InvalidTarget> {
    let host = uri.host().unwrap_or_default();
    let host = match uri.port_u16() {
        None | Some(80) => host.to_owned(),
        Some(port) => format!("{host}:{port}"),
    };
    HeaderValue::try_from(host).map_err(|_| InvalidTarget)
}

fn basic_credentials(url: &Url) -> Result<Option<HeaderValue>, InvalidTarget> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let mut told: Vec<u8> = percent_decode_str(url.username()).collect();
    told.push(b':');
    told.extend(percent_decode_str(url.password().unwrap_or_default()));
    let basic = format!("Basic {}", BASE64_STANDARD.encode(told));
    let mut value = HeaderValue::try_from(basic).map_err(|_| InvalidTarget)?;
    value.set_sensitive(true);
    Ok(Some(value))
}
