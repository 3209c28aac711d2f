//! Tests of the fault tree, and of rules outside a schema that add to it.

use expect_test::expect;
use serde_json::json;

use crate::{CompiledSchema, FAULTS_MAX, PathStep, ValidationFault, ValidationFaults};

#[test]
fn details_nest_by_field_and_index_with_errors_at_each_level() {
    let mut faults = ValidationFaults::default();
    faults.root().push("Whole");
    faults.at(["model"]).push(ValidationFault::missing("string"));
    faults
        .at([PathStep::from("messages"), PathStep::from(1), PathStep::from("role")])
        .push("First");
    faults
        .at([PathStep::from("messages"), PathStep::from(1), PathStep::from("role")])
        .push("Second");
    expect![[r#"{"_errors":["Whole"],"model":{"_errors":["Required"]},"messages":{"_errors":[],"1":{"_errors":[],"role":{"_errors":["First","Second"]}}}}"#]]
    .assert_eq(&faults.details().to_string());
    expect![[r#"[{"code":"custom","path":[],"message":"Whole"},{"code":"invalid_type","expected":"string","received":"undefined","path":["model"],"message":"Required"},{"code":"custom","path":["messages",1,"role"],"message":"First"},{"code":"custom","path":["messages",1,"role"],"message":"Second"}]"#]]
    .assert_eq(&faults.issues().to_string());
}

#[test]
fn merged_faults_keep_their_places() {
    let mut faults = ValidationFaults::one(["voice"], "Pick a voice that the model has: af_sky");
    faults.merge(ValidationFaults::one(["speed"], "Too fast"));
    assert_eq!(
        faults.to_string(),
        "voice: Pick a voice that the model has: af_sky; speed: Too fast"
    );
    assert_eq!(faults.len(), 2);
    assert!(ValidationFaults::default().into_result().is_ok());
}

#[test]
fn a_body_with_endless_faults_gets_a_bounded_answer() {
    let shape = CompiledSchema::from_schema(&json!({"items": {"type": "string"}})).unwrap();
    let faults = shape.check(&json!(vec![1; 100_000])).unwrap_err();
    assert_eq!(faults.len(), FAULTS_MAX);
}

#[test]
fn a_key_named_like_the_list_of_errors_does_not_displace_it() {
    let schema = json!({"additionalProperties": {"type": "string"}});
    let faults =
        CompiledSchema::from_schema(&schema).unwrap().check(&json!({"_errors": 1})).unwrap_err();
    assert_eq!(faults.details(), json!({"_errors": ["Expected string, received number"]}));
}

#[test]
fn a_long_key_is_cut_before_it_is_repeated() {
    let schema = json!({"additionalProperties": {"type": "string"}});
    let key = "k".repeat(10_000);
    let faults =
        CompiledSchema::from_schema(&schema).unwrap().check(&json!({ key: 1 })).unwrap_err();
    assert!(faults.details().to_string().len() < 200);
}
