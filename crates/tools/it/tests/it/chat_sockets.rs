//! Tests of chats over a real socket: the effect of a broken connection on the upstream work.

use std::sync::Arc;
use std::time::Duration;

use http_frame::transport::connection_limits::ConnectionLimits;
use http_frame::transport::server::{BoundedListener, serve_listener};
use http_frame::transport::timeouts::ConnectionTimeouts;
use lanes::LanePool;
use serde_json::json;
use testkit::app::TestApp;
use testkit::upstream::UpstreamScript;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::chat::ask;

/// Sends a chat as HTTP/1.1 and returns the connection once its request is written.
async fn send(app: &TestApp, stop: &CancellationToken, body: &str) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = app.build_router();
    let (lanes, tasks) = (Arc::new(LanePool::on_current_runtime()), app.app.tasks.clone());
    let grace = Duration::from_secs(5);
    let (addresses, timeouts) = (ConnectionLimits::unbounded(), ConnectionTimeouts::default());
    let listening = BoundedListener { listener, addresses, timeouts };
    let serving = serve_listener(listening, router, lanes, tasks, stop.clone(), grace);
    TaskTracker::new().spawn(serving);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /api/v1/chat/completions HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        app.admin_secret(),
        body.len(),
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Reads until `wanted` has arrived.
async fn read_to(stream: &mut TcpStream, wanted: &str) {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(wanted) {
        let count = stream.read_buf(&mut read).await.unwrap();
        assert_ne!(count, 0, "closed before {wanted:?}: {}", String::from_utf8_lossy(&read));
    }
}

#[tokio::test]
async fn a_connection_that_breaks_ends_the_stream_upstream_and_is_billed() {
    let app = TestApp::start().await;
    let stop = CancellationToken::new();
    let pace = Arc::new(Semaphore::new(2));
    app.upstream.queue_script(
        UpstreamScript::word_stream(&["Hello ", "there ", "friend"], None).with_pace(&pace),
    );
    let body = ask("kimi-k3", &json!({"stream": true})).to_string();
    let mut stream = send(&app, &stop, &body).await;
    read_to(&mut stream, "there ").await;
    drop(stream);
    app.upstream.wait_for_hangup().await;
    stop.cancel();
    assert!(0 < app.verify_spent().await.nanos());
    assert_eq!(app.app.ledger.status().settled_total, 1);
}

#[tokio::test]
async fn each_chunk_is_on_the_wire_before_the_next_is_made() {
    let app = TestApp::start().await;
    let stop = CancellationToken::new();
    let pace = Arc::new(Semaphore::new(0));
    app.upstream
        .queue_script(UpstreamScript::word_stream(&["one", "two", "three"], None).with_pace(&pace));
    let body = ask("kimi-k3", &json!({"stream": true})).to_string();
    let mut stream = send(&app, &stop, &body).await;
    for word in ["one", "two", "three"] {
        pace.add_permits(1);
        read_to(&mut stream, word).await;
    }
    pace.add_permits(10);
    read_to(&mut stream, "[DONE]").await;
    drop(stream);
    stop.cancel();
    app.verify_spent().await;
}

#[tokio::test]
async fn a_connection_that_breaks_does_not_stop_a_whole_answer() {
    let app = TestApp::start().await;
    let stop = CancellationToken::new();
    let pace = Arc::new(Semaphore::new(0));
    app.upstream.queue_script(UpstreamScript::hello().with_pace(&pace));
    let stream = send(&app, &stop, &ask("kimi-k3", &json!({})).to_string()).await;
    app.upstream.wait_for_request().await;
    drop(stream);
    pace.add_permits(1);
    stop.cancel();
    assert_eq!(app.verify_spent().await.nanos(), 20 * 1_400 + 3 * 4_400);
}
