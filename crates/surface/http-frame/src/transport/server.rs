//! Accepts connections and serves HTTP/1.1 and HTTP/2 on them until the stop.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{CONNECTION, HOST};
use axum::http::{HeaderValue, Version};
use axum::response::IntoResponse;
use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use lanes::LanePool;
use moment::Timestamp;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use super::connection_limits::{AddressSlot, ConnectionLimits};
use super::graceful_close::{HANDSHAKE_MAX, LINGER, drop_new_syns, wait_for_connections};
use super::hyper_errors::ErrorReplacingStream;
use super::idle::OpenRequests;
use super::stream_progress::StreamExecutor;
use super::timeouts::ConnectionTimeouts;
use super::unsent_bytes::ConnectionUnsent;
use super::write_timeout::WriteTimeout;
use crate::origin::PeerAddress;
use crate::refusal::Refusal;
use crate::refusal::openai_error::ResponseShape;
use crate::request_id::RequestId;

/// With more connections than this, new ones wait in the kernel's accept queue.
const CONNECTIONS_MAX: u32 = 16_384;
const HEADER_BYTES_MAX: usize = 64 * 1024;
const HTTP2_STREAMS_MAX: u32 = 256;
/// Streams that a client may reset before they are processed. With more, its connection is closed.
const HTTP2_RESET_STREAMS_MAX: usize = 20;
/// Response bytes that hyper buffers per stream.
const HTTP2_SEND_BYTES_MAX: usize = 64 * 1024;
/// Time that a client has to acknowledge a ping. Pings are sent on silent connections.
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Pause after a failed accept, such as out of file descriptors: a retry at once is useless.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A listener, its per-address connection limit and its timeouts.
pub struct BoundedListener {
    pub listener: TcpListener,
    pub addresses: Arc<ConnectionLimits>,
    pub timeouts: ConnectionTimeouts,
}

/// Data that all connections of a listener share.
#[derive(Clone)]
struct ListenerState {
    router: Router,
    stop: CancellationToken,
    timeouts: ConnectionTimeouts,
}

/// State of one connection.
#[derive(Clone)]
struct ConnectionState {
    peer: PeerAddress,
    /// Cancelled by the connection's first request.
    heard: CancellationToken,
    under_way: OpenRequests,
    unsent: ConnectionUnsent,
}

/// Serves `router` until `stop`, then serves the connections made until then and lets responses in
/// progress end, for at most `grace`. Each connection is assigned to one of the `lanes`, unless its
/// address has too many connections.
///
/// Boxed so that the future's code is compiled in this crate: the quick profile does not optimise
/// the crate of the caller.
pub fn serve_listener(
    listening: BoundedListener,
    router: Router,
    lanes: Arc<LanePool>,
    tasks: TaskTracker,
    stop: CancellationToken,
    grace: Duration,
) -> BoxFuture<'static, ()> {
    Box::pin(serve_until(listening, router, lanes, tasks, stop, grace))
}

async fn serve_until(
    BoundedListener { listener, addresses, timeouts }: BoundedListener,
    router: Router,
    lanes: Arc<LanePool>,
    tasks: TaskTracker,
    stop: CancellationToken,
    grace: Duration,
) {
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX as usize));
    let mut closing = None;
    loop {
        let next = accept_connection(&listener, &connections, &addresses);
        let accepted = if let Some(closed_by) = closing {
            match timeout_at(Instant::min(closed_by, Instant::now() + HANDSHAKE_MAX), next).await {
                Ok(accepted) => accepted,
                Err(_) => break,
            }
        } else {
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    drop_new_syns(&listener);
                    closing = Some(Instant::now() + LINGER);
                    continue;
                }
                accepted = next => accepted,
            }
        };
        match accepted {
            Ok(None) => tracing::debug!("an address has reached its limit of connections"),
            Ok(Some((stream, peer, permit))) => {
                let (seat, watcher) = (lanes.take_seat(), graceful.watcher());
                let lane = seat.runtime().clone();
                let served = ListenerState { router: router.clone(), stop: stop.clone(), timeouts };
                let unsent = ConnectionUnsent::new(permit.1.unsent());
                let conversation = ConnectionState {
                    peer,
                    heard: CancellationToken::new(),
                    under_way: OpenRequests::new(),
                    unsent,
                };
                let attended =
                    seat.batch_wakes(serve_connection(stream, conversation, served, watcher));
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
    wait_for_connections(&connections, CONNECTIONS_MAX).await;
    if timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some responses were aborted {} s after the stop", grace.as_secs());
    }
}

