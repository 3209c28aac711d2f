//! Tests that connections are pooled by the lane that opened them.

mod closed;

use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lanes::{LanePool, LaneSeat};

use super::*;

/// A server that answers every request and counts the connections.
fn counting_server() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let opened = Arc::clone(&count);
    thread::spawn(move || {
        for stream in listener.incoming() {
            opened.fetch_add(1, Ordering::Relaxed);
            let mut writing = stream.unwrap();
            let lines = BufReader::new(writing.try_clone().unwrap()).lines();
            thread::spawn(move || {
                for line in lines.map_while(Result::ok) {
                    if line.is_empty() {
                        writing.write_all(OK.as_bytes()).unwrap();
                    }
                }
            });
        }
    });
    (address, count)
}

async fn ask(client: &OutboundClient, target: &RequestTarget) {
    assert_eq!(client.get(target, "").await.unwrap().read_whole(2).await.unwrap(), "hi");
}

#[tokio::test]
async fn one_request_after_the_other_takes_one_connection() {
    let (address, opened) = counting_server();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{address}/"));
    for _ in 0..3 {
        ask(&client, &target).await;
    }
    assert_eq!(opened.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn each_lane_uses_its_own_connections() {
    let (address, opened) = counting_server();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{address}/"));
    let lanes = LanePool::start(NonZeroUsize::new(2).unwrap()).unwrap();
    let seats: [LaneSeat; 2] = [lanes.take_seat(), lanes.take_seat()];
    for seat in seats.iter().chain(&seats) {
        let (client, target) = (client.clone(), target.clone());
        let asking = async move { ask(&client, &target).await };
        seat.runtime().spawn(asking).await.unwrap();
    }
    assert_eq!(opened.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn an_answer_that_nobody_reads_leaves_its_connection_if_it_has_come() {
    let (address, opened) = counting_server();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{address}/"));
    for _ in 0..3 {
        assert_eq!(client.get(&target, "").await.unwrap().status(), 200);
    }
    assert_eq!(opened.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_connection_goes_back_with_the_last_piece_whoever_holds_the_body() {
    let (address, opened) = counting_server();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{address}/"));
    let mut pieces = client.get(&target, "").await.unwrap().into_pieces();
    assert_eq!(pieces.next().await.unwrap().unwrap(), "hi");
    ask(&client, &target).await;
    assert_eq!(opened.load(Ordering::Relaxed), 1);
    assert_eq!(pieces.next().await.unwrap(), None);
}

#[tokio::test]
async fn a_connection_that_was_idle_for_too_long_is_not_used() {
    let (address, opened) = counting_server();
    let (connect_timeout, idle_max) = (Duration::from_secs(1), Duration::ZERO);
    let client = OutboundClient::new(ConnectSettings {
        way: ConnectVia::Straight,
        connect_timeout,
        idle_max,
    })
    .unwrap();
    let target = target(&client, &format!("http://{address}/"));
    ask(&client, &target).await;
    ask(&client, &target).await;
    assert_eq!(opened.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_unix_socket_is_spoken_to_like_any_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for _ in 0..2 {
            let lines = BufReader::new(&mut stream).lines().map(Result::unwrap);
            assert!(lines.take_while(|line| !line.is_empty()).count() > 0);
            stream.write_all(OK.as_bytes()).unwrap();
        }
    });
    let client = client(ConnectVia::Socket(path));
    let target = target(&client, "http://engine/");
    ask(&client, &target).await;
    ask(&client, &target).await;
    served.join().unwrap();
}
