//! Tests of responses as a server may send them, split at any byte.

mod differential;
mod splits;

use expect_test::{Expect, expect};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use super::chunks::{EXTENSION_BYTES_MAX, TRAILER_BYTES_MAX};
use super::head::{HEAD_BYTES_MAX, HEADERS_MAX};
use super::*;
use crate::content::RequestContent;
use crate::outgoing_request::PostHead;

/// A client connection, and the server's end of it.
fn pair() -> (PlainConnection, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    (PlainConnection::new(PlainSocket::Unix(ours)), theirs)
}

fn request() -> OutgoingRequest {
    OutgoingRequest::get("/", &HeaderMap::new())
}

async fn send(wire: &mut PlainConnection) -> Result<UpstreamHead, OutboundError> {
    match wire.send(request()).await {
        Ok(head) => Ok(head),
        Err(SendError::Unsent(_, error)) => panic!("it was sent: {error}"),
        Err(SendError::Broken(error)) => Err(error),
    }
}

async fn next(wire: &mut PlainConnection) -> Result<Option<Bytes>, OutboundError> {
    poll_fn(|context| wire.poll_piece(context)).await
}

/// Reads the rest of a body, and returns it with its end.
async fn read(wire: &mut PlainConnection) -> (BytesMut, Result<(), OutboundError>) {
    let mut body = BytesMut::new();
    loop {
        match next(wire).await {
            Ok(Some(piece)) => body.extend_from_slice(&piece),
            Ok(None) => return (body, Ok(())),
            Err(error) => return (body, Err(error)),
        }
    }
}

/// Runs the client against a server that sends `said` and closes.
async fn against<T>(mut server: UnixStream, said: &[u8], client: impl Future<Output = T>) -> T {
    let serve = async {
        server.read_exact(&mut [0; 1]).await.unwrap();
        // A client that failed does not read the rest.
        let _ = server.write_all(said).await;
        let _ = server.shutdown().await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        done = client => done,
        () = serve => unreachable!("a server never ends"),
    }
}

/// The outcome of a response after which the server closes.
async fn outcome(answer: &[u8]) -> String {
    let (mut wire, server) = pair();
    let reading = async {
        let head = match send(&mut wire).await {
            Ok(head) => head,
            Err(error) => return format!("{error}"),
        };
        let (body, end) = read(&mut wire).await;
        let body = String::from_utf8_lossy(&body).into_owned();
        let end = match end {
            Ok(()) if wire.is_free() => "kept".to_owned(),
            Ok(()) => "closed".to_owned(),
            Err(error) => format!("{error}"),
        };
        format!("{} {body:?} {end}", head.status.as_u16())
    };
    against(server, answer, reading).await
}

async fn check(answers: &[&str], expected: Expect) {
    let mut all = String::new();
    for answer in answers {
        let answer = answer.replace('\n', "\r\n");
        all += &format!("{}\n", outcome(answer.as_bytes()).await);
    }
    expected.assert_eq(&all);
}

