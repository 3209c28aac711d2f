//! Tests of responses that arrive before the request is completely written.

use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;

use super::held::{Held, accept, beside, hear};
use super::*;

const LONG_BYTES: usize = 8 * 1024 * 1024;
const REFUSED: &str = "HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\n\r\nno";

/// Content larger than the socket buffers.
fn long() -> RequestContent {
    let media_type = HeaderValue::from_static("text/plain");
    let middle: Vec<u8> = (0..LONG_BYTES).map(|number| (number / 7) as u8).collect();
    RequestContent::in_three(media_type, Bytes::from("before"), middle.into(), Bytes::from("after"))
}

fn read_long(stream: &mut TcpStream) -> Vec<u8> {
    let mut body = vec![0; "before".len() + LONG_BYTES + "after".len()];
    stream.read_exact(&mut body).unwrap();
    body
}

/// Reads a request head, to its last byte and no further.
fn hear_head(stream: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
}

#[tokio::test]
async fn long_content_reaches_the_server_whole() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    let listener = held.listener.try_clone().unwrap();
    let serve = move || {
        let mut stream = accept(&listener);
        hear_head(&mut stream);
        let body = read_long(&mut stream);
        stream.write_all(OK.as_bytes()).unwrap();
        hear(&mut stream);
        stream.write_all(OK.as_bytes()).unwrap();
        body
    };
    let asking = async {
        let answer = client.post(&target, long()).await.unwrap();
        assert_eq!(answer.read_whole(2).await.unwrap(), "hi");
        let answer = client.get(&target, "").await.unwrap();
        assert_eq!(answer.read_whole(2).await.unwrap(), "hi");
    };
    let body = beside(serve, asking).await;
    assert!(body == long().into_bytes());
    assert!(held.is_left_alone(), "the connection is used again");
}

#[tokio::test]
async fn a_refusal_that_comes_before_all_is_written_is_the_answer() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    let serve = move || {
        let mut stream = held.accept();
        hear_head(&mut stream);
        stream.write_all(REFUSED.as_bytes()).unwrap();
        stream
    };
    let asking = async {
        let answer = client.post(&target, long()).await.unwrap();
        assert_eq!(answer.status(), 413);
        assert_eq!(answer.read_whole(2).await.unwrap(), "no");
    };
    let mut stream = beside(serve, asking).await;
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(rest.len() < LONG_BYTES, "the client closes it without the rest");
}

#[tokio::test]
async fn a_refusal_is_the_answer_even_if_the_server_hangs_up_on_the_rest() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    let serve = move || {
        let mut stream = held.accept();
        hear_head(&mut stream);
        stream.write_all(REFUSED.as_bytes()).unwrap();
        // Closing with unread bytes sends a reset.
        drop(stream);
    };
    let asking = async {
        let answer = client.post(&target, long()).await.unwrap();
        assert_eq!(answer.status(), 413);
        assert_eq!(answer.read_whole(2).await.unwrap(), "no");
    };
    beside(serve, asking).await;
}

#[tokio::test]
async fn a_server_that_hangs_up_on_long_content_without_a_word_is_a_fault() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    let listener = held.listener.try_clone().unwrap();
    let serve = move || hear_head(&mut accept(&listener));
    let asking = async {
        let error = client.post(&target, long()).await.err();
        assert!(matches!(error, Some(OutboundError::Broken(_))), "{error:?}");
    };
    beside(serve, asking).await;
    assert!(held.is_left_alone(), "it is not sent again");
}

#[tokio::test]
async fn the_rest_of_a_request_is_written_while_its_answer_is_read() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    let (seen, is_seen) = mpsc::channel();
    let serve = move || {
        let mut stream = held.accept();
        hear_head(&mut stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhi").unwrap();
        is_seen.recv_timeout(Duration::from_secs(20)).unwrap();
        let body = read_long(&mut stream);
        stream.write_all(b"ho").unwrap();
        body.len()
    };
    let asking = async {
        let mut pieces = client.post(&target, long()).await.unwrap().into_pieces();
        assert_eq!(pieces.next().await.unwrap().unwrap(), "hi");
        seen.send(()).unwrap();
        assert_eq!(pieces.next().await.unwrap().unwrap(), "ho");
        assert_eq!(pieces.next().await.unwrap(), None);
    };
    assert!(LONG_BYTES < beside(serve, asking).await);
}

#[tokio::test]
async fn a_body_is_handed_on_while_the_server_waits() {
    let held = Held::new();
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{}/", held.address));
    let (seen, is_seen) = mpsc::channel();
    let serve = move || {
        let mut stream = held.accept();
        hear(&mut stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n").unwrap();
        is_seen.recv_timeout(Duration::from_secs(20)).unwrap();
        stream.write_all(b"data: 2\n\n").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
    };
    let asking = async {
        let mut pieces = client.get(&target, "").await.unwrap().into_pieces();
        assert_eq!(pieces.next().await.unwrap().unwrap(), "data: 1\n\n");
        seen.send(()).unwrap();
        assert_eq!(pieces.next().await.unwrap().unwrap(), "data: 2\n\n");
        assert_eq!(pieces.next().await.unwrap(), None);
    };
    beside(serve, asking).await;
}
