//! Tests how a listener closes: established connections are answered, new ones are refused.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

use super::super::graceful_close::LINGER;
use super::*;

const ASK: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";

async fn started() -> (SocketAddr, CancellationToken, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let router = Router::new().route("/", get(async || "answered"));
    let (lanes, tasks) = (Arc::new(LanePool::on_current_runtime()), TaskTracker::new());
    let (addresses, timeouts) = (ConnectionLimits::unbounded(), ConnectionTimeouts::default());
    let listening = BoundedListener { listener, addresses, timeouts };
    let grace = Duration::from_secs(10);
    let served = serve_listener(listening, router, lanes, tasks, stop.clone(), grace);
    (address, stop, TaskTracker::new().spawn(served))
}

async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(ASK).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"answered") {
        let read = stream.read_buf(&mut answer).await.unwrap();
        assert_ne!(read, 0, "closed after {:?}", String::from_utf8_lossy(&answer));
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn whoever_connected_before_the_stop_is_answered_and_told_that_it_is_the_last_time() {
    let (address, stop, served) = started().await;
    let mut silent = TcpStream::connect(address).await.unwrap();
    let mut used = TcpStream::connect(address).await.unwrap();
    assert!(!ask(&mut used).await.contains("connection: close"));
    stop.cancel();
    for stream in [&mut silent, &mut used] {
        assert!(ask(stream).await.contains("connection: close"));
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0, "it is closed then");
    }
    let begun = Instant::now();
    served.await.unwrap();
    assert!(begun.elapsed() < LINGER, "nobody is waited for who has gone");
    TcpStream::connect(address).await.unwrap_err();
}

#[tokio::test]
async fn connections_that_ask_for_nothing_are_closed_in_the_end() {
    let (address, stop, served) = started().await;
    let mut silent = TcpStream::connect(address).await.unwrap();
    stop.cancel();
    served.await.unwrap();
    assert_eq!(silent.read(&mut [0]).await.unwrap(), 0);
}

/// Connections made while the listener closes are answered or were never established.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_turned_away_after_being_let_in() {
    for _ in 0..20 {
        let (address, stop, served) = started().await;
        let answers = Arc::new(AtomicUsize::new(0));
        let mut callers = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (answers, stop) = (Arc::clone(&answers), stop.clone());
            callers.spawn(async move {
                // The client retries a dropped SYN after a second, later than this timeout.
                while let Ok(Ok(mut stream)) =
                    timeout(Duration::from_millis(500), TcpStream::connect(address)).await
                {
                    ask(&mut stream).await;
                    if answers.fetch_add(1, Ordering::SeqCst) == 40 {
                        stop.cancel();
                    }
                }
            });
        }
        callers.join_all().await;
        served.await.unwrap();
    }
}
