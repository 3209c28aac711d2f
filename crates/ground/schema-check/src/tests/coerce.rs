//! Tests of converting query strings and form fields to JSON.

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::CompiledSchema;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Query {
    limit: Option<u32>,
    #[schemars(extend("x-null-text" = true))]
    offset: Option<u32>,
    ratio: Option<f64>,
    #[serde(default)]
    verbose: bool,
    name: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    ids: Option<Vec<u32>>,
    duration: Option<Duration>,
    stop: Option<Stop>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Duration {
    Seconds(u32),
    Words(#[schemars(regex(pattern = "^[0-9]+s$"))] String),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Stop {
    One(String),
    Many(Vec<String>),
}

#[track_caller]
fn check(pairs: &[(&str, &str)], expected: Expect) {
    let owned = pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let shape = CompiledSchema::for_type::<Query>();
    let value = shape.coerce_pairs(owned);
    let verdict = match shape.check(&value) {
        Ok(()) => String::new(),
        Err(faults) => format!(" {faults}"),
    };
    expected.assert_eq(&format!("{value}{verdict}"));
}

#[test]
fn the_text_null_is_null_only_where_the_schema_says_so() {
    check(&[("offset", "null"), ("name", "null")], expect![[r#"{"offset":null,"name":"null"}"#]]);
    check(
        &[("limit", "null")],
        expect![[r#"{"limit":"null"} limit: Expected integer, received string"#]],
    );
}

#[test]
fn texts_become_what_the_schema_wants() {
    check(
        &[("limit", "10"), ("ratio", "0.5"), ("verbose", "true"), ("name", "7")],
        expect![[r#"{"limit":10,"ratio":0.5,"verbose":true,"name":"7"}"#]],
    );
}

#[test]
fn what_cannot_be_turned_stays_text_and_is_reported() {
    check(
        &[("limit", "ten"), ("ratio", "NaN"), ("verbose", "1")],
        expect![[
            r#"{"limit":"ten","ratio":"NaN","verbose":"1"} limit: Expected integer, received string; ratio: Expected number, received string; verbose: Expected boolean, received string"#
        ]],
    );
}

#[test]
fn a_list_may_be_repeated_bracketed_or_separated_by_commas() {
    check(&[("tags", "a"), ("tags", "b")], expect![[r#"{"tags":["a","b"]}"#]]);
    check(&[("tags[]", "a,b")], expect![[r#"{"tags":["a,b"]}"#]]);
    check(&[("tags", "a, b")], expect![[r#"{"tags":["a","b"]}"#]]);
    check(&[("ids", "1,2")], expect![[r#"{"ids":[1,2]}"#]]);
    check(
        &[("ids", "1"), ("ids", "x")],
        expect![[r#"{"ids":[1,"x"]} ids.1: Expected integer, received string"#]],
    );
}

#[test]
fn a_union_takes_text_where_text_fits() {
    check(&[("duration", "5")], expect![[r#"{"duration":5}"#]]);
    check(&[("duration", "5s")], expect![[r#"{"duration":"5s"}"#]]);
    check(&[("stop", "a,b")], expect![[r#"{"stop":"a,b"}"#]]);
    check(&[("stop", "a"), ("stop", "b")], expect![[r#"{"stop":["a","b"]}"#]]);
}

#[test]
fn a_scalar_given_twice_is_a_fault() {
    check(
        &[("limit", "1"), ("limit", "2")],
        expect![[r#"{"limit":["1","2"]} limit: Expected integer, received array"#]],
    );
}

#[test]
fn unknown_names_pass_as_text() {
    check(&[("page", "1"), ("x[]", "1")], expect![[r#"{"page":"1","x":["1"]}"#]]);
}
