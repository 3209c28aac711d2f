//! Tests of the server on a real socket: HTTP/1.1 and h2c, reason phrases, slow clients, shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use http_frame::transport::connection_limits::ConnectionLimits;
use http_frame::transport::server::{BoundedListener, serve_listener};
use http_frame::transport::timeouts::ConnectionTimeouts;
use hyper_util::rt::{TokioExecutor, TokioIo};
use lanes::LanePool;
use testkit::app::TestApp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

struct Running {
    address: SocketAddr,
    stop: CancellationToken,
    server: tokio::task::JoinHandle<()>,
    _app: TestApp,
}

async fn start() -> Running {
    start_with(ConnectionLimits::unbounded()).await
}

#[expect(clippy::disallowed_methods, reason = "the test itself is what waits for the server")]
async fn start_with(addresses: Arc<ConnectionLimits>) -> Running {
    let app = TestApp::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let router = app.build_router();
    let serving = serve_listener(
        BoundedListener { listener, addresses, timeouts: ConnectionTimeouts::default() },
        router,
        Arc::new(LanePool::on_current_runtime()),
        app.app.tasks.clone(),
        stop.clone(),
        Duration::from_secs(5),
    );
    Running { address, stop, server: tokio::spawn(serving), _app: app }
}

async fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut reply = vec![0; 8192];
    let read = stream.read(&mut reply).await.unwrap();
    String::from_utf8_lossy(&reply[..read]).into_owned()
}

