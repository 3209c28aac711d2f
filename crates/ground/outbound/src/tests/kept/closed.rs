//! Tests of connections that end: closed by the server, too old, or with a response not read
//! completely.

use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;

use super::*;
use crate::connection::{PlainConnection, SendError};
use crate::outgoing_request::OutgoingRequest;
use crate::pool::IDLE_PER_SERVER_MAX;
use crate::socket::PlainSocket;
use crate::tests::held::{Held, accept, beside, hear};

#[tokio::test]
async fn what_a_server_closed_while_it_was_idle_is_replaced_without_a_word() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    for _ in 0..2 {
        let listener = held.listener.try_clone().unwrap();
        let serve = move || {
            let mut stream = accept(&listener);
            hear(&mut stream);
            stream.write_all(OK.as_bytes()).unwrap();
            stream
        };
        let stream = beside(serve, ask(&client, &target)).await;
        stream.shutdown(Shutdown::Both).unwrap();
        // Lets the event loop notice the close.
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_a_server_reset_unnoticed_is_replaced_without_a_word() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    for _ in 0..2 {
        let listener = held.listener.try_clone().unwrap();
        let serve = move || {
            let mut stream = accept(&listener);
            stream.read_exact(&mut [0]).unwrap();
            stream.write_all(OK.as_bytes()).unwrap();
            stream
        };
        // Closing with unread bytes sends a reset, which the event loop does not notice.
        drop(beside(serve, ask(&client, &target)).await);
    }
}

#[tokio::test]
async fn what_a_server_may_have_seen_is_not_sent_again() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    let listener = held.listener.try_clone().unwrap();
    let serve = move || {
        let mut stream = accept(&listener);
        hear(&mut stream);
        stream.write_all(OK.as_bytes()).unwrap();
        // The second request is read and never answered.
        hear(&mut stream);
    };
    let asking = async {
        ask(&client, &target).await;
        let error = client.get(&target, "").await.err().unwrap();
        expect![[
            r#"Broken("client error (SendRequest): connection closed before message completed")"#
        ]]
        .assert_eq(&format!("{error:?}"));
    };
    beside(serve, asking).await;
    assert!(held.is_left_alone());
}

#[tokio::test]
async fn a_connection_that_nobody_used_for_long_is_closed() {
    let held = Held::new();
    let idle_max = Duration::from_millis(20);
    let reach = ConnectSettings {
        way: ConnectVia::Straight,
        connect_timeout: Duration::from_secs(1),
        idle_max,
    };
    let client = OutboundClient::new(reach).unwrap();
    let target = target(&client, &format!("http://{}/", held.address));
    let serve = move || {
        let mut stream = held.accept();
        hear(&mut stream);
        stream.write_all(OK.as_bytes()).unwrap();
        stream.read(&mut [0]).unwrap()
    };
    assert_eq!(beside(serve, ask(&client, &target)).await, 0, "the client closes it");
}

#[tokio::test]
async fn a_server_that_wants_to_close_is_left_to() {
    const LAST: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi";
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    for _ in 0..2 {
        let listener = held.listener.try_clone().unwrap();
        let serve = move || {
            let mut stream = accept(&listener);
            hear(&mut stream);
            stream.write_all(LAST.as_bytes()).unwrap();
            stream.read(&mut [0]).unwrap()
        };
        assert_eq!(beside(serve, ask(&client, &target)).await, 0, "the client closes it");
    }
}

#[tokio::test]
async fn an_answer_in_chunks_leaves_its_connection_for_the_next_request() {
    const CHUNKS: &str =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    let listener = held.listener.try_clone().unwrap();
    let serve = move || {
        let mut stream = accept(&listener);
        for _ in 0..2 {
            hear(&mut stream);
            stream.write_all(CHUNKS.as_bytes()).unwrap();
        }
    };
    let asking = async {
        ask(&client, &target).await;
        ask(&client, &target).await;
    };
    beside(serve, asking).await;
    assert!(held.is_left_alone());
}

