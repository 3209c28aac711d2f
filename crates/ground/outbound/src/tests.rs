//! Tests of requests over real sockets: the bytes that a server receives, and the errors for its
//! failures.

mod early;
mod held;
mod kept;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use expect_test::{Expect, expect};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use url::Url;

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";

/// `idle_max` is long, so that no connection is closed because of its age.
fn client(way: ConnectVia) -> OutboundClient {
    let (connect_timeout, idle_max) = (Duration::from_secs(1), Duration::from_secs(600));
    OutboundClient::new(ConnectSettings { way, connect_timeout, idle_max }).unwrap()
}

/// A server that answers each connection once; joining returns what it received.
fn server(answer: &'static str) -> (SocketAddr, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = String::new();
        while !is_whole(&request) {
            let mut piece = [0; 4096];
            let count = stream.read(&mut piece).unwrap();
            request.push_str(str::from_utf8(&piece[..count]).unwrap());
        }
        stream.write_all(answer.as_bytes()).unwrap();
        request
    });
    (address, seen)
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.map_or(0, |it| it.parse().unwrap()) == body.len()
}

fn target(client: &OutboundClient, url: &str) -> RequestTarget {
    RequestTarget::new(client, &Url::parse(url).unwrap(), HeaderMap::new()).unwrap()
}

/// Posts to a server and compares what it received; `PORT` is replaced by its port.
async fn check(client: &OutboundClient, url: &str, expected: Expect) {
    let (address, seen) = server(OK);
    let target = target(client, &url.replace("PORT", &address.port().to_string()));
    let answer = client.post(&target, RequestContent::json("{}")).await.unwrap();
    assert_eq!(answer.read_whole(2).await.unwrap(), "hi");
    let seen = seen.join().unwrap().replace(&address.port().to_string(), "PORT");
    expected.assert_eq(&seen.replace('\r', ""));
}