#[tokio::test]
async fn http1_shows_the_reason_in_its_status_line() {
    let running = start().await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let reply = ask(&mut stream, "GET /api/v1/api_keys HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(reply.starts_with("HTTP/1.1 401 Authentication failed\r\n"), "{reply}");
    let again = ask(&mut stream, "GET /api/v1/nowhere HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(again.starts_with("HTTP/1.1 404 Not found\r\n"), "the connection is kept: {again}");
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the client's connection task ends with the test")]
async fn http2_without_tls_is_served_on_the_same_port() {
    let running = start().await;
    let stream = TcpStream::connect(running.address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    let request = hyper::Request::get(format!("http://{}/api/v1/models", running.address))
        .body(Empty::<bytes::Bytes>::new())
        .unwrap();
    let reply = sender.send_request(request).await.unwrap();
    assert_eq!(reply.status(), 200);
    assert_eq!(reply.version(), hyper::Version::HTTP_2);
    reply.into_body().collect().await.unwrap();
}

#[tokio::test]
async fn garbage_is_a_400_and_the_server_goes_on() {
    let running = start().await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let reply = ask(&mut stream, "\x16\x03\x01 this is not http\r\n\r\n").await;
    assert!(reply.starts_with("HTTP/1.1 400"), "{reply}");
    let body = reply.split("\r\n\r\n").nth(1).unwrap();
    assert_eq!(body, r#"{"error":"The HTTP request is malformed."}"#);
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let reply = ask(&mut stream, "GET /api/v1/models HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
}

#[tokio::test]
async fn a_body_cut_short_leaves_nothing_behind() {
    let running = start().await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let request = "POST /api/v1/api_keys HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                   content-length: 1000\r\n\r\n{\"apiKeyType\":";
    stream.write_all(request.as_bytes()).await.unwrap();
    drop(stream);
    running.stop.cancel();
    running.server.await.unwrap();
}

#[tokio::test]
async fn stopping_lets_idle_connections_go_and_ends() {
    let running = start().await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    ask(&mut stream, "GET /api/v1/models HTTP/1.1\r\nhost: x\r\n\r\n").await;
    running.stop.cancel();
    running.server.await.unwrap();
    assert!(TcpStream::connect(running.address).await.is_err(), "nobody listens any more");
}

#[tokio::test(start_paused = true)]
async fn connections_that_say_nothing_or_half_a_word_are_closed() {
    let running = start().await;
    for said in ["", "P", "GET /api/v1/models HTTP/1.1\r\nhost:"] {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"", "after {said:?}");
    }
}

/// Lets the server process everything that it has received.
async fn pass_time() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_address_has_a_bound_of_connections_and_gets_its_places_back() {
    let running = start_with(ConnectionLimits::new(2, Arc::new(|_| false))).await;
    let request = "GET /api/v1/models HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut first = TcpStream::connect(running.address).await.unwrap();
    let mut second = TcpStream::connect(running.address).await.unwrap();
    assert!(ask(&mut first, request).await.starts_with("HTTP/1.1 200"));
    assert!(ask(&mut second, request).await.starts_with("HTTP/1.1 200"));
    let mut third = TcpStream::connect(running.address).await.unwrap();
    let _ = third.write_all(request.as_bytes()).await;
    let read = third.read(&mut [0; 16]).await;
    assert!(matches!(read, Ok(0) | Err(_)), "it is closed without an answer: {read:?}");
    drop(first);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    loop {
        let mut next = TcpStream::connect(running.address).await.unwrap();
        let sent = next.write_all(request.as_bytes()).await;
        if sent.is_ok() && next.read(&mut [0; 16]).await.is_ok_and(|read| 0 < read) {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "its place was not given back");
    }
}

#[tokio::test]
async fn a_body_that_comes_after_its_head_does_not_cost_the_connection() {
    let running = start().await;
    for path in ["/api/v1/x402/top-up", "/api/v1/nowhere", "/api/v1/models"] {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        pass_time().await;
        let reply = ask(&mut stream, "{}").await;
        assert!(reply.starts_with("HTTP/1.1 4"), "{reply}");
        assert!(!reply.contains("connection: close"), "{reply}");
        let again = ask(&mut stream, "GET /api/v1/models HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(again.starts_with("HTTP/1.1 200"), "{path}: {again}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_comes_is_answered_with_a_word_of_the_close() {
    let running = start().await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let head = "POST /api/v1/nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.unwrap();
    let reply = String::from_utf8(reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 404"), "{reply}");
    assert!(reply.contains("connection: close"), "{reply}");
}

#[tokio::test]
async fn a_client_that_waits_before_it_sends_is_answered_at_once() {
    let running = start().await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let head = "POST /api/v1/nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\
                expect: 100-continue\r\n\r\n";
    let reply = ask(&mut stream, head).await;
    assert!(reply.starts_with("HTTP/1.1 404"), "{reply}");
    assert!(reply.contains("connection: close"), "{reply}");
}

#[tokio::test]
async fn whoever_sends_too_much_reads_the_answer_and_not_a_broken_connection() {
    let running = start().await;
    let key = running._app.admin_secret().to_owned();
    let cases = [
        ("x-nothing: 1".to_owned(), 8 * 1024 * 1024, "HTTP/1.1 402"),
        (format!("authorization: Bearer {key}"), 48 * 1024 * 1024, "HTTP/1.1 413"),
    ];
    for (header, length, status) in cases {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        let head = format!(
            "POST /api/v1/chat/completions HTTP/1.1\r\nhost: x\r\n{header}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The whole body is sent before anything is read, as simple clients do.
        stream.write_all(&vec![b' '; length]).await.unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).await.unwrap();
        let reply = String::from_utf8(reply).unwrap();
        assert!(reply.starts_with(status), "{reply}");
        assert!(reply.contains("connection: close"), "{reply}");
    }
}

#[tokio::test]
async fn headers_beyond_the_bound_are_refused_in_the_shape_of_all_refusals() {
    let running = start().await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let head =
        format!("GET /api/v1/models HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "y".repeat(80_000));
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.unwrap();
    let reply = String::from_utf8(reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 431 "), "{reply}");
    assert!(reply.contains("content-type: application/json\r\n"), "{reply}");
    assert!(reply.contains(r#"{"error":"The request line and headers are too large."#), "{reply}");
}

#[tokio::test]
async fn a_request_names_its_host_once() {
    let running = start().await;
    for hosts in ["", "host: a\r\nhost: b\r\n", "host: a\r\nhost: a\r\n"] {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        let reply = ask(&mut stream, &format!("GET /api/v1/models HTTP/1.1\r\n{hosts}\r\n")).await;
        assert!(reply.starts_with("HTTP/1.1 400 "), "{hosts:?}: {reply}");
    }
}