#[tokio::test]
async fn an_answer_that_is_not_read_to_its_end_takes_its_connection_with_it() {
    const BEGUN: &str = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi";
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    let serve = move || {
        let mut stream = held.accept();
        hear(&mut stream);
        stream.write_all(BEGUN.as_bytes()).unwrap();
        stream.read(&mut [0]).unwrap()
    };
    let asking = async {
        let mut pieces = client.get(&target, "").await.unwrap().into_pieces();
        assert_eq!(pieces.next().await.unwrap().unwrap(), "hi");
    };
    assert_eq!(beside(serve, asking).await, 0, "the client closes it");
}

#[tokio::test]
async fn an_answer_that_nobody_waits_for_takes_its_connection_with_it() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    let (heard, is_heard) = mpsc::channel();
    let serve = move || {
        let mut stream = held.accept();
        hear(&mut stream);
        heard.send(()).unwrap();
        stream.read(&mut [0]).unwrap()
    };
    let (given_up, is_given_up) = tokio::sync::oneshot::channel();
    thread::spawn(move || {
        is_heard.recv().unwrap();
        given_up.send(()).unwrap();
    });
    let asking = async {
        tokio::select! {
            _ = client.get(&target, "") => panic!("there is no answer"),
            _ = is_given_up => {}
        }
    };
    assert_eq!(beside(serve, asking).await, 0, "the client closes it");
}

#[tokio::test]
async fn a_server_that_says_something_unasked_is_not_asked_again() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    for more in ["HTTP/1.1 200 OK\r\n", "\r\n", ""] {
        let listener = held.listener.try_clone().unwrap();
        let serve = move || {
            let mut stream = accept(&listener);
            hear(&mut stream);
            stream.write_all(OK.as_bytes()).unwrap();
            stream
        };
        let mut stream = beside(serve, ask(&client, &target)).await;
        stream.write_all(more.as_bytes()).unwrap();
        // Lets the event loop notice the close.
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_request_of_which_nothing_could_be_written_comes_back() {
    let held = Held::new();
    let mut stream = TcpStream::connect(held.address).unwrap();
    stream.write_all(b"unread").unwrap();
    let theirs = held.accept();
    theirs.peek(&mut [0]).unwrap();
    // Closing with unread bytes sends a reset.
    drop(theirs);
    stream.set_nonblocking(true).unwrap();
    let stream = tokio::net::TcpStream::from_std(stream).unwrap();
    let mut wire = PlainConnection::new(PlainSocket::Tcp(stream));
    let sent = wire.send(OutgoingRequest::get("/", &HeaderMap::new())).await;
    assert!(matches!(sent, Err(SendError::Unsent(..))));
}

#[tokio::test]
async fn no_more_connections_are_kept_than_may_be() {
    let held = Held::new();
    let (connect_timeout, idle_max) = (Duration::from_secs(20), Duration::from_secs(600));
    let client = OutboundClient::new(ConnectSettings {
        way: ConnectVia::Straight,
        connect_timeout,
        idle_max,
    })
    .unwrap();
    let target = target(&client, &format!("http://{}/", held.address));
    let serve = move || {
        let mut streams: Vec<_> = (0..=IDLE_PER_SERVER_MAX).map(|_| held.accept()).collect();
        for stream in &mut streams {
            hear(stream);
            stream.write_all(OK.as_bytes()).unwrap();
        }
        streams
    };
    let all =
        futures_util::future::join_all((0..=IDLE_PER_SERVER_MAX).map(|_| ask(&client, &target)));
    let asking = async { drop(all.await) };
    let is_closed = |mut stream: TcpStream| {
        stream.set_nonblocking(true).unwrap();
        stream.read(&mut [0]).is_ok()
    };
    let streams = beside(serve, asking).await;
    assert_eq!(streams.into_iter().map(is_closed).filter(|it| *it).count(), 1);
}
