//! Opens connections: directly, through a proxy, or over a Unix socket.

use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Uri;
use http::uri::Scheme;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::UnixStream;
use tokio::time::timeout;
use tower_service::Service;

use crate::proxy::ProxySelector;
use crate::socket::PlainSocket;
use crate::stream::OutboundStream;

/// TCP keepalive detects a vanished server after about a minute, even on a stream that is silent
/// for a valid reason.
const KEEPALIVE: Duration = Duration::from_secs(15);
const KEEPALIVE_RETRIES: u32 = 3;
/// TCP user timeout: the same limit for bytes that we sent and the server has not acknowledged.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(30);

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Cloned for every request, so only a pointer.
#[derive(Clone)]
pub(crate) struct OutboundConnector(Arc<ConnectRoute>);

pub(crate) enum ConnectRoute {
    Socket { path: PathBuf, connect_timeout: Duration },
    Network(Box<NetworkRoute>),
}

pub(crate) struct NetworkRoute {
    pub(crate) connect_timeout: Duration,
    pub(crate) proxies: ProxySelector,
    pub(crate) tls: Arc<ClientConfig>,
    /// For connections to proxies, which use only HTTP/1.1.
    pub(crate) tls_to_proxy: Arc<ClientConfig>,
}

impl OutboundConnector {
    pub(crate) fn new(ways: ConnectRoute) -> OutboundConnector {
        OutboundConnector(Arc::new(ways))
    }

    pub(crate) fn proxies(&self) -> Option<&ProxySelector> {
        match &*self.0 {
            ConnectRoute::Socket { .. } => None,
            ConnectRoute::Network(network) => Some(&network.proxies),
        }
    }

    /// Opens a connection without TLS and without a proxy that reads it.
    pub(crate) async fn connect_plain(&self, server: &Uri) -> Fallible<PlainSocket> {
        match &*self.0 {
            ConnectRoute::Socket { path, connect_timeout } => {
                let connecting = async { Ok(PlainSocket::Unix(UnixStream::connect(path).await?)) };
                with_connect_timeout(*connect_timeout, connecting).await
            }
            ConnectRoute::Network(network) => {
                let mut tcp = network.build_tcp_connector();
                let connecting = async {
                    let stream = tcp.call(server.clone()).await?;
                    Ok(PlainSocket::Tcp(stream.into_inner()))
                };
                with_connect_timeout(network.connect_timeout, connecting).await
            }
        }
    }
}

impl Service<Uri> for OutboundConnector {
    type Response = OutboundStream;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = BoxFuture<'static, Fallible<OutboundStream>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Fallible<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let ways = Arc::clone(&self.0);
        Box::pin(async move {
            let (connect_timeout, connecting): (_, BoxFuture<'_, _>) = match &*ways {
                ConnectRoute::Socket { path, connect_timeout } => {
                    (*connect_timeout, Box::pin(connect_socket(path)))
                }
                ConnectRoute::Network(network) => {
                    (network.connect_timeout, Box::pin(network.connect(server)))
                }
            };
            with_connect_timeout(connect_timeout, connecting).await
        })
    }
}

async fn with_connect_timeout<T>(
    connect_timeout: Duration,
    connecting: impl Future<Output = Fallible<T>>,
) -> Fallible<T> {
    match timeout(connect_timeout, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err("no connection in time".into()),
    }
}

async fn connect_socket(path: &PathBuf) -> Fallible<OutboundStream> {
    Ok(OutboundStream::to_server(TokioIo::new(UnixStream::connect(path).await?)))
}

impl NetworkRoute {
    async fn connect(&self, server: Uri) -> Fallible<OutboundStream> {
        let Some(proxy) = self.proxies.find_proxy(&server) else {
            let mut straight =
                HttpsConnector::from((self.build_tcp_connector(), Arc::clone(&self.tls)));
            return Ok(OutboundStream::to_server(straight.call(server).await?));
        };
        let mut to_proxy =
            HttpsConnector::from((self.build_tcp_connector(), Arc::clone(&self.tls_to_proxy)));
        if server.scheme() == Some(&Scheme::HTTPS) {
            let tunnel = build_tunnel(&proxy, to_proxy);
            let mut through = HttpsConnector::from((tunnel, Arc::clone(&self.tls)));
            return Ok(OutboundStream::to_server(through.call(server).await?));
        }
        Ok(OutboundStream::to_proxy(to_proxy.call(proxy.uri().clone()).await?))
    }

    fn build_tcp_connector(&self) -> HttpConnector {
        let mut tcp = HttpConnector::new();
        // TLS is added where the scheme requires it.
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        // Divided among the addresses of a name, so that a dead address leaves time for the others.
        tcp.set_connect_timeout(Some(self.connect_timeout));
        tcp.set_keepalive(Some(KEEPALIVE));
        tcp.set_keepalive_interval(Some(KEEPALIVE));
        tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
        tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED_MAX));
        tcp
    }
}

fn build_tunnel<C>(proxy: &Intercept, to_proxy: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(proxy.uri().clone(), to_proxy);
    match proxy.basic_auth() {
        Some(credentials) => tunnel.with_auth(credentials.clone()),
        None => tunnel,
    }
}
