//! Tests of schemas that are refused, because they would be published and not enforced.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::CompiledSchema;

#[track_caller]
fn check(schema: Value, expected: Expect) {
    let text = match CompiledSchema::from_schema(&schema) {
        Ok(_) => "enforceable".to_owned(),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&text);
}

#[test]
fn an_unknown_rule_is_refused_with_its_place() {
    check(
        json!({"properties": {"a": {"contains": {}}}}),
        expect!["the keyword `contains` is not enforced (in the schema at #/properties/a)"],
    );
    check(
        json!({"format": "hostname"}),
        expect!["the format `hostname` is not enforced (in the schema at #)"],
    );
    check(json!({"type": "strung"}), expect![[r#""strung" is not a type (in the schema at #)"#]]);
    check(
        json!({"minLength": "1"}),
        expect!["`minLength` is not a whole number (in the schema at #)"],
    );
    check(json!({"x-order": 1, "title": "T", "format": "double"}), expect!["enforceable"]);
}

#[test]
fn references_must_lead_somewhere() {
    check(
        json!({"$ref": "#/$defs/a"}),
        expect!["the reference points at nothing (in the schema at #/$defs/a)"],
    );
    check(
        json!({"$ref": "https://example.com/a"}),
        expect![
            "only references within the document work (in the schema at https://example.com/a)"
        ],
    );
    check(
        json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]}),
        expect!["a schema consists of nothing but itself (in the schema at #)"],
    );
    check(json!({"items": {"$ref": "#"}}), expect!["enforceable"]);
}

#[test]
fn patterns_are_bounded() {
    let schema = json!({"pattern": "(a{1000}){1000}"});
    assert!(CompiledSchema::from_schema(&schema).is_err());
    assert!(CompiledSchema::from_schema(&json!({"pattern": "(?=a)"})).is_err());
}

#[test]
fn depth_is_bounded_in_schemas_and_in_values() {
    let mut schema = json!({});
    let mut value = json!([]);
    for _ in 0..600 {
        schema = json!({ "items": schema });
        value = json!([value]);
    }
    let error = CompiledSchema::from_schema(&schema).unwrap_err();
    assert!(error.to_string().starts_with("the schema is nested too deeply"), "{error}");
    let endless = CompiledSchema::from_schema(&json!({"items": {"$ref": "#"}})).unwrap();
    let faults = endless.check(&value).unwrap_err();
    assert!(faults.to_string().ends_with("Too large or too deeply nested; send a simpler value"));
}

#[test]
fn a_schema_of_a_document_keeps_its_references() {
    let document = json!({"openapi": "3.1.0", "components": {"schemas": {
        "Model": {"type": "object", "required": ["id"], "properties": {"id": {"$ref": "#/components/schemas/Id"}}},
        "Id": {"type": "string"},
    }}});
    let shape = CompiledSchema::from_document(&document, "#/components/schemas/Model").unwrap();
    assert_eq!(
        shape.check(&json!({"id": 1})).unwrap_err().to_string(),
        "id: Expected string, received number"
    );
    assert!(CompiledSchema::from_document(&document, "#/components/schemas/None").is_err());
}
