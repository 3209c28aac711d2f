//! Lines, their faults and their results.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::stream;

use crate::line_check::parse_line;
use crate::line_reader::{InputLine, LineReader};
use crate::line_result::LineNames;

const ENDPOINT: &str = "/v1/chat/completions";

/// The lines of a file that arrives in pieces of this size.
async fn read_all(text: &[u8], piece: usize, line_bytes_max: usize) -> Vec<(u32, Option<Vec<u8>>)> {
    let pieces: Vec<_> =
        text.chunks(piece).map(|part| Ok::<_, Infallible>(Bytes::copy_from_slice(part))).collect();
    let mut reader = LineReader::new(stream::iter(pieces), line_bytes_max);
    let mut lines = Vec::new();
    while let Some(line) = reader.next().await.unwrap() {
        lines.push(match line {
            InputLine::Text { number, bytes } => (number, Some(bytes.to_vec())),
            InputLine::TooLong { number } => (number, None),
        });
    }
    lines
}

fn faults_of(line: &str) -> Vec<(String, Option<String>)> {
    let faults = parse_line(7, line.as_bytes(), ENDPOINT).unwrap_err();
    assert!(faults.iter().all(|fault| fault.line == Some(7)));
    faults.into_iter().map(|fault| (fault.code, fault.param)).collect()
}

#[tokio::test]
async fn lines_are_the_same_however_the_file_arrives() {
    let text = b"\xef\xbb\xbfone\r\n\n  \r\ntwo\nthree";
    let expected =
        [(1, Some(b"one".to_vec())), (4, Some(b"two".to_vec())), (5, Some(b"three".to_vec()))];
    for piece in 1..=text.len() {
        assert_eq!(read_all(text, piece, 100).await, expected, "pieces of {piece}");
    }
    assert_eq!(read_all(b"", 1, 100).await, []);
    assert_eq!(read_all(b"\n\n", 1, 100).await, []);
}

#[tokio::test]
async fn a_line_beyond_its_bound_is_skipped_and_not_kept() {
    let text = b"ab\nabcdef\nabcd\nabcdefghijkl";
    let expected = [(1, Some(b"ab".to_vec())), (2, None), (3, Some(b"abcd".to_vec())), (4, None)];
    for piece in 1..=text.len() {
        assert_eq!(read_all(text, piece, 4).await, expected, "pieces of {piece}");
    }
}

#[test]
fn the_body_of_a_line_stays_as_it_was_written() {
    let line =
        r#"{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"x": 1.0}}"#;
    let call = parse_line(1, line.as_bytes(), ENDPOINT).unwrap();
    assert_eq!((call.custom_id.as_str(), call.body), ("a", r#"{"x": 1.0}"#));
}

#[test]
fn every_fault_of_a_line_is_reported() {
    let all = faults_of(r#"{"custom_id":"","method":"GET","url":"/v1/embeddings"}"#);
    let codes: Vec<_> = all.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(
        codes,
        [
            "missing_required_parameter",
            "invalid_method",
            "mismatched_url",
            "missing_required_parameter"
        ]
    );
    let params: Vec<_> = all.iter().map(|(_, param)| param.as_deref().unwrap()).collect();
    assert_eq!(params, ["custom_id", "method", "url", "body"]);
}

#[test]
fn what_is_no_request_is_a_fault_and_no_panic() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_id = format!(r#"{{"custom_id":{deep},"method":"POST"}}"#);
    for line in ["", "{", "[]", "null", "\u{0}", "{\"a\":1}", "{} {}", &deep, &deep_id] {
        assert_eq!(faults_of(line)[0].0, "invalid_json_line", "{line:.40}");
    }
    assert!(parse_line(1, b"\xff\xfe", ENDPOINT).is_err());
    let number = r#"{"custom_id":1,"method":"POST","url":"/v1/chat/completions","body":{}}"#;
    assert_eq!(faults_of(number), [("invalid_custom_id".to_owned(), Some("custom_id".to_owned()))]);
    let null = r#"{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":null}"#;
    assert_eq!(faults_of(null)[0].0, "missing_required_parameter");
}

#[test]
fn a_result_is_one_line_whatever_the_reply() {
    let names = LineNames { custom_id: "a\nb", request_id: "00" };
    for body in ["{\n \"x\": 1\r\n}", "{\"x\":1}", "no json", "\u{0}"] {
        let line = names.write_reply(200, &Bytes::copy_from_slice(body.as_bytes()));
        assert!(!line.contains(&b'\n'), "{body}");
        let read: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(read["response"]["status_code"], 200);
        assert_eq!(read["custom_id"], "a\nb");
    }
    let failed: serde_json::Value =
        serde_json::from_slice(&names.write_error("batch_expired", "late")).unwrap();
    assert_eq!(failed["error"]["code"], "batch_expired");
    assert!(failed["response"].is_null());
}
