//! Tests of the message and code of each rule.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::CompiledSchema;

/// Compares the details and issues of a value under a schema.
#[track_caller]
fn check(schema: Value, value: Value, expected: Expect) {
    let shape = CompiledSchema::from_schema(&schema).expect("the schema is enforceable");
    let text = match shape.check(&value) {
        Ok(()) => "fits".to_owned(),
        Err(faults) => format!("{faults}\n{}", faults.issues()),
    };
    expected.assert_eq(&text);
}

#[test]
fn a_missing_field_is_reported_at_its_own_place() {
    check(
        json!({"type": "object", "required": ["model"], "properties": {"model": {"type": "string"}}}),
        json!({}),
        expect![[r#"
            model: Required
            [{"code":"invalid_type","expected":"string","received":"undefined","path":["model"],"message":"Required"}]"#]],
    );
}

#[test]
fn a_wrong_type_says_what_was_wanted_and_what_came() {
    check(
        json!({"type": ["string", "null"]}),
        json!(1),
        expect![[r#"
            Expected string, received number
            [{"code":"invalid_type","expected":"string","received":"number","path":[],"message":"Expected string, received number"}]"#]],
    );
    check(
        json!({"type": "integer"}),
        json!(1.5),
        expect![[r#"
            Expected integer, received float
            [{"code":"invalid_type","expected":"integer","received":"float","path":[],"message":"Expected integer, received float"}]"#]],
    );
    check(json!({"type": "integer"}), json!(1.0), expect!["fits"]);
}

#[test]
fn lengths_count_characters_not_bytes() {
    check(json!({"minLength": 3, "maxLength": 3}), json!("äöü"), expect!["fits"]);
    check(
        json!({"minLength": 3}),
        json!("äö"),
        expect![[r#"
            Must contain at least 3 character(s)
            [{"code":"too_small","minimum":3,"type":"string","inclusive":true,"exact":false,"path":[],"message":"Must contain at least 3 character(s)"}]"#]],
    );
    check(
        json!({"minLength": 1}),
        json!(""),
        expect![[r#"
            Must contain at least 1 character(s)
            [{"code":"too_small","minimum":1,"type":"string","inclusive":true,"exact":false,"path":[],"message":"Must contain at least 1 character(s)"}]"#]],
    );
    check(
        json!({"maxItems": 1, "items": {"type": "string"}}),
        json!([1, 2]),
        expect![[r#"
            Must contain at most 1 element(s)
            [{"code":"too_big","maximum":1,"type":"array","inclusive":true,"exact":false,"path":[],"message":"Must contain at most 1 element(s)"}]"#]],
    );
    check(
        json!({"minProperties": 1}),
        json!({}),
        expect![[r#"
            Must contain at least 1 key(s)
            [{"code":"too_small","minimum":1,"type":"object","inclusive":true,"exact":false,"path":[],"message":"Must contain at least 1 key(s)"}]"#]],
    );
}

#[test]
fn bounds_say_whether_they_are_included() {
    check(
        json!({"exclusiveMinimum": 0}),
        json!(0),
        expect![[r#"
            Must be greater than 0
            [{"code":"too_small","minimum":0,"type":"number","inclusive":false,"exact":false,"path":[],"message":"Must be greater than 0"}]"#]],
    );
    check(
        json!({"maximum": 2}),
        json!(2.1),
        expect![[r#"
            Must be at most 2
            [{"code":"too_big","maximum":2,"type":"number","inclusive":true,"exact":false,"path":[],"message":"Must be at most 2"}]"#]],
    );
    check(
        json!({"exclusiveMaximum": 1}),
        json!(1),
        expect![[r#"
            Must be less than 1
            [{"code":"too_big","maximum":1,"type":"number","inclusive":false,"exact":false,"path":[],"message":"Must be less than 1"}]"#]],
    );
    check(
        json!({"multipleOf": 8}),
        json!(12),
        expect![[r#"
            Must be a multiple of 8
            [{"code":"not_multiple_of","multipleOf":8,"path":[],"message":"Must be a multiple of 8"}]"#]],
    );
    check(json!({"multipleOf": 0.1}), json!(0.3), expect!["fits"]);
}

#[test]
fn an_integer_format_is_a_bound_because_the_type_behind_it_is_one() {
    check(
        json!({"type": "integer", "format": "uint32"}),
        json!(4_294_967_296_u64),
        expect![[r#"
            Must be at most 4294967295
            [{"code":"too_big","maximum":4294967295,"type":"number","inclusive":true,"exact":false,"path":[],"message":"Must be at most 4294967295"}]"#]],
    );
    check(
        json!({"type": "integer", "format": "uint64"}),
        json!(18_446_744_073_709_551_616.0),
        expect![[r#"
            Must be at most 18446744073709551615
            [{"code":"too_big","maximum":18446744073709551615,"type":"number","inclusive":true,"exact":false,"path":[],"message":"Must be at most 18446744073709551615"}]"#]],
    );
}

#[test]
fn a_closed_list_shows_its_options() {
    check(
        json!({"type": "string", "enum": ["png", "webp"]}),
        json!("gif"),
        expect![[r#"
            Invalid enum value. Expected 'png' | 'webp', received 'gif'
            [{"code":"invalid_enum_value","options":["png","webp"],"received":"gif","path":[],"message":"Invalid enum value. Expected 'png' | 'webp', received 'gif'"}]"#]],
    );
    check(
        json!({"type": "string", "enum": ["png", "webp"]}),
        json!(7),
        expect![[r#"
            Expected 'png' | 'webp', received number
            [{"code":"invalid_type","expected":"'png' | 'webp'","received":"number","path":[],"message":"Expected 'png' | 'webp', received number"}]"#]],
    );
    check(json!({"const": 1}), json!(1.0), expect!["fits"]);
}

#[test]
fn a_long_value_is_cut_before_it_is_repeated() {
    check(
        json!({"const": "a"}),
        json!("ü".repeat(1000)),
        expect![[r#"
            Invalid enum value. Expected 'a', received 'üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü…'
            [{"code":"invalid_enum_value","options":["a"],"received":"üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü…","path":[],"message":"Invalid enum value. Expected 'a', received 'üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü…'"}]"#]],
    );
}

#[test]
fn a_text_rule_shows_what_to_write() {
    check(
        json!({"type": "string", "format": "uri"}),
        json!("not a url"),
        expect![[r#"
            Must be an absolute URL, such as https://example.com/a.png
            [{"code":"invalid_string","validation":"url","path":[],"message":"Must be an absolute URL, such as https://example.com/a.png"}]"#]],
    );
    check(
        json!({"type": "string", "pattern": "^[a-z]\\d$"}),
        json!("a٣"),
        expect![[r#"
            Must match the pattern ^[a-z]\d$
            [{"code":"invalid_string","validation":"regex","path":[],"message":"Must match the pattern ^[a-z]\\d$"}]"#]],
    );
}

#[test]
fn unknown_keys_are_named_together_where_the_object_is_closed() {
    check(
        json!({"properties": {"a": {}}, "additionalProperties": false}),
        json!({"a": 1, "b": 2, "c": 3}),
        expect![[r#"
            Unrecognized key(s) in object: 'b', 'c'
            [{"code":"unrecognized_keys","keys":["b","c"],"path":[],"message":"Unrecognized key(s) in object: 'b', 'c'"}]"#]],
    );
    check(
        json!({"propertyNames": {"pattern": "^x-"}}),
        json!({"y": 1}),
        expect![[r#"
            Unrecognized key(s) in object: 'y'
            [{"code":"unrecognized_keys","keys":["y"],"path":[],"message":"Unrecognized key(s) in object: 'y'"}]"#]],
    );
    check(json!({"properties": {"a": {}}}), json!({"b": 2}), expect!["fits"]);
}

#[test]
fn rules_without_a_code_of_their_own_still_say_what_to_do() {
    check(
        json!({"uniqueItems": true}),
        json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}]),
        expect![[r#"
            Must not contain the same element twice
            [{"code":"custom","path":[],"message":"Must not contain the same element twice"}]"#]],
    );
    check(
        json!({"properties": {"a": false}}),
        json!({"a": 1}),
        expect![[r#"
            a: Must be left out
            [{"code":"custom","path":["a"],"message":"Must be left out"}]"#]],
    );
    check(
        json!({"not": {"type": "string"}}),
        json!("a"),
        expect![[r#"
            Has a form that is not allowed here
            [{"code":"custom","path":[],"message":"Has a form that is not allowed here"}]"#]],
    );
}

#[test]
fn a_rule_that_is_stated_twice_is_reported_once() {
    check(
        json!({"allOf": [{"type": "string"}, {"type": "string"}]}),
        json!(1),
        expect![[r#"
            Expected string, received number
            [{"code":"invalid_type","expected":"string","received":"number","path":[],"message":"Expected string, received number"}]"#]],
    );
}
