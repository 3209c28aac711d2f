//! Tests of every field of an embedding: its upstream form, and the error for a wrong value.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::upstream::UpstreamScript;

use crate::embeddings::embedder::EMBEDDING_MODEL;

const PATH: &str = "/embeddings";

/// An upstream's response to `count` inputs.
pub(crate) fn vectors(count: usize, dimensions: usize) -> UpstreamScript {
    let vector =
        |index| json!({"object": "embedding", "index": index, "embedding": vec![0.5; dimensions]});
    let data: Vec<Value> = (0..count).map(vector).collect();
    let usage = json!({"prompt_tokens": 3, "total_tokens": 3});
    UpstreamScript::json(
        200,
        &json!({"object": "list", "model": "other", "data": data, "usage": usage}),
    )
}

fn ask(more: &Value) -> Value {
    let mut body = json!({"model": EMBEDDING_MODEL, "input": "Hi"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[tokio::test]
async fn every_field_reaches_the_upstream_or_is_done_here() {
    let app = TestApp::start().await;
    for (more, count, dimensions, sent) in [
        (json!({}), 1, 1024, json!({"input": ["Hi"]})),
        (json!({"input": ["a", "b"]}), 2, 1024, json!({"input": ["a", "b"]})),
        (json!({"input": [1, 2]}), 1, 1024, json!({"input": [[1, 2]]})),
        (json!({"input": [[1], [2, 3]]}), 2, 1024, json!({"input": [[1], [2, 3]]})),
        (json!({"dimensions": 8}), 1, 8, json!({"input": ["Hi"], "dimensions": 8})),
        (json!({"dimensions": 1024}), 1, 1024, json!({"input": ["Hi"]})),
        (
            json!({"dimensions": null, "encoding_format": null, "user": null}),
            1,
            1024,
            json!({"input": ["Hi"]}),
        ),
        (json!({"encoding_format": "base64"}), 1, 1024, json!({"input": ["Hi"]})),
        (json!({"user": "ann", "truncate": true}), 1, 1024, json!({"input": ["Hi"]})),
    ] {
        app.upstream.queue_script(vectors(count, dimensions));
        let list = app.admin().post(PATH, &ask(&more)).await.ok_json();
        assert_eq!(list["model"], EMBEDDING_MODEL, "and not what the upstream calls it");
        assert_eq!(list["data"].as_array().unwrap().len(), count);
        let is_text = list["data"][0]["embedding"].is_string();
        assert_eq!(is_text, more["encoding_format"] == "base64", "{more}");
        let mut expected = json!({"model": EMBEDDING_MODEL, "encoding_format": "float"});
        for (name, value) in sent.as_object().unwrap() {
            expected[name] = value.clone();
        }
        assert_eq!(app.upstream.received_bodies().last(), Some(&expected), "{more}");
    }
}

#[tokio::test]
async fn a_model_is_found_by_its_trait_and_by_a_compatible_name() {
    let app = TestApp::start().await;
    for model in ["text-embedding-3-small", "TEXT-EMBEDDING-BGE-M3", "text_embedding_bge_m3"] {
        app.upstream.queue_script(vectors(1, 1024));
        let reply = app.admin().post(PATH, &ask(&json!({"model": model}))).await;
        assert_eq!(reply.ok_json()["model"], EMBEDDING_MODEL, "{model}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_told_at_its_field() {
    let app = TestApp::start().await;
    for (field, more) in [
        ("model", json!({"model": ""})),
        ("model", json!({"model": 7})),
        ("model", json!({"model": null})),
        ("input", json!({"input": null})),
        ("input", json!({"input": ""})),
        ("input", json!({"input": {}})),
        ("input", json!({"input": true})),
        ("input", json!({"input": []})),
        ("input", json!({"input": [""]})),
        ("input", json!({"input": ["a", 1]})),
        ("input", json!({"input": [1, -1]})),
        ("input", json!({"input": [1.5]})),
        ("input", json!({"input": [4_294_967_296_u64]})),
        ("input", json!({"input": [[]]})),
        ("input", json!({"input": [[[1]]]})),
        ("input", json!({"input": vec!["a"; 2049]})),
        ("input", json!({"input": vec![1; 2049]})),
        ("input", json!({"input": vec![[1]; 2049]})),
        ("input", json!({"input": "word ".repeat(8192)})),
        ("dimensions", json!({"dimensions": 0})),
        ("dimensions", json!({"dimensions": -1})),
        ("dimensions", json!({"dimensions": 1.5})),
        ("dimensions", json!({"dimensions": 1025})),
        ("dimensions", json!({"dimensions": "8"})),
        ("encoding_format", json!({"encoding_format": "int8"})),
        ("user", json!({"user": 7})),
    ] {
        let reply = app.admin().post(PATH, &ask(&more)).await;
        // More than twenty failures in thirty seconds would block the client.
        app.clock.0.advance(Duration::from_secs(2));
        assert_eq!(reply.status, 400, "{field}: {}", reply.text());
        let issues = reply.json()["issues"].clone();
        let is_named = issues.as_array().unwrap().iter().any(|issue| issue["path"][0] == field);
        assert!(is_named, "{field}: {issues}");
    }
    assert!(app.upstream.received_bodies().is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn too_many_tokens_are_refused_as_that_and_not_as_a_long_array() {
    let app = TestApp::start().await;
    let told = async |input: Value| {
        let body = json!({"model": EMBEDDING_MODEL, "input": input});
        let reply = app.admin().post(PATH, &body).await;
        assert_eq!(reply.status, 400);
        reply.json()["details"]["input"].clone()
    };
    let message = "Input text exceeds the maximum token limit of 8192 tokens";
    assert_eq!(told(json!(vec![1; 8193])).await["_errors"], json!([message]));
    assert_eq!(told(json!([vec![1; 8193]])).await["0"]["_errors"], json!([message]));
    let entries = told(json!(vec![1; 2049])).await["_errors"][0].to_string();
    assert!(entries.contains("at most 2048 entries"), "{entries}");
}
