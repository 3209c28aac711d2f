//! The defaults in the document: a request that states them is answered as one that leaves them
//! out. Generated clients state them all.

use serde_json::{Map, Value, json};
use testkit::app::TestApp;

use crate::{completions, embeddings_fields, images, speech};

/// The definition that a schema refers to, alone or beside null.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let branches = schema["anyOf"].as_array().into_iter().flatten();
    let mut references = branches.chain([schema]).filter_map(|it| it["$ref"].as_str());
    let pointer = references.next().and_then(|it| it.strip_prefix('#'));
    pointer.and_then(|it| document.pointer(it)).unwrap_or(schema)
}

/// The members of an object that have defaults, with those of objects inside it.
fn defaults(document: &Value, schema: &Value) -> Map<String, Value> {
    let mut stated = Map::new();
    let properties = resolved(document, schema)["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        let inner = defaults(document, property);
        if let Some(default) = property.get("default") {
            stated.insert(name.clone(), default.clone());
        } else if !inner.is_empty() {
            stated.insert(name.clone(), Value::Object(inner));
        }
    }
    stated
}

fn body_defaults(path: &str) -> Map<String, Value> {
    let document = api::build_openapi_document();
    let content = &document["paths"][path]["post"]["requestBody"]["content"];
    let stated = defaults(&document, &content["application/json"]["schema"]);
    assert!(!stated.is_empty(), "{path} has no defaults");
    stated
}

#[tokio::test]
async fn queries_may_state_their_defaults() {
    let app = TestApp::start().await;
    app.charge("1").await;
    let document = api::build_openapi_document();
    let mut seen = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let parameters = item["get"]["parameters"].as_array().cloned().unwrap_or_default();
        let pairs: Vec<String> = parameters
            .iter()
            .filter_map(|it| Some((it["name"].as_str()?, it["schema"].get("default")?)))
            .map(|(name, value)| format!("{name}={}", value.to_string().trim_matches('"')))
            .collect();
        if pairs.is_empty() || path.contains('{') || path.starts_with("/admin") {
            continue;
        }
        let admin = app.admin();
        let stated = admin.get(&format!("{path}?{}", pairs.join("&"))).await.ok_json();
        assert_eq!(stated, admin.get(path).await.ok_json(), "{path} {pairs:?}");
        seen += 1;
    }
    assert!(3 <= seen, "{seen} operations");
}

#[tokio::test]
async fn bodies_may_state_their_defaults() {
    let app = TestApp::start().await;
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7});
    let key = json!({"apiKeyType": "INFERENCE", "description": "a"});
    let cases = [
        (
            "/chat/completions",
            json!({"model": "kimi-k3",
            "messages": [{"role": "user", "content": "Hi"}]}),
        ),
        ("/completions", json!({"model": "kimi-k3", "prompt": "a"})),
        ("/embeddings", json!({"model": "text-embedding-bge-m3", "input": "a"})),
        (images::PATH, json!({"model": "z-image-turbo", "prompt": "a fox"})),
        ("/images/generations", json!({"model": "z-image-turbo", "prompt": "a fox"})),
        (speech::PATH, json!({"input": "Hello there."})),
        ("/api_keys", key),
    ];
    for (path, body) in cases {
        let mut stating = body.clone();
        stating.as_object_mut().unwrap().extend(body_defaults(path));
        for sent in [body, stating] {
            match path {
                images::PATH | "/images/generations" => {
                    app.upstream.queue_script(images::made(1024, 1024))
                }
                speech::PATH => app.upstream.queue_script(speech::mp3()),
                "/completions" => app.upstream.queue_script(completions::text("b", &usage)),
                "/embeddings" => app.upstream.queue_script(embeddings_fields::vectors(1, 1024)),
                _ => {}
            }
            let reply = app.admin().post(path, &sent).await;
            assert_eq!(reply.status, 200, "{path} {sent}: {}", reply.text());
        }
    }
}

/// The default that a description states, as JSON.
fn told_default(description: &str) -> Option<Value> {
    let (_, after) = description.split_once("Default: ")?;
    let word = after.split([' ', ',', ';', '\n']).next()?.trim_end_matches('.');
    match word.strip_prefix('`').and_then(|it| it.split_once('`')) {
        Some((text, _)) => Some(json!(text)),
        None => serde_json::from_str(word).ok(),
    }
}

#[test]
fn descriptions_and_schemas_name_the_same_defaults() {
    assert_eq!(told_default("Rows. Default: 50."), Some(json!(50)));
    assert_eq!(told_default("Default: `auto`, the model's own."), Some(json!("auto")));
    assert_eq!(told_default("Default: the model's."), None);
    let document = api::build_openapi_document();
    let mut described = 0;
    let mut check = |name: &str, description: &Value, schema: &Value| {
        let Some(told) = told_default(description.as_str().unwrap_or("")) else { return };
        let Some(default) = schema.get("default") else { return };
        let same = told == *default || told.as_f64().is_some_and(|it| default.as_f64() == Some(it));
        assert!(same, "{name}: {told} in words, {default} in the schema");
        described += 1;
    };
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            check(&format!("{name}.{field}"), &property["description"], property);
        }
    }
    for (path, item) in document["paths"].as_object().unwrap() {
        for parameter in item["get"]["parameters"].as_array().into_iter().flatten() {
            let name = format!("{path} {}", parameter["name"]);
            check(&name, &parameter["description"], &parameter["schema"]);
        }
    }
    assert!(0 < described);
}

#[test]
fn files_of_forms_are_required() {
    let document = api::build_openapi_document();
    let text = document.to_string();
    assert!(!text.contains("x-required"), "the marker is not published");
    for (schema, file) in [
        ("OpenAiImageEditRequest", "image"),
        ("ImageEditRequest", "image"),
        ("ImageMultiEditRequest", "images"),
        ("TranscriptionRequest", "file"),
        ("TextParserRequest", "file"),
    ] {
        let required = &document["components"]["schemas"][schema]["required"];
        assert!(required.as_array().unwrap().contains(&json!(file)), "{schema}: {required}");
    }
}
