//! Sends requests over pooled connections.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::uri::Scheme;
use http::{HeaderValue, Request, Uri};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use lanes::PerLane;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::connect::{ConnectRoute, NetworkRoute, OutboundConnector};
use crate::content::{OutboundBody, RequestContent};
use crate::error::OutboundError;
use crate::pool::PlainPool;
use crate::proxy::ProxySelector;
use crate::response::UpstreamResponse;
use crate::target::RequestTarget;

/// Connection settings.
#[derive(Debug, Clone)]
pub struct ConnectSettings {
    pub way: ConnectVia,
    /// Timeout that includes all handshakes, also with a proxy.
    pub connect_timeout: Duration,
    /// Time after which an idle connection is closed.
    pub idle_max: Duration,
}

#[derive(Debug, Clone)]
pub enum ConnectVia {
    Straight,
    /// Through the proxies of the environment variables, if there are any.
    ByEnvironment,
    /// Over a Unix socket, without TLS; the hosts of URLs are ignored.
    Socket(PathBuf),
}

#[derive(Debug, thiserror::Error)]
#[error("the system's certificates cannot be used: {0}")]
pub struct TlsSetupError(#[from] rustls::Error);

/// Fails if the system has no usable root certificates. A client can be built without them, but
/// reaches no https server.
pub fn check_system_certificates() -> Result<(), TlsSetupError> {
    tls_of_system().map(|_| ())
}

/// A pool of connections, which clones share. Each lane keeps the connections that it opened.
#[derive(Clone)]
pub struct OutboundClient {
    connections: Arc<PerLane<LaneConnections>>,
    connector: OutboundConnector,
}

struct LaneConnections {
    plain: Arc<PlainPool>,
    /// For connections over TLS, which may use HTTP/2, and for requests that a proxy reads.
    others: legacy::Client<OutboundConnector, OutboundBody>,
}

impl OutboundClient {
    pub fn new(reach: ConnectSettings) -> Result<OutboundClient, TlsSetupError> {
        Ok(OutboundClient::with_route(
            build_route(reach.way, reach.connect_timeout)?,
            reach.idle_max,
        ))
    }

    /// Through these proxies, ignoring the environment.
    #[cfg(test)]
    pub(crate) fn with_proxies(proxies: ProxySelector) -> OutboundClient {
        let second = Duration::from_secs(1);
        OutboundClient::with_route(build_network(proxies, second).unwrap(), second)
    }

    fn with_route(ways: ConnectRoute, idle_max: Duration) -> OutboundClient {
        let connector = OutboundConnector::new(ways);
        let for_lane = connector.clone();
        let make = move || build_connections(&for_lane, idle_max);
        OutboundClient { connections: Arc::new(PerLane::new(make)), connector }
    }

    pub async fn post(
        &self,
        target: &RequestTarget,
        content: RequestContent,
    ) -> Result<UpstreamResponse, OutboundError> {
        if let Some(plain) = target.plain_target() {
            return self.connections.get().plain.send(plain, plain.post.fill(content)).await;
        }
        self.send(target.post_request(content)).await
    }

    /// Sends a GET request; `rest` is appended to the target's URL.
    pub async fn get(
        &self,
        target: &RequestTarget,
        rest: &str,
    ) -> Result<UpstreamResponse, OutboundError> {
        let uri = target
            .with_suffix(rest)
            .map_err(|error| OutboundError::Unreached(error.to_string()))?;
        if let Some(plain) = target.plain_target() {
            return self.connections.get().plain.send(plain, target.plain_get(&uri)).await;
        }
        self.send(target.get_request(uri)).await
    }

    /// Sends a PUT without a body, which some servers use as a stop request.
    pub async fn put_empty(
        &self,
        target: &RequestTarget,
    ) -> Result<UpstreamResponse, OutboundError> {
        if let Some(plain) = target.plain_target() {
            return self.connections.get().plain.send(plain, target.plain_put()).await;
        }
        self.send(target.put_request()).await
    }

    pub async fn delete(&self, target: &RequestTarget) -> Result<UpstreamResponse, OutboundError> {
        if let Some(plain) = target.plain_target() {
            return self.connections.get().plain.send(plain, target.plain_delete()).await;
        }
        self.send(target.delete_request()).await
    }

    pub(crate) fn proxy_credentials(&self, server: &Uri) -> Option<HeaderValue> {
        self.connector.proxies()?.credentials(server)
    }

    /// True if the server is connected without TLS and without a proxy that reads the requests.
    pub(crate) fn is_plain(&self, server: &Uri) -> bool {
        let proxies = self.connector.proxies();
        let is_proxied = proxies.is_some_and(|proxies| proxies.find_proxy(server).is_some());
        server.scheme() == Some(&Scheme::HTTP) && !is_proxied
    }

    async fn send(
        &self,
        request: Request<OutboundBody>,
    ) -> Result<UpstreamResponse, OutboundError> {
        let sent = self.connections.get().others.request(request).await;
        sent.map(UpstreamResponse::new).map_err(|error| OutboundError::of_request(&error))
    }
}

fn build_connections(connector: &OutboundConnector, idle_max: Duration) -> LaneConnections {
    let others = legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(idle_max)
        .build(connector.clone());
    LaneConnections { plain: PlainPool::new(connector.clone(), idle_max), others }
}

fn build_route(way: ConnectVia, connect_timeout: Duration) -> Result<ConnectRoute, TlsSetupError> {
    match way {
        ConnectVia::Socket(path) => Ok(ConnectRoute::Socket { path, connect_timeout }),
        ConnectVia::Straight => build_network(ProxySelector::none(), connect_timeout),
        ConnectVia::ByEnvironment => {
            build_network(ProxySelector::from_environment(), connect_timeout)
        }
    }
}

fn build_network(
    proxies: ProxySelector,
    connect_timeout: Duration,
) -> Result<ConnectRoute, TlsSetupError> {
    let tls_to_proxy = tls_of_system().or_else(|_| tls_without_roots())?;
    let mut tls = tls_to_proxy.clone();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (tls, tls_to_proxy) = (Arc::new(tls), Arc::new(tls_to_proxy));
    Ok(ConnectRoute::Network(Box::new(NetworkRoute {
        connect_timeout,
        proxies,
        tls,
        tls_to_proxy,
    })))
}

fn tls_of_system() -> Result<ClientConfig, TlsSetupError> {
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth())
}

/// Without root certificates, https fails and plain http still works.
fn tls_without_roots() -> Result<ClientConfig, TlsSetupError> {
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth())
}
