//! The server on a real socket: HTTP/1.1 and h2c, reason phrases, slow clients, and stopping.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use lanes::Lanes;
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

#[expect(clippy::disallowed_methods, reason = "the test itself is what waits for the server")]
async fn start() -> Running {
    let app = TestApp::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let router = api::router(app.app.clone());
    let serving = api::transport::server::serve(
        listener,
        router,
        (Arc::new(Lanes::here()), app.app.tasks.clone()),
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
