//! Tests that chunk boundaries do not change the events, and that buffers stay bounded.

use proptest::prelude::*;

use super::*;

fn parse(pieces: &[&[u8]]) -> Result<Vec<String>, SseError> {
    let mut parser = SseParser::default();
    let mut events = Vec::new();
    let mut take = |data: &str| {
        events.push(data.to_owned());
        Ok(())
    };
    for piece in pieces {
        parser.push(piece, &mut take)?;
    }
    parser.finish(&mut take)?;
    Ok(events)
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(parse(&[text.as_bytes()]).as_deref(), Ok(owned(expected).as_slice()));
    let single_bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    assert_eq!(parse(&single_bytes).as_deref(), Ok(owned(expected).as_slice()));
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn every_line_ending_ends_a_line() {
    check("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\n", &["a", "b", "c", "d"]);
}

#[test]
fn several_data_lines_are_one_event() {
    check("data: one\ndata:two\ndata\ndata:  three\n\n", &["one\ntwo\n\n three"]);
    check("data: one\r\ndata: two\r\n\r\n", &["one\ntwo"]);
}

#[test]
fn comments_names_and_ids_are_passed_over() {
    check(": ping\n\nevent: x\nid: 7\nretry: 1\ndata: a\n\nevent: empty\n\n", &["a"]);
    check("database: no\n\n", &[]);
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_line() {
    check("\u{feff}data: a\n\n", &["a"]);
}

#[test]
fn the_last_event_may_lack_its_empty_line() {
    check("data: a\n\ndata: [DONE]", &["a", "[DONE]"]);
}

#[test]
fn characters_cut_in_the_middle_come_out_whole() {
    check("data: grüße 世界 🦀\n\n", &["grüße 世界 🦀"]);
}

#[test]
fn bytes_that_are_not_utf8_are_a_fault() {
    assert_eq!(parse(&[b"data: \xff\n\n"]), Err(SseError::NotUtf8));
}

#[test]
fn a_line_that_never_ends_is_a_fault() {
    let megabyte = vec![b'x'; 1024 * 1024];
    let pieces = vec![megabyte.as_slice(); 9];
    assert_eq!(parse(&pieces), Err(SseError::TooLong));
}

#[test]
fn an_event_of_endless_short_lines_is_a_fault() {
    let lines = "data: 0123456789abcdef\n".repeat(1 + EVENT_BYTES_MAX / 16);
    assert_eq!(parse(&[lines.as_bytes()]), Err(SseError::TooLong));
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_events(
        text in "(data: ?[a-zé{}]{0,5}|:c|)(\r\n|\n|\r){1,2}((data: ?[a-zé{}]{0,5}|:c|)(\r\n|\n|\r){1,2}){0,6}",
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = text.as_bytes();
        let at = cut.index(bytes.len() + 1);
        prop_assert_eq!(parse(&[&bytes[..at], &bytes[at..]]), parse(&[bytes]));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&[&bytes]);
    }
}
