//! Example calls of the operations for stored responses and conversations.

use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;

use super::{Content, Example, Sent, example, get, send};

/// A stored response and a conversation with an item, for operations about one.
#[derive(Default)]
pub(super) struct StoredDialogue {
    pub(super) response: String,
    pub(super) conversation: String,
    pub(super) item: String,
}

impl StoredDialogue {
    pub(super) async fn create(app: &TestApp, operation: &str) -> StoredDialogue {
        let is_response =
            operation.contains("response") && !["create_response"].contains(&operation);
        if !is_response && !operation.contains("conversation") {
            return StoredDialogue::default();
        }
        let body = json!({"model": "kimi-k3", "input": "Hi", "background": true});
        let response = app.admin().post("/responses", &body).await.ok_json();
        let body = json!({"items": [{"role": "user", "content": "Hi"}]});
        let conversation = app.admin().post("/conversations", &body).await.ok_json();
        let conversation = text(&conversation["id"]);
        let items = app.admin().get(&format!("/conversations/{conversation}/items")).await;
        let item = text(&items.ok_json()["data"][0]["id"]);
        StoredDialogue { response: text(&response["id"]), conversation, item }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn bare(method: Method, path: &'static str) -> Sent {
    Sent { method, path, body: Content::Nothing }
}

pub(super) fn responses() -> Vec<Example> {
    vec![
        example("get_response", get("/responses/{response}"), Some(get("/responses/%ff"))),
        example(
            "list_response_input_items",
            get("/responses/{response}/input_items"),
            Some(get("/responses/{response}/input_items?limit=0")),
        ),
        example(
            "cancel_response",
            bare(Method::POST, "/responses/{response}/cancel"),
            Some(bare(Method::POST, "/responses/%ff/cancel")),
        ),
        example(
            "delete_response",
            bare(Method::DELETE, "/responses/{response}"),
            Some(bare(Method::DELETE, "/responses/%ff")),
        ),
    ]
}

pub(super) fn conversations() -> Vec<Example> {
    const ONE: &str = "/conversations/{conversation}";
    const ITEMS: &str = "/conversations/{conversation}/items";
    const ITEM: &str = "/conversations/{conversation}/items/{item}";
    const BAD: &str = "/conversations/%ff";
    let post = |path, body| send(Method::POST, path, body);
    vec![
        example(
            "create_conversation",
            post("/conversations", json!({"metadata": {"a": "b"}})),
            Some(post("/conversations", json!({"items": [{"role": "nobody"}]}))),
        ),
        example("get_conversation", get(ONE), Some(get(BAD))),
        example(
            "update_conversation",
            post(ONE, json!({"metadata": {"a": "c"}})),
            Some(post(ONE, json!({"metadata": 1}))),
        ),
        example("delete_conversation", bare(Method::DELETE, ONE), Some(bare(Method::DELETE, BAD))),
        example(
            "list_conversation_items",
            get(ITEMS),
            Some(get("/conversations/{conversation}/items?order=up")),
        ),
        example(
            "add_conversation_items",
            post(ITEMS, json!({"items": [{"role": "user", "content": "Hi"}]})),
            Some(post(ITEMS, json!({"items": []}))),
        ),
        example(
            "get_conversation_item",
            get(ITEM),
            Some(get("/conversations/{conversation}/items/%ff")),
        ),
        example(
            "delete_conversation_item",
            bare(Method::DELETE, ITEM),
            Some(bare(Method::DELETE, "/conversations/{conversation}/items/%ff")),
        ),
    ]
}
