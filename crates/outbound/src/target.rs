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

use crate::client::Client;
use crate::content::{Body, Content};
use crate::outgoing::{Form, Outgoing};

/// Far more than a URL needs, and below the limit of the HTTP library.
const URL_BYTES_MAX: usize = 8 * 1024;

/// A URL and the headers of every request to it.
#[derive(Clone)]
pub struct Target {
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
    pub(crate) post: Form,
}

/// The URL is not http or https, is too long, or has characters that HTTP does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not an http or https URL")]
pub struct NoTarget;

impl Target {
    /// A user name and password in the URL become a header, unless `headers` already has one.
    pub fn new(client: &Client, url: &Url, headers: HeaderMap) -> Result<Target, NoTarget> {
        let mut bare = url.clone();
        let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
        let is_bare = bare.set_username("").is_ok() && bare.set_password(None).is_ok();
        let is_short = bare.as_str().len() <= URL_BYTES_MAX;
        if !(is_http && is_bare && is_short) {
            return Err(NoTarget);
        }
        let uri = Uri::try_from(bare.as_str()).map_err(|_| NoTarget)?;
        let mut all = HeaderMap::with_capacity(headers.len() + 6);
        all.insert(ACCEPT, HeaderValue::from_static("*/*"));
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        all.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        if uri.scheme_str() == Some("http") {
            // Only without TLS: HTTP/2, possible over TLS, has a pseudo-header for the host.
            all.insert(HOST, host(&uri)?);
            all.extend(client.proxy_credentials(&uri).map(|it| (PROXY_AUTHORIZATION, it)));
        }
        all.extend(credentials(url)?.map(|it| (AUTHORIZATION, it)));
        // Replaces headers of the same name.
        all.extend(headers);
        let server = uri.authority().filter(|_| client.is_plain(&uri));
        let server = server.map(|authority| Arc::from(authority.as_str()));
        Ok(Target::of(uri, server, all))
    }

    /// A URL below this one; the operator's own path stays unchanged. `path` has only letters,
    /// digits and slashes.
    pub fn beneath(&self, path: &'static str) -> Target {
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
        Target::of(uri, server, self.headers.clone())
    }

    /// Another path of the same server, with an optional query.
    pub fn elsewhere(&self, path: &str) -> Result<Target, NoTarget> {
        let is_path = path.starts_with('/') && path.len() <= URL_BYTES_MAX;
        let path = is_path.then(|| PathAndQuery::try_from(path)).and_then(Result::ok);
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(path.ok_or(NoTarget)?);
        let uri = Uri::from_parts(parts).map_err(|_| NoTarget)?;
        let server = self.plain.as_ref().map(|plain| Arc::clone(&plain.server));
        Ok(Target::of(uri, server, self.headers.clone()))
    }

    /// The path and the query.
    pub fn path(&self) -> &str {
        path(&self.uri)
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
    pub fn put(&mut self, headers: HeaderMap) {
        self.headers.extend(headers);
        if let Some(plain) = &mut self.plain {
            plain.post = Form::new(path(&self.uri), &self.headers);
        }
    }

    fn of(uri: Uri, server: Option<Arc<str>>, headers: HeaderMap) -> Target {
        let post = Form::new(path(&uri), &headers);
        let plain = server.map(|server| PlainTarget { server, address: uri.clone(), post });
        Target { uri, plain, headers }
    }

    pub(crate) fn post(&self, content: Content) -> Request<Body> {
        let body = Body::new(content.pieces);
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, content.media_type);
        if let Some(length) = http_body::Body::size_hint(&body).exact() {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        request((Method::POST, self.uri.clone()), headers, body)
    }

    /// This URL with `rest` appended.
    pub(crate) fn longer(&self, rest: &str) -> Result<Uri, NoTarget> {
        Uri::try_from(format!("{}{rest}", self.uri)).map_err(|_| NoTarget)
    }

    pub(crate) fn get(&self, uri: Uri) -> Request<Body> {
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_LENGTH);
        request((Method::GET, uri), headers, Body::default())
    }

    pub(crate) fn put_nothing(&self) -> Request<Body> {
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_TYPE);
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        request((Method::PUT, self.uri.clone()), headers, Body::default())
    }

    pub(crate) fn plain_put(&self) -> Outgoing {
        Outgoing::put(path(&self.uri), &self.headers)
    }

    pub(crate) fn plain(&self) -> Option<&PlainTarget> {
        self.plain.as_ref()
    }

    pub(crate) fn plain_get(&self, uri: &Uri) -> Outgoing {
        Outgoing::get(path(uri), &self.headers)
    }
}

fn request((method, uri): (Method, Uri), headers: HeaderMap, body: Body) -> Request<Body> {
    let mut request = Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    request
}

fn path(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", PathAndQuery::as_str)
}

fn host(uri: &Uri) -> Result<HeaderValue, NoTarget> {
    let host = uri.host().unwrap_or_default();
    let host = match uri.port_u16() {
        None | Some(80) => host.to_owned(),
        Some(port) => format!("{host}:{port}"),
    };
    HeaderValue::try_from(host).map_err(|_| NoTarget)
}

fn credentials(url: &Url) -> Result<Option<HeaderValue>, NoTarget> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let mut told: Vec<u8> = percent_decode_str(url.username()).collect();
    told.push(b':');
    told.extend(percent_decode_str(url.password().unwrap_or_default()));
    let basic = format!("Basic {}", BASE64_STANDARD.encode(told));
    let mut value = HeaderValue::try_from(basic).map_err(|_| NoTarget)?;
    value.set_sensitive(true);
    Ok(Some(value))
}
