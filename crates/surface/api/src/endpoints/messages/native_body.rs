//! The caller's body as it came, for providers that speak the same protocol.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::thinking_seal::is_own_signature;

/// The members of a body whose places are needed. A repeated one is an error: the provider might
/// read the other one.
#[derive(Deserialize)]
struct BodyPlaces<'a> {
    #[serde(borrow)]
    model: &'a RawValue,
    #[serde(borrow)]
    messages: &'a RawValue,
    #[serde(borrow, default, rename = "max_tokens")]
    _max_tokens: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "stream")]
    _stream: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TurnPlaces<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

/// The fields of a block that tell a thinking block of ours.
#[derive(Deserialize)]
struct BlockSignature<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    signature: Option<Cow<'a, str>>,
}

/// A body without the thinking blocks that this service signed, and the place of its model.
#[derive(Debug)]
pub(super) struct NativeBody {
    pub(super) bytes: Bytes,
    pub(super) model_span: Range<usize>,
}

impl NativeBody {
    /// None if a member of the body is repeated. The body must be a valid request.
    pub(super) fn from_bytes(bytes: &Bytes) -> Option<NativeBody> {
        let text = std::str::from_utf8(bytes).ok()?;
        let places: BodyPlaces<'_> = serde_json::from_str(text).ok()?;
        let Some(messages) = strip_thinking(places.messages) else {
            let model_span = find_span(text, places.model)?;
            return Some(NativeBody { bytes: bytes.clone(), model_span });
        };
        let changed = replace_value(text, places.messages, &messages)?;
        let places: BodyPlaces<'_> = serde_json::from_str(&changed).ok()?;
        let model_span = find_span(&changed, places.model)?;
        Some(NativeBody { bytes: Bytes::from(changed), model_span })
    }
}

/// The place of a value within the text that it borrows from.
fn find_span(text: &str, value: &RawValue) -> Option<Range<usize>> {
    let start = value.get().as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let end = start.checked_add(value.get().len())?;
    (end <= text.len()).then_some(start..end)
}

/// The text with another value in the place of one.
fn replace_value(text: &str, value: &RawValue, by: &str) -> Option<String> {
    let span = find_span(text, value)?;
    Some([text.get(..span.start)?, by, text.get(span.end..)?].concat())
}

/// The messages without thinking blocks of ours; None if there are none.
fn strip_thinking(messages: &RawValue) -> Option<String> {
    let messages: Vec<&RawValue> = serde_json::from_str(messages.get()).ok()?;
    let mut is_changed = false;
    let mut kept = Vec::with_capacity(messages.len());
    for message in messages {
        match strip_message(message.get()) {
            None => kept.push(Cow::Borrowed(message.get())),
            Some(stripped) => {
                is_changed = true;
                kept.extend(stripped.map(Cow::Owned));
            }
        }
    }
    is_changed.then(|| format!("[{}]", kept.join(",")))
}

/// None if the message has no thinking block of ours; `Some(None)` if it has nothing else.
fn strip_message(message: &str) -> Option<Option<String>> {
    let turn: TurnPlaces<'_> = serde_json::from_str(message).ok()?;
    let blocks: Vec<&RawValue> = serde_json::from_str(turn.content.get()).ok()?;
    let kept: Vec<&str> =
        blocks.iter().filter(|block| !is_own_thinking(block)).map(|it| it.get()).collect();
    if kept.len() == blocks.len() {
        return None;
    }
    if kept.is_empty() {
        return Some(None);
    }
    replace_value(message, turn.content, &format!("[{}]", kept.join(","))).map(Some)
}

fn is_own_thinking(block: &RawValue) -> bool {
    let Ok(block) = serde_json::from_str::<BlockSignature<'_>>(block.get()) else { return false };
    block.kind == "thinking" && block.signature.is_some_and(|it| is_own_signature(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String)> {
        let body = NativeBody::from_bytes(&Bytes::copy_from_slice(text.as_bytes()))?;
        let whole = String::from_utf8(body.bytes.to_vec()).unwrap();
        Some((whole[body.model_span].to_owned(), whole))
    }

    #[test]
    fn a_body_stays_as_it_came_to_the_byte() {
        let text = "{ \"messages\" : [ {\"content\":[{\"type\":\"thinking\",\"signature\":\"Eq\"}],\
                    \"x\":{\"model\":1}} ],\n\"mod\\u0065l\": \"a\\\"b\" , \"new\":[1,2] }";
        assert_eq!(read(text).unwrap(), ("\"a\\\"b\"".to_owned(), text.to_owned()));
    }

    #[test]
    fn a_repeated_member_is_refused() {
        for text in [
            r#"{"model":"a","model":"b","messages":[]}"#,
            r#"{"model":"a","mod\u0065l":"b","messages":[]}"#,
            r#"{"model":"a","messages":[],"stream":true,"stream":false}"#,
            r#"{"model":"a","messages":[],"max_tokens":1,"max_tokens":9}"#,
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn our_own_thinking_is_left_out_and_the_rest_stays() {
        let ours = r#"{"type":"thinking","thinking":"x","signature":"tgs1.a"}"#;
        let text = format!(
            r#"{{"messages":[{{"role":"user","content":"a"}}, {{"content":[{ours}, {{"type":"text", "text":"b"}}]}},{{"content": [{ours}]}} , {{"content":[{ours}]}}], "model":"m"}}"#
        );
        let (model, whole) = read(&text).unwrap();
        assert_eq!(model, "\"m\"");
        assert_eq!(
            whole,
            r#"{"messages":[{"role":"user","content":"a"},{"content":[{"type":"text", "text":"b"}]}], "model":"m"}"#
        );
        let first = format!(
            r#"{{"messages":[{{"content":[{ours}]}}, {{"content":[{ours}]}}, {{"content":"a"}}],"model":"m"}}"#
        );
        assert_eq!(read(&first).unwrap().1, r#"{"messages":[{"content":"a"}],"model":"m"}"#);
    }
}
