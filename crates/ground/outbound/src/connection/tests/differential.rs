//! Compares our client with hyper's client on the same responses.

use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use proptest::prelude::*;
use tokio::runtime::Builder;

use super::splits::answers;
use super::*;

/// A status, headers, and the body if it is complete; `None` if the head is invalid.
type Read = Option<(u16, HeaderMap, Option<Vec<u8>>)>;

async fn ours(answer: &[u8]) -> Read {
    let (mut wire, server) = pair();
    let reading = async {
        let head = send(&mut wire).await.ok()?;
        let (body, end) = read(&mut wire).await;
        Some((head.status.as_u16(), head.headers, end.ok().map(|()| body.to_vec())))
    };
    against(server, answer, reading).await
}

async fn theirs(answer: &[u8]) -> Read {
    let (client, server) = UnixStream::pair().unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(client)).await.unwrap();
    let reading = async {
        let response = sender.send_request(Request::new(Empty::<Bytes>::new())).await.ok()?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.ok().map(|body| body.to_bytes().to_vec());
        Some((head.status.as_u16(), head.headers, body))
    };
    let moving = async {
        // The reader of the body sees the end of the connection.
        let _ = connection.await;
        std::future::pending::<()>().await;
    };
    let both = async {
        tokio::select! {
            read = reading => read,
            () = moving => unreachable!("it never ends"),
        }
    };
    against(server, answer, both).await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn we_read_what_hyper_reads(answer in answers()) {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (ours, theirs) = runtime.block_on(async { (ours(&answer).await, theirs(&answer).await) });
        let is_other_protocol = theirs.as_ref().is_some_and(|theirs| theirs.0 == 101);
        if !is_other_protocol && !is_bare_line_feed_in_trailer(&answer, &ours) {
            prop_assert_eq!(ours, theirs, "{}", String::from_utf8_lossy(&answer));
        }
    }
}

/// True for the case in which only hyper may find an end.
fn is_bare_line_feed_in_trailer(answer: &[u8], ours: &Read) -> bool {
    let is_bare = answer.windows(2).any(|pair| pair[0] != b'\r' && pair[1] == b'\n');
    is_bare && ours.as_ref().is_some_and(|ours| ours.2.is_none())
}

/// The cases in which we differ on purpose.
#[tokio::test]
async fn unlike_hyper_we_take_no_other_protocol_no_endless_zeros_and_no_bare_line_feed() {
    let is_whole = |read: Read| read.unwrap().2.is_some();
    let upgrade = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n";
    assert!(ours(upgrade).await.is_none() && theirs(upgrade).await.is_some());

    let zeros = "0".repeat(2 * EXTENSION_BYTES_MAX);
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let padded = format!("{head}{zeros}\r\n\r\n").into_bytes();
    assert!(!is_whole(ours(&padded).await) && is_whole(theirs(&padded).await));

    let bare = format!("{head}0\r\na: b\n\r\n\r\n").into_bytes();
    assert!(!is_whole(ours(&bare).await) && is_whole(theirs(&bare).await));
}
