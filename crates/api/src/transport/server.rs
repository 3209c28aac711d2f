//! Accepts connections and serves them, HTTP/1.1 and HTTP/2 alike, until told to stop.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{CONNECTION, HOST};
use axum::http::{HeaderValue, Version};
use axum::response::IntoResponse;
use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use lanes::Lanes;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use super::addresses::{AddressSlot, Addresses};
use super::closing::{HANDSHAKE_MAX, LINGER, linger, turn_new_ones_away};
use super::idle::{IDLE_MAX, UnderWay};
use super::lasting::keep_until_sent;
use super::unparsed::Unparsed;
use super::write_timeout::WriteTimeout;
use crate::origin::Peer;
use crate::refusal::Refusal;
use crate::refusal::openai_error::response_shape;

/// Beyond this many, new connections wait in the kernel's queue.
const CONNECTIONS_MAX: u32 = 16_384;
/// How long a client may take over its request line and headers, and how long it may keep a
/// connection open without asking for anything.
const HEADERS_TIMEOUT: Duration = Duration::from_secs(30);
const HEADER_BYTES_MAX: usize = 64 * 1024;
const HTTP2_STREAMS_MAX: u32 = 256;
/// After a failed accept (out of file descriptors, say) there is no use in trying at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves `router` until `stop`, then the connections made until then, and lets answers under way
/// end, for at most `grace`. Each connection gets a seat in one of the `lanes`, if its address has
/// a place left.
///
/// The compiler makes the code of a future where it is polled. In a box that is here, and not with
/// whoever starts the service, which the quick profile does not optimise.
pub fn serve(
    listener: (TcpListener, Arc<Addresses>),
    router: Router,
    place: (Arc<Lanes>, TaskTracker),
    stop: CancellationToken,
    grace: Duration,
) -> BoxFuture<'static, ()> {
    Box::pin(serve_until(listener, router, place, stop, grace))
}

async fn serve_until(
    (listener, addresses): (TcpListener, Arc<Addresses>),
    router: Router,
    (lanes, tasks): (Arc<Lanes>, TaskTracker),
    stop: CancellationToken,
    grace: Duration,
) {
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX as usize));
    let mut closing = None;
    loop {
        let next = accept(&listener, &connections, &addresses);
        let accepted = if let Some(closed_by) = closing {
            match timeout_at(Instant::min(closed_by, Instant::now() + HANDSHAKE_MAX), next).await {
                Ok(accepted) => accepted,
                Err(_) => break,
            }
        } else {
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    turn_new_ones_away(&listener);
                    closing = Some(Instant::now() + LINGER);
                    continue;
                }
                accepted = next => accepted,
            }
        };
        match accepted {
            Ok(None) => tracing::debug!("an address has all the connections that it may have"),
            Ok(Some((stream, peer, permit))) => {
                let (seat, watcher) = (lanes.seat(), graceful.watcher());
                let lane = seat.runtime().clone();
                let served = (router.clone(), stop.clone());
                let attended = seat.gather(attend(stream, peer, served, watcher));
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
    linger(&connections, CONNECTIONS_MAX).await;
    if timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some answers had not ended {}s after the stop", grace.as_secs());
    }
}

/// Serves one connection to its end, in the lane that this runs in.
async fn attend(
    stream: std::net::TcpStream,
    peer: Peer,
    served: (Router, CancellationToken),
    watcher: Watcher,
) {
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => {
            tracing::warn!(error = %error, "a connection was not taken over: {error}");
            return;
        }
    };
    let (heard, under_way) = (CancellationToken::new(), UnderWay::new());
    let connection = connect(stream, peer, served, (heard.clone(), under_way.clone()));
    let connection = watcher.watch(connection);
    tokio::select! {
        biased;
        ended = connection => if let Err(error) = ended {
            tracing::debug!(error = %error, "a connection ended early: {error}");
        },
        () = silence(heard, under_way) => tracing::debug!("a connection asked for nothing"),
    }
}

/// Ends if no request has come in time. Until the first bytes tell HTTP/1.1 from HTTP/2, neither
/// protocol's own timeout runs, and a silent connection would keep its place for ever.
/// Later on, that of HTTP/1.1 does, and for HTTP/2 we look ourselves.
async fn silence(heard: CancellationToken, under_way: UnderWay) {
    if timeout(HEADERS_TIMEOUT, heard.cancelled()).await.is_ok() {
        under_way.idle(IDLE_MAX).await;
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
    addresses: &Arc<Addresses>,
) -> std::io::Result<Option<(std::net::TcpStream, Peer, (OwnedSemaphorePermit, AddressSlot))>> {
    let permit = Arc::clone(connections).acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    let Some(place) = addresses.place(peer.ip()) else { return Ok(None) };
    // Tokens of a stream are small packets; each must leave at once.
    stream.set_nodelay(true)?;
    // The lane that serves it registers it with its own event loop.
    Ok(Some((stream.into_std()?, Peer(peer), (permit, place))))
}

/// RFC 9112: a request without a host, or with two, is refused. Whatever stands before us may have
/// read the other one.
fn has_one_host<B>(request: &hyper::Request<B>) -> bool {
    let count = request.headers().get_all(HOST).iter().count();
    match request.version() {
        Version::HTTP_11 => count == 1,
        _ => count <= 1,
    }
}

fn connect(
    stream: TcpStream,
    peer: Peer,
    (router, stop): (Router, CancellationToken),
    (heard, under_way): (CancellationToken, UnderWay),
) -> impl hyper_util::server::graceful::GracefulConnection<
    Error = Box<dyn std::error::Error + Send + Sync>,
> {
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let asked = under_way.begin(request.version());
        heard.cancel();
        let is_well_named = has_one_host(&request);
        let shape = response_shape(request.uri().path());
        let is_http_1 = request.version() < Version::HTTP_2;
        let stop = stop.clone();
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(peer);
        // A router is always ready.
        let answered = router.clone().call(request);
        async move {
            if !is_well_named {
                return Ok(shape(Refusal::bad_host().into_response()));
            }
            let mut response = answered.await?;
            // The last answer on this connection: the client opens another one for its next
            // request.
            if is_http_1 && stop.is_cancelled() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, std::convert::Infallible>(match asked {
                Some(asked) => keep_until_sent(asked, response),
                None => response,
            })
        }
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
    let stream = Unparsed::new(WriteTimeout::new(stream));
    builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned()
}

#[cfg(test)]
mod tests;
