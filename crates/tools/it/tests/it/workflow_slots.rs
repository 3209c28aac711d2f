//! Tests of ComfyUI workflows whose slots a request fills, leaves to their defaults, or leaves
//! empty.

use money::Nano;
use serde_json::{Value, json};
use testkit::app::TestApp;

const WORKFLOW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/workflow_slots.json");

/// A service with a model whose workflow needs `cfg_scale` and has a default for `lora_strength`.
async fn start() -> TestApp {
    let model = format!(
        "[[provider]]\nid = \"comfy\"\nkind = \"comfyui\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\n\
         [[model]]\nid = \"slots\"\ntype = \"image\"\nprovider = \"comfy\"\n\
         workflow = \"{WORKFLOW}\"\nprice = {{ per_image_usd = \"0.01\" }}\n"
    );
    TestApp::with_changed_fixture(|fixture| format!("{fixture}\n{model}")).await
}

fn ask(more: &Value) -> Value {
    let mut body = json!({"model": "slots", "prompt": "a fox"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[tokio::test]
async fn a_slot_that_a_request_leaves_empty_is_a_fault_of_its_field_and_costs_nothing() {
    let app = start().await;
    let reply = app.admin().post("/image/generate", &ask(&json!({}))).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    let body = reply.json();
    assert_eq!(body["details"]["cfg_scale"]["_errors"], json!(["Required by this model"]));
    assert_eq!(body["issues"][0]["path"], json!(["cfg_scale"]));
    assert_eq!(app.verify_spent().await, Nano::ZERO);
    assert!(app.upstream.received_bodies().is_empty(), "nothing was queued");
}

#[tokio::test]
async fn defaults_stand_in_for_what_is_not_sent() {
    let app = start().await;
    app.admin().post("/image/generate", &ask(&json!({"cfg_scale": 7.5}))).await;
    let inputs = app.upstream.received_bodies()[0]["prompt"]["3"]["inputs"].clone();
    assert_eq!((&inputs["cfg"], &inputs["lora"]), (&json!(7.5), &json!(0.5)));
    let both = json!({"cfg_scale": 7.5, "lora_strength": 20});
    app.admin().post("/image/generate", &ask(&both)).await;
    let inputs = app.upstream.received_bodies()[1]["prompt"]["3"]["inputs"].clone();
    assert_eq!(inputs["lora"], json!(0.2));
}
