//! Compares the verdicts with those of the `jsonschema` crate.

use std::sync::LazyLock;

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::CompiledSchema;

static SHAPES: LazyLock<Vec<(CompiledSchema, Validator)>> = LazyLock::new(|| {
    let both = |schema: Value| {
        let shape = CompiledSchema::from_schema(&schema).expect("the schema is enforceable");
        (shape, jsonschema::validator_for(&schema).expect("the schema is valid"))
    };
    schemas().into_iter().map(both).collect()
});

/// Schemas with every keyword that our types produce.
fn schemas() -> Vec<Value> {
    let text = json!({"type": "string", "minLength": 1, "maxLength": 3});
    let number = json!({"type": "number", "minimum": -1, "exclusiveMaximum": 2});
    let tagged = json!({"oneOf": [
        {"type": "object", "required": ["a"], "properties": {"a": {"const": "x"}, "b": text}},
        {"type": "object", "required": ["a", "b"], "properties": {"a": {"enum": ["y", "z"]}, "b": number}},
        {"type": "string", "const": "x"},
    ]});
    vec![
        json!({"$defs": {"t": tagged.clone()}, "type": "object", "required": ["a"],
            "properties": {"a": {"$ref": "#/$defs/t"}, "b": {"type": "array", "maxItems": 2,
            "items": {"$ref": "#/$defs/t"}}}, "additionalProperties": false}),
        json!({"anyOf": [{"type": "integer", "multipleOf": 2}, {"type": "string", "pattern": "^[x-z]\\d?$"},
            {"type": "array", "prefixItems": [text], "items": number, "uniqueItems": true}]}),
        json!({"allOf": [{"properties": {"a": number}, "required": ["a"]}, {"minProperties": 2}],
            "patternProperties": {"^b": text}, "propertyNames": {"maxLength": 1}}),
        json!({"$defs": {"n": {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/$defs/n"},
            {"type": "null"}]}, "b": {"not": {"type": "string"}}}}}, "$ref": "#/$defs/n"}),
        json!({"oneOf": [{"minimum": 0}, {"maximum": 1}, {"enum": [null, "x", 1.0, {"a": 1}, ["y"]]}]}),
        tagged,
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        (-3_i64..4).prop_map(Value::from),
        (-8_i32..9).prop_map(|it| Value::from(f64::from(it) / 4.0)),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        "[xyz][0-9]?|[a-c]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[abc]|bb", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_walk_agrees_with_another_implementation(index in 0..6_usize, value in values()) {
        let (shape, oracle) = &SHAPES[index];
        let verdict = shape.check_reply(&value);
        prop_assert_eq!(verdict.is_ok(), oracle.is_valid(&value), "{} {} {:?}", index, value, verdict);
    }

    #[test]
    fn what_passes_still_passes_once_tidied(index in 0..6_usize, value in values()) {
        let (shape, _) = &SHAPES[index];
        if let Ok(tidied) = shape.check_and_adapt(value) {
            prop_assert!(shape.check(&tidied).is_ok());
        }
    }

    #[test]
    fn any_json_as_schema_or_pairs_as_query_never_panics(
        schema in values(),
        value in values(),
        pairs in prop::collection::vec((".{0,4}", ".{0,4}"), 0..5),
    ) {
        if let Ok(shape) = CompiledSchema::from_schema(&schema) {
            let _ = shape.check(&value);
        }
        let (shape, _) = &SHAPES[0];
        prop_assert!(shape.coerce_pairs(pairs).is_object());
    }
}
