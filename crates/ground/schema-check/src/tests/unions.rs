//! Tests of the branch whose faults are reported.

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::CompiledSchema;

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum Message {
    User { content: Content },
    Assistant { content: Option<Content> },
    Tool(ToolMessage),
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct ToolMessage {
    tool_call_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Content {
    Text(#[schemars(length(min = 1))] String),
    Parts(#[schemars(length(min = 1))] Vec<Part>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum Part {
    Text { text: String },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct ImageUrl {
    #[schemars(url)]
    url: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Source {
    Url { url: String },
    Bytes { b64: String, kind: Option<Kind> },
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Lossless.
    Png,
    Webp,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Period {
    Month,
    Epoch,
}

#[track_caller]
fn check<T: JsonSchema + 'static>(value: Value, expected: Expect) {
    let text = match CompiledSchema::for_type::<T>().check(&value) {
        Ok(()) => "fits".to_owned(),
        Err(faults) => faults.to_string(),
    };
    expected.assert_eq(&text);
}

#[test]
fn the_tag_decides_which_branch_is_meant() {
    check::<Message>(json!({"role": "user"}), expect!["content: Required"]);
    check::<Message>(json!({"role": "tool"}), expect!["tool_call_id: Required"]);
    check::<Message>(json!({"role": "assistant", "content": null}), expect!["fits"]);
    check::<Message>(json!({"content": "a"}), expect!["role: Required"]);
    check::<Message>(
        json!({"role": "robot", "content": 7}),
        expect![
            "role: Invalid enum value. Expected 'user' | 'assistant' | 'tool', received 'robot'"
        ],
    );
    check::<Message>(
        json!({"role": 7}),
        expect!["role: Expected 'user' | 'assistant' | 'tool', received number"],
    );
    check::<Message>(json!(7), expect!["Expected object, received number"]);
}

#[test]
fn the_type_decides_where_there_is_no_tag() {
    check::<Content>(json!(""), expect!["Must contain at least 1 character(s)"]);
    check::<Content>(json!([]), expect!["Must contain at least 1 element(s)"]);
    check::<Content>(json!(7), expect!["Expected string or array, received number"]);
    check::<Option<Content>>(json!(null), expect!["fits"]);
    check::<Option<Content>>(json!(true), expect!["Expected string or array, received boolean"]);
}

#[test]
fn faults_keep_their_place_through_nested_unions() {
    let parts = json!([
        {"type": "text", "text": 1},
        {"type": "image_url", "image_url": {"url": "no"}},
        {"type": "video"},
        {},
    ]);
    check::<Message>(
        json!({"role": "user", "content": parts}),
        expect![
            "content.0.text: Expected string, received number; content.1.image_url.url: Must be an absolute URL, such as https://example.com/a.png; content.2.type: Invalid enum value. Expected 'text' | 'image_url', received 'video'; content.3.type: Required"
        ],
    );
}

#[test]
fn the_nearest_object_is_meant_where_neither_tag_nor_type_tell() {
    check::<Source>(json!({"b64": 7}), expect!["b64: Expected string, received number"]);
    check::<Source>(json!({"url": 7}), expect!["url: Expected string, received number"]);
    check::<Source>(json!({"b64": "a", "kind": "gif"}), expect!["url: Required"]);
}

#[test]
fn a_branch_for_all_other_tags_does_not_hide_the_faults_of_a_known_one() {
    let shape = CompiledSchema::from_schema(&json!({"anyOf": [
        {"type": "object", "required": ["type", "id"],
            "properties": {"type": {"const": "known"}, "id": {"type": "string"}}},
        {"type": "object", "required": ["type"],
            "properties": {"type": {"type": "string", "not": {"enum": ["known"]}}}},
    ]}))
    .unwrap();
    assert!(shape.check(&json!({"type": "other"})).is_ok());
    let faults = shape.check(&json!({"type": "known"})).unwrap_err();
    assert_eq!(faults.to_string(), "id: Required");
}

#[test]
fn an_optional_list_of_values_shows_its_values_and_not_null() {
    check::<Option<Period>>(
        json!("day"),
        expect!["Invalid enum value. Expected 'month' | 'epoch', received 'day'"],
    );
    check::<Option<Period>>(json!(1), expect!["Expected 'month' | 'epoch', received number"]);
    check::<Option<Period>>(json!(null), expect!["fits"]);
}

#[test]
fn a_value_that_fits_two_exclusive_forms_is_refused() {
    let shape =
        CompiledSchema::from_schema(&json!({"oneOf": [{"minimum": 1}, {"maximum": 5}]})).unwrap();
    let faults = shape.check(&json!(3)).unwrap_err();
    expect![[r#"[{"code":"invalid_union","path":[],"message":"Matches more than one of the allowed forms; send exactly one of them"}]"#]]
    .assert_eq(&faults.issues().to_string());
    assert!(shape.check(&json!(9)).is_ok());
}

#[test]
fn a_union_of_unions_ends_in_bounded_time() {
    let schema = json!({"$defs": {"a": {"anyOf": [
        {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"type": "string"}}},
        {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"type": "number"}}},
        {"type": "number"},
    ]}}, "$ref": "#/$defs/a"});
    let mut value = json!("wrong");
    for _ in 0..60 {
        value = json!({ "x": value });
    }
    let faults = CompiledSchema::from_schema(&schema).unwrap().check(&value).unwrap_err();
    assert_eq!(faults.to_string(), "Too large or too deeply nested; send a simpler value");
}
