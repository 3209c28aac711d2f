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

use crate::answer::Answer;
use crate::connect::{Connector, Network, Ways};
use crate::content::{Body, Content};
use crate::error::OutboundError;
use crate::plain::Plain;
use crate::proxy::Proxies;
use crate::target::Target;

/// Connection settings.
#[derive(Debug, Clone)]
pub struct Reach {
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
pub struct SetupError(#[from] rustls::Error);

/// A pool of connections, which clones share. Each lane keeps the connections that it opened.
#[derive(Clone)]
pub struct Client {
    connections: Arc<PerLane<Connections>>,
    connector: Connector,
}

struct Connections {
    plain: Arc<Plain>,
    /// For connections over TLS, which may use HTTP/2, and for requests that a proxy reads.
    others: legacy::Client<Connector, Body>,
}

impl Client {
    pub fn new(reach: Reach) -> Result<Client, SetupError> {
        Ok(Client::over(ways(reach.way, reach.connect_timeout)?, reach.idle_max))
    }

    /// Through these proxies, ignoring the environment.
    #[cfg(test)]
    pub(crate) fn through(proxies: Proxies) -> Client {
        let second = Duration::from_secs(1);
        Client::over(network(proxies, second).unwrap(), second)
    }

    fn over(ways: Ways, idle_max: Duration) -> Client {
        let connector = Connector::new(ways);
        let for_lane = connector.clone();
        let make = move || connections(&for_lane, idle_max);
        Client { connections: Arc::new(PerLane::new(make)), connector }
    }

    pub async fn post(&self, target: &Target, content: Content) -> Result<Answer, OutboundError> {
        if let Some(plain) = target.plain() {
            return self.connections.get().plain.send(plain, plain.post.fill(content)).await;
        }
        self.send(target.post(content)).await
    }

    /// Sends a GET request; `rest` is appended to the target's URL.
    pub async fn get(&self, target: &Target, rest: &str) -> Result<Answer, OutboundError> {
        let uri =
            target.longer(rest).map_err(|error| OutboundError::Unreached(error.to_string()))?;
        if let Some(plain) = target.plain() {
            return self.connections.get().plain.send(plain, target.plain_get(&uri)).await;
        }
        self.send(target.get(uri)).await
    }

    /// Sends a PUT without a body, which some servers use as a stop request.
    pub async fn put(&self, target: &Target) -> Result<Answer, OutboundError> {
        if let Some(plain) = target.plain() {
            return self.connections.get().plain.send(plain, target.plain_put()).await;
        }
        self.send(target.put_nothing()).await
    }

    pub(crate) fn proxy_credentials(&self, server: &Uri) -> Option<HeaderValue> {
        self.connector.proxies()?.credentials(server)
    }

    /// True if the server is connected without TLS and without a proxy that reads the requests.
    pub(crate) fn is_plain(&self, server: &Uri) -> bool {
        let proxies = self.connector.proxies();
        let is_proxied = proxies.is_some_and(|proxies| proxies.before(server).is_some());
        server.scheme() == Some(&Scheme::HTTP) && !is_proxied
    }

    async fn send(&self, request: Request<Body>) -> Result<Answer, OutboundError> {
        let sent = self.connections.get().others.request(request).await;
        sent.map(Answer::new).map_err(|error| OutboundError::of_request(&error))
    }
}

fn connections(connector: &Connector, idle_max: Duration) -> Connections {
    let others = legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(idle_max)
        .build(connector.clone());
    Connections { plain: Plain::new(connector.clone(), idle_max), others }
}

fn ways(way: ConnectVia, connect_timeout: Duration) -> Result<Ways, SetupError> {
    match way {
        ConnectVia::Socket(path) => Ok(Ways::Socket { path, connect_timeout }),
        ConnectVia::Straight => network(Proxies::none(), connect_timeout),
        ConnectVia::ByEnvironment => network(Proxies::from_environment(), connect_timeout),
    }
}

fn network(proxies: Proxies, connect_timeout: Duration) -> Result<Ways, SetupError> {
    let tls_to_proxy = tls_of_system().or_else(|_| tls_without_roots())?;
    let mut tls = tls_to_proxy.clone();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (tls, tls_to_proxy) = (Arc::new(tls), Arc::new(tls_to_proxy));
    Ok(Ways::Network(Box::new(Network { connect_timeout, proxies, tls, tls_to_proxy })))
}

fn tls_of_system() -> Result<ClientConfig, SetupError> {
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth())
}

/// Without root certificates, https fails and plain http still works.
fn tls_without_roots() -> Result<ClientConfig, SetupError> {
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth())
}