/// Serves one connection to its end, on the current lane.
async fn serve_connection(
    stream: std::net::TcpStream,
    conversation: ConnectionState,
    served: ListenerState,
    watcher: Watcher,
) {
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => {
            tracing::warn!(error = %error, "a connection was not moved to its event loop: {error}");
            return;
        }
    };
    let ConnectionState { heard, under_way, .. } = conversation.clone();
    let timeouts = served.timeouts;
    let connection = watcher.watch(build_connection(stream, conversation, served));
    tokio::select! {
        biased;
        ended = connection => if let Err(error) = ended {
            tracing::debug!(error = %error, "a connection ended early: {error}");
        },
        () = wait_for_request_timeout(heard, under_way, timeouts) => {
            tracing::debug!("a connection timed out without a request");
        }
    }
}

/// Completes if no request arrives in time. Until the first bytes tell HTTP/1.1 from HTTP/2, hyper
/// runs no timeout, and a silent connection would stay open for ever. Later, hyper's timeout covers
/// HTTP/1.1 and ours covers idle HTTP/2 connections.
async fn wait_for_request_timeout(
    heard: CancellationToken,
    under_way: OpenRequests,
    timeouts: ConnectionTimeouts,
) {
    if timeout(timeouts.header, heard.cancelled()).await.is_ok() {
        under_way.wait_until_idle(timeouts.idle).await;
    }
}

async fn accept_connection(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
    addresses: &Arc<ConnectionLimits>,
) -> std::io::Result<Option<(std::net::TcpStream, PeerAddress, (OwnedSemaphorePermit, AddressSlot))>>
{
    let permit = Arc::clone(connections).acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    let Some(place) = addresses.admit_connection(peer.ip()) else { return Ok(None) };
    // A streamed token is a small packet that must be sent at once.
    stream.set_nodelay(true)?;
    // The lane that serves the connection registers it with its own event loop.
    Ok(Some((stream.into_std()?, PeerAddress(peer), (permit, place))))
}

/// RFC 9112: a request with no Host header, or with two, is refused. A proxy before us may have
/// used the other one.
fn has_one_host<B>(request: &hyper::Request<B>) -> bool {
    let count = request.headers().get_all(HOST).iter().count();
    match request.version() {
        Version::HTTP_11 => count == 1,
        _ => count <= 1,
    }
}

fn build_connection(
    stream: TcpStream,
    ConnectionState { peer, heard, under_way, unsent }: ConnectionState,
    ListenerState { router, stop, timeouts }: ListenerState,
) -> impl hyper_util::server::graceful::GracefulConnection<
    Error = Box<dyn std::error::Error + Send + Sync>,
> {
    let executor = StreamExecutor::new(timeouts.send, unsent);
    let streams = executor.clone();
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let begun =
            under_way.begin_request(request.version()).map(|request| streams.begin(request));
        heard.cancel();
        let is_well_named = has_one_host(&request);
        // A refusal of the host has no id and no time.
        let (path, id) = (request.uri().path(), RequestId::default());
        let shape = ResponseShape::for_request(path, request.headers(), &id, Timestamp::default);
        let is_http_1 = request.version() < Version::HTTP_2;
        let (mut router, stop) = (router.clone(), stop.clone());
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(peer);
        async move {
            if !is_well_named {
                return Ok(shape.apply(Refusal::bad_host().into_response()));
            }
            if let Some(begun) = &begun {
                begun.wait_below_max().await;
            }
            // A router is always ready.
            let mut response = router.call(request).await?;
            // The last response on this connection: the client opens another for its next request.
            if is_http_1 && stop.is_cancelled() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, std::convert::Infallible>(match begun {
                Some(begun) => begun.track_response(response),
                None => response,
            })
        }
    });
    let mut builder = auto::Builder::new(executor);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(timeouts.header)
        .max_buf_size(HEADER_BYTES_MAX.max(8192))
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(HEADER_BYTES_MAX).unwrap_or(u32::MAX))
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .max_pending_accept_reset_streams(HTTP2_RESET_STREAMS_MAX)
        .max_send_buf_size(HTTP2_SEND_BYTES_MAX)
        .keep_alive_interval(Some(timeouts.header))
        .keep_alive_timeout(HTTP2_PING_TIMEOUT);
    let stream = ErrorReplacingStream::new(WriteTimeout::new(stream, timeouts.send));
    builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned()
}

#[cfg(test)]
mod tests;
