//! Tests with clients that send or read slowly, at every route of both listeners. The paths come
//! from the routers themselves, so that no route is forgotten.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request};
use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::stream;
use http_body_util::{BodyExt, Empty};
use http_frame::origin::PeerAddress;
use http_frame::transport::connection_limits::ConnectionLimits;
use http_frame::transport::server::{BoundedListener, serve_listener};
use http_frame::transport::timeouts::ConnectionTimeouts;
use hyper_util::rt::{TokioExecutor, TokioIo};
use lanes::LanePool;
use testkit::app::TestApp;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::console::{begin, cookie};

/// Maximum time for a body that does not arrive. If it is read: 20 s, 1 s before the refusal and 1 s of
/// draining beside it. If not: 1 s, and 2 s of draining.
const BODY_TIME_MAX: Duration = Duration::from_secs(25);
const METHODS: [Method; 4] = [Method::GET, Method::POST, Method::PATCH, Method::DELETE];
const CONTENT_TYPES: [&str; 2] = ["application/json", "multipart/form-data; boundary=x"];

/// A path that matches a route.
fn path_of(route: &str) -> String {
    let segments = route.split('/').map(|it| if it.starts_with('{') { "x" } else { it });
    segments.collect::<Vec<_>>().join("/")
}

fn admin_router(app: &TestApp) -> Router {
    api::admin::build_router(
        app.app.clone(),
        Arc::new(|| "metric 1\n".repeat(1_000)),
        Arc::new(|| None),
    )
}

/// The times at which the service began to read a body and dropped it.
#[derive(Debug, Default)]
struct BodyTimes {
    begun: OnceLock<Instant>,
    ended: OnceLock<Instant>,
}

struct WatchedBody(Arc<BodyTimes>);

impl Drop for WatchedBody {
    fn drop(&mut self) {
        self.0.ended.get_or_init(Instant::now);
    }
}

/// A body that sends a byte every five seconds, for ever.
fn slow_body(times: &Arc<BodyTimes>) -> Body {
    let watched = WatchedBody(Arc::clone(times));
    Body::from_stream(stream::unfold(watched, |watched| async move {
        watched.0.begun.get_or_init(Instant::now);
        sleep(Duration::from_secs(5)).await;
        Some((Ok::<_, Infallible>(Bytes::from_static(b" ")), watched))
    }))
}

async fn credentials(app: &TestApp) -> [HeaderMap; 3] {
    let mut key = HeaderMap::new();
    let bearer = format!("Bearer {}", app.admin_secret());
    key.insert("authorization", HeaderValue::from_str(&bearer).unwrap());
    let reply = begin(&app.anonymous(), &serde_json::json!({ "key": app.admin_secret() })).await;
    let mut session = HeaderMap::new();
    session.insert("cookie", HeaderValue::from_str(&cookie(&reply)).unwrap());
    let proof = reply.ok_json()["proof"].as_str().unwrap().to_owned();
    session.insert("x-console-proof", HeaderValue::from_str(&proof).unwrap());
    [HeaderMap::new(), key, session]
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_in_is_given_up_at_every_route() {
    let app = TestApp::start().await;
    let (public, operators) = (app.build_router(), admin_router(&app));
    let public = api::route_paths().into_iter().map(|path| (public.clone(), path));
    let operators = api::admin::route_paths().into_iter().map(|path| (operators.clone(), path));
    let credentials = credentials(&app).await;
    let (mut sent, mut watched) = (Vec::new(), Vec::new());
    for (router, route) in public.chain(operators) {
        for method in METHODS {
            // This would end the session of the following requests.
            if method == Method::DELETE && route == "/console/session" {
                continue;
            }
            for (credential, content_type) in
                credentials.iter().flat_map(|it| CONTENT_TYPES.map(|kind| (it, kind)))
            {
                let times = Arc::<BodyTimes>::default();
                let uri = path_of(&route);
                let mut request = Request::new(slow_body(&times));
                *request.method_mut() = method.clone();
                *request.uri_mut() = uri.parse().unwrap();
                *request.headers_mut() = credential.clone();
                request
                    .headers_mut()
                    .insert("content-type", HeaderValue::from_static(content_type));
                request.headers_mut().insert("host", HeaderValue::from_static("testhost"));
                // A different address for each: addresses with many failures are not read at all.
                let address = IpAddr::V4(Ipv4Addr::from_bits(0x0900_0000 + watched.len() as u32));
                request.extensions_mut().insert(PeerAddress(SocketAddr::new(address, 1)));
                watched.push((format!("{method} {route} {content_type}"), times));
                sent.push(router.clone().oneshot(request));
            }
        }
    }
    let requests = sent.len();
    join_all(sent).await;
    // The rest of some bodies is drained beside the response.
    sleep(BODY_TIME_MAX).await;
    let mut read = 0;
    for (what, times) in watched {
        let ended = times.ended.get().unwrap_or_else(|| panic!("{what}: its body is still held"));
        let Some(begun) = times.begun.get() else { continue };
        read += 1;
        assert!(*ended - *begun <= BODY_TIME_MAX, "{what}: {:?}", *ended - *begun);
    }
    assert!(requests / 2 < read, "{read} of {requests} bodies were read at all");
}

#[expect(clippy::disallowed_methods, reason = "the server ends with the test")]
async fn listen(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (addresses, timeouts) = (ConnectionLimits::unbounded(), ConnectionTimeouts::default());
    let listening = BoundedListener { listener, addresses, timeouts };
    tokio::spawn(serve_listener(
        listening,
        router,
        Arc::new(LanePool::on_current_runtime()),
        TaskTracker::new(),
        CancellationToken::new(),
        Duration::ZERO,
    ));
    address
}

/// Requests every path over one connection, and reads no byte of any response.
#[expect(clippy::disallowed_methods, reason = "the client's connection task ends with the test")]
async fn accept_nothing(address: SocketAddr, routes: Vec<String>) -> usize {
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(0)
        .handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let responses = routes.iter().map(|route| {
        let mut sender = sender.clone();
        let uri = format!("http://{address}{}", path_of(route));
        async move {
            let request = hyper::Request::get(uri).body(Empty::<Bytes>::new()).unwrap();
            let response = sender.send_request(request).await.unwrap();
            let status = response.status();
            match response.into_body().collect().await {
                Ok(body) => {
                    let length = body.to_bytes().len();
                    assert_eq!(length, 0, "{route} {status}: {length} bytes were sent unasked");
                    0
                }
                Err(_) => 1,
            }
        }
    });
    let ended = timeout(ConnectionTimeouts::default().send * 4, join_all(responses)).await;
    ended.expect("every stream ends in time").into_iter().sum()
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_not_accepted_is_given_up_at_every_route() {
    let app = TestApp::start().await;
    let routes = api::route_paths();
    let (public, count) = (listen(app.build_router()).await, routes.len());
    let reset = accept_nothing(public, routes).await;
    // The others have no body, such as redirects.
    assert!(count - 5 < reset, "{reset} of {count} streams were reset");
    let operators = listen(admin_router(&app)).await;
    assert_eq!(accept_nothing(operators, api::admin::route_paths()).await, 3);
}
