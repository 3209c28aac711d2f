//! Tests of `/conversations`: items kept in order, for their owner only, and turns of responses.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::upstream::UpstreamScript;

const PATH: &str = "/conversations";

async fn create(client: &TestClient, body: &Value) -> String {
    client.post(PATH, body).await.ok_json()["id"].as_str().unwrap().to_owned()
}

/// The texts of a conversation, oldest first.
async fn texts(client: &TestClient, id: &str) -> Vec<String> {
    let items = client.get(&format!("{PATH}/{id}/items?order=asc&limit=100")).await.ok_json();
    let items = items["data"].as_array().unwrap().clone();
    let text = |item: &Value| item["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    items.iter().map(text).collect()
}

fn respond(conversation: &str, text: &str) -> Value {
    json!({"model": "kimi-k3", "input": text, "conversation": conversation})
}

#[tokio::test]
async fn items_are_listed_in_pages_and_deleted_alone() {
    let app = TestApp::start().await;
    let client = app.admin();
    let message = |text: &str| json!({"role": "user", "content": text});
    let body = json!({"items": [message("one"), message("two")], "metadata": {"topic": "t"}});
    let id = create(&client, &body).await;
    let shown = client.get(&format!("{PATH}/{id}")).await.ok_json();
    assert_eq!(
        (&shown["object"], &shown["metadata"]["topic"]),
        (&json!("conversation"), &json!("t"))
    );
    let path = format!("{PATH}/{id}/items");
    let added = client.post(&path, &json!({"items": [message("three")]})).await.ok_json();
    assert_eq!(added["data"][0]["content"][0]["text"], "three");
    assert_eq!(texts(&client, &id).await, ["one", "two", "three"]);
    let page = client.get(&format!("{path}?limit=2")).await.ok_json();
    assert_eq!(page["data"][0]["content"][0]["text"], "three");
    assert_eq!(page["has_more"], true);
    let last = page["last_id"].as_str().unwrap();
    let rest = client.get(&format!("{path}?limit=2&after={last}")).await.ok_json();
    assert_eq!((rest["data"].as_array().unwrap().len(), &rest["has_more"]), (1, &json!(false)));
    let one = client.get(&format!("{path}/{last}")).await.ok_json();
    assert_eq!(one["content"][0]["text"], "two");
    client.delete(&format!("{path}/{last}")).await.ok_json();
    assert_eq!(client.get(&format!("{path}/{last}")).await.status, 404);
    assert_eq!(texts(&client, &id).await, ["one", "three"]);
    let changed = client.post(&format!("{PATH}/{id}"), &json!({"metadata": {"a": "b"}})).await;
    assert_eq!(changed.ok_json()["metadata"], json!({"a": "b"}));
    let deleted = client.delete(&format!("{PATH}/{id}")).await.ok_json();
    assert_eq!(deleted, json!({"id": id, "object": "conversation.deleted", "deleted": true}));
    assert_eq!(client.get(&format!("{PATH}/{id}")).await.status, 404);
}

#[tokio::test]
async fn a_turn_is_added_without_store_and_a_failed_one_leaves_nothing() {
    let app = TestApp::start().await;
    let client = app.admin();
    let id = create(&client, &json!({})).await;
    let first = client.post("/responses", &respond(&id, "My name is Ada.")).await.ok_json();
    assert_eq!((&first["conversation"]["id"], &first["store"]), (&json!(id), &json!(false)));
    let stored = client.get(&format!("/responses/{}", first["id"].as_str().unwrap())).await;
    assert_eq!(stored.status, 404, "it was not to be stored");
    app.upstream.queue_script(UpstreamScript::json(400, &json!({"error": {"message": "no"}})));
    let failed = client.post("/responses", &respond(&id, "This fails.")).await;
    assert!(failed.status >= 400, "{}", failed.text());
    let streamed = json!({"model": "kimi-k3", "input": "And now?", "conversation": {"id": id},
        "stream": true});
    let reply = client.post("/responses", &streamed).await;
    assert!(reply.text().contains("response.completed"), "{}", reply.text());
    let told = ["My name is Ada.", "Hello there!", "And now?", "Hello there!"];
    assert_eq!(texts(&client, &id).await, told);
    let last = app.upstream.received_bodies().pop().unwrap();
    let sent = last["messages"].to_string();
    assert!(sent.contains("Ada") && sent.contains("And now?") && !sent.contains("This fails"));
}

#[tokio::test]
async fn another_account_finds_what_was_never_there() {
    let app = TestApp::start().await;
    let id = create(&app.admin(), &json!({})).await;
    let other = app.another_account("other").await;
    let unknown = format!("conv_{}", "0".repeat(32));
    let words = |reply: TestReply, id: &str| {
        assert_eq!(reply.status, 404, "{}", reply.text());
        reply.text().replace(id, "ID")
    };
    for end in ["", "/items", "/items/msg_1"] {
        let foreign = words(other.get(&format!("{PATH}/{id}{end}")).await, &id);
        assert_eq!(foreign, words(other.get(&format!("{PATH}/{unknown}{end}")).await, &unknown));
    }
    let foreign = words(other.post("/responses", &respond(&id, "Hi")).await, &id);
    assert_eq!(foreign, words(other.post("/responses", &respond(&unknown, "Hi")).await, &unknown));
    assert_eq!(other.delete(&format!("{PATH}/{id}")).await.status, 404);
    assert_eq!(app.admin().get(&format!("{PATH}/{id}")).await.status, 200);
}

#[tokio::test]
async fn wrong_notes_and_items_are_refused() {
    let app = TestApp::start().await;
    let client = app.admin();
    let notes: Value = (0..17).map(|it| (it.to_string(), json!("x"))).collect();
    for body in [
        json!({"metadata": notes}),
        json!({"metadata": {"long": "x".repeat(513)}}),
        json!({"items": (0..21).map(|_| json!({"role": "user", "content": "x"})).collect::<Vec<_>>()}),
        json!({"items": [{"role": "user"}]}),
    ] {
        assert_eq!(client.post(PATH, &body).await.status, 400, "{body}");
    }
}