#[tokio::test]
async fn a_body_ends_where_its_head_says() {
    let answers = [
        "HTTP/1.1 200 OK\ncontent-length: 2\n\nhi",
        "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "HTTP/1.1 200 OK\ncontent-length: 2\n\nhi!",
        "HTTP/1.1 200 OK\ncontent-length: 5, 5\n\nhello",
        "HTTP/1.1 200 OK\ncontent-length: 5\ncontent-length: 5\n\nhello",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n2\nhi\n0\n\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: gzip, Chunked\n\n2;a=b\nhi\n0\n\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: gzip\ntransfer-encoding: chunked\n\n0\n\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n02 \t\nhi\nA\n0123456789\n0\na: b\n\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n0\n\nmore",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\ncontent-length: 9\n\n2\nhi\n0\n\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked, gzip\n\n2\nhi\n0\n\n",
        "HTTP/1.1 200 OK\n\nto the end",
        "HTTP/1.1 204 No Content\n\n",
        "HTTP/1.1 204 No Content\ncontent-length: 2\n\nhi",
        "HTTP/1.1 304 Not Modified\ncontent-length: 2\n\n",
    ];
    let expected = expect![[r#"
        200 "hi" kept
        200 "" kept
        200 "hi" closed
        200 "hello" kept
        200 "hello" kept
        200 "hi" kept
        200 "hi" kept
        200 "" kept
        200 "hi0123456789" kept
        200 "" closed
        200 "hi" closed
        200 "2\r\nhi\r\n0\r\n\r\n" closed
        200 "to the end" closed
        204 "" kept
        204 "" closed
        304 "" kept
    "#]];
    check(&answers, expected).await;
}

#[tokio::test]
async fn a_connection_is_kept_only_if_its_server_wants_that() {
    let answers = [
        "HTTP/1.1 200 OK\nconnection: keep-alive\ncontent-length: 2\n\nhi",
        "HTTP/1.1 200 OK\nconnection: Close\ncontent-length: 2\n\nhi",
        "HTTP/1.1 200 OK\nconnection: x, close\nconnection: keep-alive\ncontent-length: 2\n\nhi",
        "HTTP/1.0 200 OK\ncontent-length: 2\n\nhi",
        "HTTP/1.0 200 OK\nconnection: keep-alive\ncontent-length: 2\n\nhi",
        "HTTP/1.0 200 OK\nconnection: keep-alive, close\ncontent-length: 2\n\nhi",
        "HTTP/1.0 200 OK\nconnection: keep-alive\n\nhi",
    ];
    let expected = expect![[r#"
        200 "hi" kept
        200 "hi" closed
        200 "hi" closed
        200 "hi" closed
        200 "hi" kept
        200 "hi" closed
        200 "hi" closed
    "#]];
    check(&answers, expected).await;
}

#[tokio::test]
async fn what_comes_before_an_answer_is_passed_over() {
    let many = |count| format!("{}{}", "HTTP/1.1 100 Continue\n\n".repeat(count), KEPT);
    const KEPT: &str = "HTTP/1.1 200 OK\ncontent-length: 2\n\nhi";
    let answers = [
        "HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early Hints\nlink: </a>\n\nHTTP/1.1 204 No\n\n",
        "\n\nHTTP/1.1 200 OK\ncontent-length: 2\n\nhi",
        &many(INTERIM_HEADS_MAX),
        &many(INTERIM_HEADS_MAX + 1),
        "HTTP/1.1 100 Continue\n\n",
        "HTTP/1.1 101 Switching Protocols\nupgrade: h2c\n\n",
    ];
    let expected = expect![[r#"
        204 "" kept
        200 "hi" kept
        200 "hi" kept
        client error (SendRequest): the answer has too much before it
        client error (SendRequest): connection closed before message completed
        client error (SendRequest): the answer has another protocol, which nobody asked for
    "#]];
    check(&answers, expected).await;
}

#[tokio::test]
async fn what_is_no_answer_is_a_fault() {
    let answers = [
        "HTTP/1.1 200 OK\ncontent-length: 5, 6\n\nhello",
        "HTTP/1.1 200 OK\ncontent-length: 5\ncontent-length: 6\n\nhello",
        "HTTP/1.1 200 OK\ncontent-length: +5\n\nhello",
        "HTTP/1.1 200 OK\ncontent-length: \n\nhello",
        "HTTP/1.1 200 OK\ncontent-length: 5,\n\nhello",
        "HTTP/1.1 200 OK\ncontent-length: \u{fc}\n\nhello",
        "HTTP/1.1 200 OK\ncontent-length: 18446744073709551616\n\nhello",
        "HTTP/1.0 200 OK\ntransfer-encoding: chunked\n\n0\n\n",
        "HTTP/1.1 099 Low\n\n",
        "HTTP/2 200 OK\n\n",
        "SSH-2.0-OpenSSH\n",
        "HTTP/1.1 200 OK\na b: c\n\n",
        "HTTP/1.1 200 OK\na: b\n folded\n\n",
        "HTTP/1.1 200 OK\na : b\n\n",
    ];
    let expected = expect![[r#"
        client error (SendRequest): the answer has an invalid content length
        client error (SendRequest): the answer has an invalid content length
        client error (SendRequest): the answer has an invalid content length
        client error (SendRequest): the answer has an invalid content length
        client error (SendRequest): the answer has an invalid content length
        client error (SendRequest): the answer has an invalid content length
        client error (SendRequest): the answer has an invalid content length
        client error (SendRequest): the answer has a transfer encoding in HTTP/1.0
        client error (SendRequest): the answer has an invalid status
        client error (SendRequest): the answer has an invalid HTTP version
        client error (SendRequest): the answer has an invalid HTTP version
        client error (SendRequest): the answer has an invalid header
        client error (SendRequest): the answer has an invalid header
        client error (SendRequest): the answer has an invalid header
    "#]];
    check(&answers, expected).await;
}

#[tokio::test]
async fn chunks_are_taken_as_they_must_be_written() {
    let chunked = |rest: &str| format!("HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n{rest}");
    let rests = [
        "ffffffffffffffff\nhi",
        "10000000000000000\nhi",
        "\nhi",
        "g\nhi",
        "2 2\nhi",
        "-2\nhi",
        "0x2\nhi",
        "2\nhi0\n\n",
        "2\nhi\n\n",
        "1\nhi\n0\n\n",
        "0\n\rx",
        "0\na: b\rx\n\n",
        "0\na\n\n",
        "0\na b: c\n\n",
        "0\n: b\n\n",
        "0\na: \0\n\n",
    ];
    let answers = rests.map(chunked);
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    let expected = expect![[r#"
        200 "hi" error reading a body from connection: connection closed before message completed
        200 "" error reading a body from connection: the answer has a chunk size that is too large
        200 "" error reading a body from connection: the answer has invalid chunk framing
        200 "" error reading a body from connection: the answer has invalid chunk framing
        200 "" error reading a body from connection: the answer has invalid chunk framing
        200 "" error reading a body from connection: the answer has invalid chunk framing
        200 "" error reading a body from connection: the answer has invalid chunk framing
        200 "hi" error reading a body from connection: the answer has invalid chunk framing
        200 "hi" error reading a body from connection: the answer has invalid chunk framing
        200 "h" error reading a body from connection: the answer has invalid chunk framing
        200 "" error reading a body from connection: the answer has invalid chunk framing
        200 "" error reading a body from connection: the answer has invalid chunk framing
        200 "" error reading a body from connection: the answer has invalid chunk framing
        200 "" error reading a body from connection: the answer has invalid chunk framing
        200 "" error reading a body from connection: the answer has invalid chunk framing
        200 "" error reading a body from connection: the answer has invalid chunk framing
    "#]];
    check(&answers, expected).await;

    for bare in ["2\nhi\r\n0\r\n\r\n", "2\r\nhi\n0\r\n\r\n", "2;a\nb\r\nhi", "0\r\na\nb\r\n\r\n"] {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let told = outcome(format!("{head}{bare}").as_bytes()).await;
        assert!(told.contains("the answer has"), "{bare:?}: {told}");
    }
}

#[tokio::test]
async fn a_connection_that_ends_before_its_answer_is_a_fault() {
    let answers = [
        "",
        "HTTP/1.1 2",
        "HTTP/1.1 200 OK\ncontent-length: 2\n",
        "HTTP/1.1 200 OK\ncontent-length: 2\n\nh",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nhe",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nhello\n",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nhello\n0\n",
    ];
    let expected = expect![[r#"
        client error (SendRequest): connection closed before message completed
        client error (SendRequest): connection closed before message completed
        client error (SendRequest): connection closed before message completed
        200 "h" error reading a body from connection: connection closed before message completed
        200 "" error reading a body from connection: connection closed before message completed
        200 "" error reading a body from connection: connection closed before message completed
        200 "he" error reading a body from connection: connection closed before message completed
        200 "hello" error reading a body from connection: connection closed before message completed
        200 "hello" error reading a body from connection: connection closed before message completed
    "#]];
    check(&answers, expected).await;
}

#[tokio::test]
async fn everything_of_which_there_could_be_too_much_has_a_bound() {
    const KEPT: &str = "200 \"\" kept";
    const END: &str = "content-length: 0\r\n\r\n";
    let padded = |bytes: usize| {
        let bare = format!("HTTP/1.1 200 OK\r\na: \r\n{END}").len();
        format!("HTTP/1.1 200 OK\r\na: {}\r\n{END}", "b".repeat(bytes - bare))
    };
    assert_eq!(outcome(padded(HEAD_BYTES_MAX).as_bytes()).await, KEPT);
    let told = outcome(padded(HEAD_BYTES_MAX + 1).as_bytes()).await;
    assert!(told.ends_with("the answer has a head that is too long"), "{told}");
    let endless = format!("HTTP/1.1 200 OK\r\na: {}", "b".repeat(HEAD_BYTES_MAX));
    let told = outcome(endless.as_bytes()).await;
    assert!(told.ends_with("the answer has a head that is too long"), "{told}");

    let headers = |count: usize| format!("HTTP/1.1 200 OK\r\n{}{END}", "a: b\r\n".repeat(count));
    assert_eq!(outcome(headers(HEADERS_MAX - 1).as_bytes()).await, KEPT);
    let told = outcome(headers(HEADERS_MAX).as_bytes()).await;
    assert!(told.ends_with("the answer has too many headers"), "{told}");

    let chunked = |rest: String| {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        format!("{head}{rest}").into_bytes()
    };
    // The zero that is the chunk size does not count against the limit.
    let zeros = |count: usize| chunked(format!("0{}\r\n\r\n", "0".repeat(count)));
    let blanks = |count: usize| chunked(format!("0{}\r\n\r\n", " ".repeat(count)));
    let extension = |count: usize| chunked(format!("0;{}\r\n\r\n", "a".repeat(count - 1)));
    let trailer = |count: usize| chunked(format!("0\r\na:{}\r\n\r\n", "b".repeat(count - 2)));
    let trailers = |count: usize| chunked(format!("0\r\n{}\r\n", "a:\r\n".repeat(count / 2)));
    type Make<'a> = &'a dyn Fn(usize) -> Vec<u8>;
    let makes: [(usize, Make<'_>); 5] = [
        (EXTENSION_BYTES_MAX, &zeros),
        (EXTENSION_BYTES_MAX, &blanks),
        (EXTENSION_BYTES_MAX, &extension),
        (TRAILER_BYTES_MAX, &trailer),
        (TRAILER_BYTES_MAX, &trailers),
    ];
    for (index, (most, make)) in makes.into_iter().enumerate() {
        assert_eq!(outcome(&make(most)).await, KEPT, "{index}");
        let told = outcome(&make(most + 2)).await;
        assert!(told.ends_with("too long"), "{index}: {told}");
    }
}

#[tokio::test]
async fn headers_come_as_they_were_sent() {
    let (mut wire, server) = pair();
    let answer =
        b"HTTP/1.1 200 OK\r\nX-Two: 1\r\nA:\t\xfc \r\nx-two: 2\r\ncontent-length:0\r\n\r\n";
    let head = against(server, answer, send(&mut wire)).await.unwrap();
    let expected = expect![[r#"{"x-two": "1", "x-two": "2", "a": "\xfc", "content-length": "0"}"#]];
    expected.assert_eq(&format!("{:?}", head.headers));
}

#[tokio::test]
async fn a_piece_is_handed_out_as_soon_as_it_has_come() {
    let (mut wire, mut server) = pair();
    server.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
    send(&mut wire).await.unwrap();
    let steps = [("2\r\nhi\r\n", "hi"), ("9\r\nyou ", "you "), ("the", "the"), ("re\r\n", "re")];
    for (said, piece) in steps {
        server.write_all(said.as_bytes()).await.unwrap();
        assert_eq!(next(&mut wire).await.unwrap().unwrap(), piece);
        assert!(!wire.is_over() && wire.unread.is_empty());
    }
    server.write_all(b"1\r\n!\r\n0\r\n\r\n").await.unwrap();
    assert_eq!(next(&mut wire).await.unwrap().unwrap(), "!");
    assert!(wire.is_free(), "the end has come with the last piece");
    assert_eq!(next(&mut wire).await.unwrap(), None);
}

#[tokio::test]
async fn an_answer_may_come_byte_by_byte() {
    let (mut wire, mut server) = pair();
    let answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
    let serve = async {
        for byte in answer {
            server.write_all(&[*byte]).await.unwrap();
            // Lets the client read this before the next part is sent.
            tokio::task::yield_now().await;
        }
    };
    let reading = async {
        send(&mut wire).await.unwrap();
        read(&mut wire).await
    };
    let ((), (body, end)) = tokio::join!(serve, reading);
    assert_eq!((&body[..], end), (&b"hi"[..], Ok(())));
    assert!(wire.is_free());
}

#[tokio::test]
async fn a_fault_in_a_body_is_told_until_nobody_asks() {
    let (mut wire, server) = pair();
    let answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi!";
    let reading = async {
        send(&mut wire).await.unwrap();
        assert_eq!(next(&mut wire).await.unwrap().unwrap(), "hi");
        assert!(next(&mut wire).await.is_err() && next(&mut wire).await.is_err());
    };
    against(server, answer, reading).await;
    assert!(!wire.is_free() && !wire.is_free_without_rest());
}

#[tokio::test]
async fn a_reset_is_no_end_however_often_one_asks() {
    let (mut wire, mut server) = pair();
    server.write_all(b"HTTP/1.1 200 OK\r\n\r\nhi").await.unwrap();
    send(&mut wire).await.unwrap();
    assert_eq!(next(&mut wire).await.unwrap().unwrap(), "hi");
    // Closing with an unread request sends a reset.
    drop(server);
    assert!(next(&mut wire).await.is_err() && next(&mut wire).await.is_err());
}

#[tokio::test]
async fn a_rest_that_has_come_is_thrown_away_for_the_next_request() {
    let (mut wire, mut server) = pair();
    server.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhi").await.unwrap();
    send(&mut wire).await.unwrap();
    assert!(!wire.is_free_without_rest(), "not all of it has come");
    server.write_all(b"ho").await.unwrap();
    // Lets the event loop notice it.
    tokio::task::yield_now().await;
    assert!(wire.is_free_without_rest());
}

#[tokio::test]
async fn no_request_follows_one_that_could_not_be_written_whole() {
    let (mut wire, mut server) = pair();
    let form =
        PostHead::new("/", &HeaderMap::from_iter([(CONTENT_TYPE, "text/plain".parse().unwrap())]));
    let serve = async move {
        server.read_exact(&mut [0; 100]).await.unwrap();
        server.write_all(b"HTTP/1.1 413 No\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    };
    let long = RequestContent::json(vec![b' '; 8 * 1024 * 1024]);
    let ((), sent) = tokio::join!(serve, wire.send(form.fill(long)));
    assert!(sent.is_ok_and(|head| head.status == 413));
    assert!(wire.is_over() && wire.unread.is_empty() && !wire.is_free());
}

#[tokio::test]
async fn a_long_body_comes_in_longer_and_longer_pieces() {
    let long: Vec<u8> = (0..3_000_000_u32).map(|number| (number / 7) as u8).collect();
    let (mut wire, server) = pair();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", long.len());
    let said = [head.as_bytes(), &long].concat();
    let reading = async {
        send(&mut wire).await.unwrap();
        let (body, end) = read(&mut wire).await;
        assert!(end.is_ok() && body == long);
    };
    against(server, &said, reading).await;
    assert!(READ_BYTES_MIN < wire.read_bytes && wire.is_free());
}

#[tokio::test]
async fn pieces_are_read_into_less_and_less_when_little_comes() {
    let (mut wire, mut server) = pair();
    server.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    send(&mut wire).await.unwrap();
    wire.read_bytes = 4 * READ_BYTES_MIN;
    for read_bytes in [2 * READ_BYTES_MIN, READ_BYTES_MIN, READ_BYTES_MIN] {
        server.write_all(b"hi").await.unwrap();
        assert_eq!(next(&mut wire).await.unwrap().unwrap(), "hi");
        assert_eq!(wire.read_bytes, read_bytes);
    }
}
