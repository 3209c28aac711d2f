//! Tests for the validation of a server's vectors.

use serde_json::json;

use super::*;

#[track_caller]
fn check(body: &Value, count: usize, expected: Result<&[&[f32]], &str>) {
    let found = read_batch(body.to_string().as_bytes(), count)
        .and_then(|answer| join_batches(vec![answer], None))
        .map(|answer| answer.vectors)
        .map_err(|error| error.to_string());
    let expected = expected
        .map(|vectors| vectors.iter().map(|it| it.to_vec()).collect::<Vec<_>>())
        .map_err(|cause| format!("the engine gave a bad answer: {cause}"));
    assert_eq!(found, expected);
}

#[test]
fn vectors_are_put_into_the_order_of_their_entries() {
    let body = json!({"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]});
    check(&body, 2, Ok(&[&[1.0], &[2.0]]));
    let unnumbered = json!({"data": [{"embedding": [1]}, {"embedding": [2]}]});
    check(&unnumbered, 2, Ok(&[&[1.0], &[2.0]]));
}

#[test]
fn base64_that_nobody_asked_for_is_read_too() {
    check(&json!({"data": [{"index": 0, "embedding": "AACAPwAAAMA="}]}), 1, Ok(&[&[1.0, -2.0]]));
}

#[test]
fn vectors_that_do_not_fit_their_entries_are_refused() {
    let one = json!({"data": [{"index": 0, "embedding": [1]}]});
    check(&one, 2, Err("it has 1 vectors for 2 entries"));
    let twice = json!({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]});
    check(&twice, 2, Err("its vector 0 is one too many"));
    let far = json!({"data": [{"index": 9, "embedding": [1]}]});
    check(&far, 1, Err("its vector 9 is one too many"));
}

#[test]
fn vectors_of_different_lengths_are_refused() {
    let uneven = json!({"data": [{"embedding": [1]}, {"embedding": [1, 2]}]});
    check(&uneven, 2, Err("its vectors are empty or of different lengths"));
    let empty = json!({"data": [{"embedding": []}]});
    check(&empty, 1, Err("its vectors are empty or of different lengths"));
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    for embedding in ["[1e39]", r#""AACAfw==""#, r#""AAA=""#, "[null]", "7"] {
        let body = format!(r#"{{"data":[{{"embedding":{embedding}}}]}}"#);
        let error = read_batch(body.as_bytes(), 1).unwrap_err().to_string();
        assert!(error.contains("it is not a list of embeddings"), "{embedding}: {error}");
    }
}

#[test]
fn another_length_than_the_one_asked_for_is_the_callers_matter() {
    let answer = EmbeddingAnswer { vectors: vec![vec![1.0, 2.0]], usage: None };
    let error = join_batches(vec![answer.clone()], Some(1)).unwrap_err();
    assert!(matches!(error, EngineError::Rejected { .. }), "{error:?}");
    assert!(join_batches(vec![answer], Some(2)).is_ok());
}

#[test]
fn an_error_inside_a_success_is_an_error() {
    check(&json!({"error": {"message": "broken"}}), 1, Err("status 500"));
}
