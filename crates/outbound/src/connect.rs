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

use crate::proxy::Proxies;
use crate::socket::Socket;
use crate::stream::Stream;

/// TCP keepalive detects a vanished server after about a minute, even on a stream that is silent
/// for a valid reason.
const KEEPALIVE: Duration = Duration::from_secs(15);
const KEEPALIVE_RETRIES: u32 = 3;
/// TCP user timeout: the same limit for bytes that we sent and the server has not acknowledged.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(30);

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Cloned for every request, so only a pointer.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Ways>);

pub(crate) enum Ways {
    Socket { path: PathBuf, connect_timeout: Duration },
    Network(Box<Network>),
}

pub(crate) struct Network {
    pub(crate) connect_timeout: Duration,
    pub(crate) proxies: Proxies,
    pub(crate) tls: Arc<ClientConfig>,
    /// For connections to proxies, which use only HTTP/1.1.
    pub(crate) tls_to_proxy: Arc<ClientConfig>,
}

impl Connector {
    pub(crate) fn new(ways: Ways) -> Connector {
        Connector(Arc::new(ways))
    }

    pub(crate) fn proxies(&self) -> Option<&Proxies> {
        match &*self.0 {
            Ways::Socket { .. } => None,
            Ways::Network(network) => Some(&network.proxies),
        }
    }

    /// Opens a connection without TLS and without a proxy that reads it.
    pub(crate) async fn plain(&self, server: &Uri) -> Fallible<Socket> {
        match &*self.0 {
            Ways::Socket { path, connect_timeout } => {
                let connecting = async { Ok(Socket::Unix(UnixStream::connect(path).await?)) };
                within(*connect_timeout, connecting).await
            }
            Ways::Network(network) => {
                let mut tcp = network.tcp();
                let connecting = async {
                    let stream = tcp.call(server.clone()).await?;
                    Ok(Socket::Tcp(stream.into_inner()))
                };
                within(network.connect_timeout, connecting).await
            }
        }
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = BoxFuture<'static, Fallible<Stream>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Fallible<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let ways = Arc::clone(&self.0);
        Box::pin(async move {
            let (connect_timeout, connecting): (_, BoxFuture<'_, _>) = match &*ways {
                Ways::Socket { path, connect_timeout } => {
                    (*connect_timeout, Box::pin(socket(path)))
                }
                Ways::Network(network) => {
                    (network.connect_timeout, Box::pin(network.connect(server)))
                }
            };
            within(connect_timeout, connecting).await
        })
    }
}

async fn within<T>(
    connect_timeout: Duration,
    connecting: impl Future<Output = Fallible<T>>,
) -> Fallible<T> {
    match timeout(connect_timeout, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err("no connection in time".into()),
    }
}

async fn socket(path: &PathBuf) -> Fallible<Stream> {
    Ok(Stream::to_server(TokioIo::new(UnixStream::connect(path).await?)))
}

impl Network {
    async fn connect(&self, server: Uri) -> Fallible<Stream> {
        let Some(proxy) = self.proxies.before(&server) else {
            let mut straight = HttpsConnector::from((self.tcp(), Arc::clone(&self.tls)));
            return Ok(Stream::to_server(straight.call(server).await?));
        };
        let mut to_proxy = HttpsConnector::from((self.tcp(), Arc::clone(&self.tls_to_proxy)));
        if server.scheme() == Some(&Scheme::HTTPS) {
            let tunnel = tunnel(&proxy, to_proxy);
            let mut through = HttpsConnector::from((tunnel, Arc::clone(&self.tls)));
            return Ok(Stream::to_server(through.call(server).await?));
        }
        Ok(Stream::to_proxy(to_proxy.call(proxy.uri().clone()).await?))
    }

    fn tcp(&self) -> HttpConnector {
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

fn tunnel<C>(proxy: &Intercept, to_proxy: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(proxy.uri().clone(), to_proxy);
    match proxy.basic_auth() {
        Some(credentials) => tunnel.with_auth(credentials.clone()),
        None => tunnel,
    }
}
