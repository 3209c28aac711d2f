//! Tests of parsing a caller's JSON into a type.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{CompiledSchema, ParseError, check_and_parse};

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read through Debug")]
struct Request {
    model: String,
    #[serde(default)]
    stream: bool,
    #[schemars(range(min = 1))]
    max_tokens: Option<u32>,
    #[serde(default)]
    tags: BTreeSet<String>,
    #[serde(flatten)]
    sampling: Sampling,
    weights: Option<BTreeMap<String, i32>>,
    size: Option<Size>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read through Debug")]
struct Sampling {
    #[schemars(range(min = 0, max = 2))]
    temperature: Option<f64>,
    #[serde(default = "one")]
    n: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read through Debug")]
enum Size {
    Name(String),
    Pixels {
        width: u32,
        #[serde(default)]
        exact: bool,
    },
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Sly {
    #[serde(rename = "port")]
    #[schemars(with = "String")]
    _port: u16,
}

fn one() -> u8 {
    1
}

#[track_caller]
fn check(value: Value, expected: Expect) {
    let text = match check_and_parse::<Request>(value) {
        Ok(request) => format!("{request:?}"),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&text);
}

#[test]
fn an_explicit_null_on_an_optional_field_is_as_if_absent() {
    check(
        json!({"model": "m", "stream": null, "max_tokens": null, "tags": null, "n": null,
            "temperature": null, "weights": null, "size": {"width": 3, "exact": null}}),
        expect![[
            r#"Request { model: "m", stream: false, max_tokens: None, tags: {}, sampling: Sampling { temperature: None, n: 1 }, weights: None, size: Some(Pixels { width: 3, exact: false }) }"#
        ]],
    );
}

#[test]
fn a_null_that_we_send_is_held_against_the_schema() {
    let reply = json!({"model": "m", "stream": null, "max_tokens": null});
    let shape = CompiledSchema::for_type::<Request>();
    assert!(shape.check(&reply).is_ok());
    let faults = shape.check_reply(&reply).unwrap_err();
    assert_eq!(faults.to_string(), "stream: Expected boolean, received null");
}

#[test]
fn a_null_on_a_required_field_is_a_fault() {
    check(json!({"model": null}), expect!["model: Expected string, received null"]);
}

#[test]
fn a_whole_float_is_an_integer_at_any_depth() {
    check(
        json!({"model": "m", "max_tokens": 5.0, "temperature": 1.0, "weights": {"a": -1.0},
            "size": {"width": 1e3}}),
        expect![[
            r#"Request { model: "m", stream: false, max_tokens: Some(5), tags: {}, sampling: Sampling { temperature: Some(1.0), n: 1 }, weights: Some({"a": -1}), size: Some(Pixels { width: 1000, exact: false }) }"#
        ]],
    );
}

#[test]
fn unknown_fields_are_ignored() {
    check(
        json!({"model": "m", "frequency": {"deep": [1]}}),
        expect![[
            r#"Request { model: "m", stream: false, max_tokens: None, tags: {}, sampling: Sampling { temperature: None, n: 1 }, weights: None, size: None }"#
        ]],
    );
}

#[test]
fn all_faults_of_a_body_come_at_once() {
    check(
        json!({"stream": "yes", "max_tokens": 0, "tags": ["a", "a", 1], "temperature": "hot",
            "n": 300, "weights": {"a": 3_000_000_000_u64}, "size": {"width": -1}}),
        expect![
            "model: Required; stream: Expected boolean, received string; max_tokens: Must be at least 1; tags.2: Expected string, received number; tags: Must not contain the same element twice; temperature: Expected number, received string; n: Must be at most 255; weights.a: Must be at most 2147483647; size.width: Must be at least 0"
        ],
    );
}

#[test]
fn a_schema_that_accepts_what_its_type_refuses_is_our_mistake() {
    let error = check_and_parse::<Sly>(json!({"port": "80"})).unwrap_err();
    assert!(matches!(error, ParseError::Disagrees(_)), "{error}");
}
