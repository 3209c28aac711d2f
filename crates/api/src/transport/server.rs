//! Accepts connections and serves them, HTTP/1.1 and HTTP/2 alike, until told to stop.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use lanes::Lanes;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::origin::Peer;

/// Beyond this many, new connections wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 16_384;
/// How long a client may take over its request line and headers, and how long it may keep a
/// connection open without asking for anything.
const HEADERS_TIMEOUT: Duration = Duration::from_secs(30);
const HEADER_BYTES_MAX: usize = 64 * 1024;
const HTTP2_STREAMS_MAX: u32 = 256;
/// After a failed accept (out of file descriptors, say) there is no use in trying at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves `router` until `stop`, then lets answers under way end, for at most `grace`. Each
/// connection gets a seat in one of the `lanes`.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    (lanes, tasks): (Arc<Lanes>, TaskTracker),
    stop: CancellationToken,
    grace: Duration,
) {
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        match accepted {
            Ok((stream, peer, permit)) => {
                let (seat, watcher, router) = (lanes.seat(), graceful.watcher(), router.clone());
                let lane = seat.runtime().clone();
                let attended = seat.gather(attend(stream, peer, router, watcher));
                let seated = async move {
                    attended.await;
                    drop((permit, seat));
                };
                tasks.spawn_on(seated, &lane);
            }
            Err(error) => {
                tracing::warn!(error = %error, "a connection was not accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some answers had not ended {}s after the stop", grace.as_secs());
    }
}

/// Serves one connection to its end, in the lane that this runs in.
async fn attend(stream: std::net::TcpStream, peer: Peer, router: Router, watcher: Watcher) {
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => {
            tracing::warn!(error = %error, "a connection was not taken over: {error}");
            return;
        }
    };
    let heard = CancellationToken::new();
    let connection = watcher.watch(connect(stream, peer, router, heard.clone()));
    tokio::select! {
        biased;
        ended = connection => if let Err(error) = ended {
            tracing::debug!(error = %error, "a connection ended early: {error}");
        },
        () = silence(heard) => tracing::debug!("a connection asked for nothing"),
    }
}

/// Ends if no request has come in time. Until the first bytes tell HTTP/1.1 from HTTP/2, neither
/// protocol's own timeout runs, and a silent connection would keep its place for ever.
async fn silence(heard: CancellationToken) {
    if tokio::time::timeout(HEADERS_TIMEOUT, heard.cancelled()).await.is_ok() {
        std::future::pending::<()>().await;
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> std::io::Result<(std::net::TcpStream, Peer, OwnedSemaphorePermit)> {
    let permit = Arc::clone(connections).acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    // Tokens of a stream are small packets; each must leave at once.
    stream.set_nodelay(true)?;
    // The lane that serves it registers it with its own event loop.
    Ok((stream.into_std()?, Peer(peer), permit))
}

fn connect(
    stream: TcpStream,
    peer: Peer,
    router: Router,
    heard: CancellationToken,
) -> impl hyper_util::server::graceful::GracefulConnection<
    Error = Box<dyn std::error::Error + Send + Sync>,
> {
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        heard.cancel();
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(peer);
        // A router is always ready.
        router.clone().call(request)
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_TIMEOUT)
        .max_buf_size(HEADER_BYTES_MAX.max(8192))
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(HEADER_BYTES_MAX).unwrap_or(u32::MAX))
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .keep_alive_interval(Some(HEADERS_TIMEOUT));
    builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned()
}
