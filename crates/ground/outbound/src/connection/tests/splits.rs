//! Tests that the result does not depend on where the bytes are split, and that no bytes cause a
//! panic.

use bytes::Buf as _;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::connection::head::parse_head;

/// The result of bytes that arrived in given pieces.
#[derive(Debug, PartialEq, Eq)]
struct Read {
    /// `None` if no head arrived.
    status: Option<u16>,
    body: Vec<u8>,
    end: End,
    /// Bytes after the end.
    left: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    Reached,
    Missing,
    Malformed(&'static str),
}

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let mut read = Read { status: None, body: Vec::new(), end: End::Missing, left: Vec::new() };
    let mut unread = Bytes::new();
    let mut framing = None;
    for piece in pieces {
        unread = [&unread, piece].concat().into();
        if let Err(MalformedResponse(what)) = decode_on(&mut unread, &mut framing, &mut read) {
            read.end = End::Malformed(what);
            return read;
        }
    }
    if framing.is_some_and(|framing: BodyFraming| framing.is_over()) {
        read.end = End::Reached;
        read.left = unread.to_vec();
    }
    read
}

fn decode_on(
    unread: &mut Bytes,
    framing: &mut Option<BodyFraming>,
    read: &mut Read,
) -> Result<(), MalformedResponse> {
    while framing.is_none() && unread.has_remaining() {
        match parse_head(unread)? {
            ParsedHead::Begun => return Ok(()),
            ParsedHead::Interim => {}
            ParsedHead::Whole { head, framing: told, .. } => {
                read.status = Some(head.status.as_u16());
                *framing = Some(told);
            }
        }
    }
    let Some(framing) = framing else { return Ok(()) };
    while let Some(piece) = framing.take(unread)? {
        assert!(!piece.is_empty());
        read.body.extend_from_slice(&piece);
    }
    assert!(framing.is_over() || unread.is_empty(), "nothing is left lying");
    Ok(())
}

/// Valid and nearly valid responses.
pub(super) fn answers() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec![
        "HTTP/1.1 200 OK",
        "HTTP/1.1 200 OK",
        "HTTP/1.1 200 OK",
        "HTTP/1.0 200 OK",
        "HTTP/1.1 204 No Content",
        "HTTP/1.1 304 Not Modified",
        "HTTP/1.1 500",
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK",
        "\r\nHTTP/1.1 200 OK",
        "HTTP/3 200 OK",
    ]);
    let header = prop::sample::select(vec![
        "content-length: 5",
        "content-length: 5",
        "content-length: 5, 5",
        "content-length: 6",
        "content-length: +5",
        "transfer-encoding: chunked",
        "transfer-encoding: chunked",
        "transfer-encoding: gzip, chunked",
        "transfer-encoding: gzip",
        "connection: close",
        "connection: keep-alive",
        "date: today",
        "x: \u{fc}",
        "bad name: y",
        "folded: a\r\n b",
    ]);
    let part = prop::sample::select(vec![
        "5\r\nhello\r\n",
        "5\r\nhello\r\n",
        "A;name=\"value\"\r\n0123456789\r\n",
        "0005 \r\nworld\r\n",
        "0\r\n\r\n",
        "0\r\n\r\n",
        "0\r\nexpires: never\r\n\r\n",
        "ffffffffffffffffff\r\n",
        "hello",
        "\r\n",
        "\n",
    ]);
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"\r\n :;,01aA".to_vec())];
    let noise = prop_oneof![Just(Vec::new()), vec((any::<Index>(), byte), 0..3)];
    (line, vec(header, 0..4), vec(part, 0..5), noise).prop_map(|(line, headers, parts, noise)| {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let mut answer = format!("{line}\r\n{headers}\r\n{}", parts.concat()).into_bytes();
        for (at, byte) in noise {
            let at = at.index(answer.len());
            answer[at] = byte;
        }
        answer
    })
}

#[test]
fn nothing_is_kept_of_what_was_taken() {
    for rest in ["content-length: 2\r\n\r\nhi", "transfer-encoding: chunked\r\n\r\n0\r\n\r\n"] {
        let came = Bytes::from(format!("HTTP/1.1 200 OK\r\n{rest}"));
        let (mut unread, mut framing) = (came.clone(), None);
        let mut read = Read { status: None, body: vec![], end: End::Missing, left: vec![] };
        decode_on(&mut unread, &mut framing, &mut read).unwrap();
        assert!(framing.unwrap().is_over() && came.is_unique());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn an_answer_reads_the_same_however_it_is_torn_apart(
        answer in answers(),
        cuts in vec(any::<Index>(), 0..8),
    ) {
        let whole = decode([&answer[..]]);
        prop_assert_eq!(&decode(answer.chunks(1)), &whole);

        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(answer.len() + 1)).collect();
        cuts.extend([0, answer.len()]);
        cuts.sort_unstable();
        prop_assert_eq!(&decode(cuts.windows(2).map(|cut| &answer[cut[0]..cut[1]])), &whole);
    }

    #[test]
    fn a_beginning_of_an_answer_is_never_a_whole_one(answer in answers()) {
        let whole = decode([&answer[..]]);
        let needed = answer.len() - whole.left.len();
        if whole.end == End::Reached {
            for count in 0..needed {
                let part = decode([&answer[..count]]);
                prop_assert_eq!(part.end, End::Missing);
                prop_assert!(whole.body.starts_with(&part.body));
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..300), is_chunked in any::<bool>()) {
        let head = match is_chunked {
            true => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            false => "",
        };
        let answer = [head.as_bytes(), &bytes].concat();
        prop_assert!(decode([&answer[..]]).body.len() <= bytes.len());
    }
}