#[tokio::test]
async fn a_server_sees_the_request_and_nothing_that_was_not_asked_for() {
    let expected = expect![[r#"
        POST /v1?a=b HTTP/1.1
        accept: */*
        content-type: application/json
        content-length: 2
        host: 127.0.0.1:PORT

        {}"#]];
    check(&client(ConnectVia::Straight), "http://127.0.0.1:PORT/v1?a=b#c", expected).await;
}

#[tokio::test]
async fn a_name_in_the_address_is_sent_as_a_header() {
    let expected = expect![[r#"
        POST / HTTP/1.1
        accept: */*
        content-type: application/json
        content-length: 2
        host: 127.0.0.1:PORT
        authorization: Basic bWU6cEBzcw==

        {}"#]];
    check(&client(ConnectVia::Straight), "http://me:p%40ss@127.0.0.1:PORT/", expected).await;
}

#[tokio::test]
async fn a_header_of_the_operator_wins_over_ours_but_not_over_what_the_content_is() {
    let (address, seen) = server(OK);
    let client = client(ConnectVia::Straight);
    let url = Url::parse(&format!("http://me:pass@{address}/")).unwrap();
    let headers = HeaderMap::from_iter([
        (AUTHORIZATION, HeaderValue::from_static("Bearer key")),
        (CONTENT_TYPE, HeaderValue::from_static("text/plain")),
    ]);
    let mut target = RequestTarget::new(&client, &url, headers).unwrap();
    let mut more = HeaderMap::new();
    more.insert(HOST, HeaderValue::from_static("engine.example"));
    more.append("x-two", HeaderValue::from_static("1"));
    more.append("x-two", HeaderValue::from_static("2"));
    target.set_headers(more);
    client.post(&target, RequestContent::json("{}")).await.unwrap();
    expect![[r#"
        POST / HTTP/1.1
        accept: */*
        content-type: application/json
        content-length: 2
        host: engine.example
        authorization: Bearer key
        x-two: 1
        x-two: 2

        {}"#]]
    .assert_eq(&seen.join().unwrap().replace('\r', ""));
}

#[tokio::test]
async fn what_is_asked_without_a_body_has_no_word_about_one() {
    let (address, seen) = server(OK);
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://me:pass@{address}/v1"));
    client.get(&target, "/models?a=b").await.unwrap();
    expect![[r#"
        GET /v1/models?a=b HTTP/1.1
        accept: */*
        host: 127.0.0.1:PORT
        authorization: Basic bWU6cGFzcw==

    "#]]
    .assert_eq(
        &seen.join().unwrap().replace('\r', "").replace(&address.port().to_string(), "PORT"),
    );
}

#[tokio::test]
async fn a_proxy_is_told_the_whole_address_and_our_name() {
    let (proxy, seen) = server(OK);
    let proxied = client::OutboundClient::with_proxies(proxy::ProxySelector::all(&format!(
        "http://me:pass@{proxy}"
    )));
    let target = target(&proxied, "http://engine.example:8000/v1");
    proxied.post(&target, RequestContent::json("{}")).await.unwrap();
    expect![[r#"
        POST http://engine.example:8000/v1 HTTP/1.1
        accept: */*
        content-type: application/json
        content-length: 2
        host: engine.example:8000
        proxy-authorization: Basic bWU6cGFzcw==

        {}"#]]
    .assert_eq(&seen.join().unwrap().replace('\r', ""));
}

#[tokio::test]
async fn a_proxy_is_asked_for_a_tunnel_to_what_is_encrypted() {
    let (proxy, seen) = server("HTTP/1.1 403 Forbidden\r\n\r\n");
    let proxied = client::OutboundClient::with_proxies(proxy::ProxySelector::all(&format!(
        "http://me:pass@{proxy}"
    )));
    let target = target(&proxied, "https://engine.example/v1");
    let error = proxied.post(&target, RequestContent::json("{}")).await.err().unwrap();
    expect![[r#"Unreached("client error (Connect): tunnel error: unsuccessful")"#]]
        .assert_eq(&format!("{error:?}"));
    expect![[r#"
        CONNECT engine.example:443 HTTP/1.1
        Host: engine.example:443
        Proxy-Authorization: Basic bWU6cGFzcw==

    "#]]
    .assert_eq(&seen.join().unwrap().replace('\r', ""));
}

#[tokio::test]
async fn content_in_three_pieces_is_one_body() {
    let (address, seen) = server(OK);
    let client = client(ConnectVia::Straight);
    let target = target(&client, &format!("http://{address}/"));
    let media_type = HeaderValue::from_static("text/plain");
    let content =
        RequestContent::in_three(media_type, Bytes::from("a"), Bytes::from("b"), Bytes::from("c"));
    client.post(&target, content).await.unwrap();
    let seen = seen.join().unwrap();
    assert!(seen.contains("content-type: text/plain\r\n"), "{seen}");
    assert!(seen.contains("content-length: 3\r\n") && seen.ends_with("\r\n\r\nabc"), "{seen}");
}

#[tokio::test]
async fn nobody_there_is_not_the_same_as_somebody_who_hangs_up() {
    let client = client(ConnectVia::Straight);
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = |address| {
        let target = target(&client, &format!("http://me:secret@{address}/"));
        let client = &client;
        async move { format!("{:?}", client.post(&target, RequestContent::json("{}")).await.err()) }
    };
    expect![[r#"Some(Unreached("client error (Connect): tcp connect error: Connection refused (os error 111)"))"#]].assert_eq(&error(nobody).await);
    expect![[
        r#"Some(Broken("client error (SendRequest): connection closed before message completed"))"#
    ]]
    .assert_eq(&error(server("").0).await);
}

#[tokio::test]
async fn a_body_is_read_whole_or_not_at_all() {
    async fn read(answer: &'static str, bytes_max: usize) -> Result<Bytes, BodyReadError> {
        let client = client(ConnectVia::Straight);
        let target = target(&client, &format!("http://{}/", server(answer).0));
        client.get(&target, "").await.unwrap().read_whole(bytes_max).await
    }
    const PIECES: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
                          1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n0\r\n\r\n";
    assert_eq!(read(PIECES, 4).await.unwrap(), "abcd");
    assert_eq!(read(PIECES, 3).await, Err(BodyReadError::TooLong));
    assert_eq!(read(OK, 1).await, Err(BodyReadError::TooLong));
    assert_eq!(read("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", 0).await.unwrap(), "");
    let torn = read("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nhi", 9).await;
    assert!(matches!(torn, Err(BodyReadError::Broken(OutboundError::Broken(_)))), "{torn:?}");
}

#[tokio::test]
async fn a_redirect_is_an_answer_like_any_other() {
    let client = client(ConnectVia::Straight);
    let (address, _) =
        server("HTTP/1.1 302 Elsewhere\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n");
    let target = target(&client, &format!("http://{address}/a"));
    let answer = client.get(&target, "").await.unwrap();
    assert_eq!((answer.status(), answer.status_text().as_str()), (302, "302 Found"));
}

#[tokio::test]
async fn an_address_under_another_keeps_its_path_and_its_query() {
    let (address, seen) = server(OK);
    let client = client(ConnectVia::Straight);
    let base = target(&client, &format!("http://{address}/api/v1/?key=k"));
    client.post(&base.join_path("chat/completions"), RequestContent::json("{}")).await.unwrap();
    let seen = seen.join().unwrap();
    assert!(seen.starts_with("POST /api/v1/chat/completions?key=k HTTP/1.1\r\n"), "{seen}");
}

#[test]
fn what_is_no_address_of_a_server_is_refused() {
    let client = client(ConnectVia::Straight);
    let long = format!("http://a/{}", "b".repeat(8 * 1024));
    for url in ["ftp://a/", "unix:/run/s", "data:text/plain,a", &long] {
        let target = RequestTarget::new(&client, &Url::parse(url).unwrap(), HeaderMap::new());
        assert_eq!(target.err(), Some(InvalidTarget), "{url}");
    }
}
