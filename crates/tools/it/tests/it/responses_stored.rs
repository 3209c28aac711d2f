//! Tests of stored responses: read, continued, listed and deleted by their owner only.

use std::time::Duration;

use moment::Timestamp;
use serde_json::{Value, json};
use store::model_response::{
    ResponseCost, ResponseId, ResponseRecord, ResponseState, ResponseWrite, SealedResponse,
};
use store::write::WriteGroup;
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use uuid::Uuid;

const PATH: &str = "/responses";

async fn respond(client: &TestClient, more: &Value) -> TestReply {
    let mut body = json!({"model": "kimi-k3", "input": "Hi"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post(PATH, &body).await
}

async fn store(client: &TestClient, more: &Value) -> String {
    let mut body = json!({"store": true});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    respond(client, &body).await.ok_json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_stored_response_is_read_as_it_was_told_until_it_is_deleted() {
    let app = TestApp::start().await;
    let client = app.admin();
    let body = json!({"store": true, "metadata": {"a": "b"}, "instructions": "Be kind."});
    let told = respond(&client, &body).await.ok_json();
    assert_eq!(told["metadata"], json!({"a": "b"}));
    let path = format!("{PATH}/{}", told["id"].as_str().unwrap());
    assert_eq!(client.get(&path).await.ok_json(), told);
    let items = client.get(&format!("{path}/input_items")).await.ok_json();
    assert_eq!(items["data"][0]["content"][0], json!({"type": "input_text", "text": "Hi"}));
    assert_eq!(items["first_id"], items["data"][0]["id"]);
    let streamed = client.get(&format!("{path}?stream=true")).await;
    assert_eq!(streamed.status, 400, "{}", streamed.text());
    let cancelled = client.post(&format!("{path}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 400, "{}", cancelled.text());
    let deleted = client.delete(&path).await.ok_json();
    assert_eq!(deleted["deleted"], true);
    for end in ["", "/input_items", "?stream=true"] {
        assert_eq!(client.get(&format!("{path}{end}")).await.status, 404);
    }
    assert_eq!(client.delete(&path).await.status, 404);
}

#[tokio::test]
async fn nothing_is_stored_unless_it_is_asked_for() {
    let app = TestApp::start().await;
    for more in [json!({}), json!({"store": false}), json!({"store": null})] {
        let told = respond(&app.admin(), &more).await.ok_json();
        let path = format!("{PATH}/{}", told["id"].as_str().unwrap());
        assert_eq!(app.admin().get(&path).await.status, 404);
    }
    let listed = app.admin().get(PATH).await.ok_json();
    assert_eq!(listed["data"], json!([]));
}

#[tokio::test]
async fn a_response_continues_those_before_it_without_their_instructions() {
    let app = TestApp::start().await;
    let client = app.admin();
    let first =
        store(&client, &json!({"input": "I am Ada.", "instructions": "Speak like a pirate."}))
            .await;
    let second = store(
        &client,
        &json!({"input": [{"role": "user", "content": "Go on."}], "previous_response_id": first}),
    )
    .await;
    let third = json!({"input": "Who am I?", "previous_response_id": second});
    let told = respond(&client, &third).await.ok_json();
    assert_eq!(told["previous_response_id"], json!(second));
    let messages = app.upstream.received_bodies().pop().unwrap()["messages"].clone();
    let sent: Vec<String> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{}: {}", it["role"].as_str().unwrap(), it["content"]))
        .collect();
    let texts = sent.join("\n");
    for part in ["I am Ada.", "Go on.", "Who am I?", "Hello there!"] {
        assert!(texts.contains(part), "{texts}");
    }
    assert_eq!(sent.len(), 5, "{texts}");
    assert!(!texts.contains("pirate"), "{texts}");
    client.delete(&format!("{PATH}/{first}")).await.ok_json();
    let broken = respond(&client, &third).await;
    assert_eq!(broken.status, 404, "{}", broken.text());
}

#[tokio::test]
async fn a_streamed_response_is_stored_before_its_last_event() {
    let app = TestApp::start().await;
    let client = app.admin();
    let reply = respond(&client, &json!({"store": true, "stream": true})).await;
    let text = reply.text();
    let data = |kind: &str| -> Value {
        let start = text.find(&format!("event: {kind}\n")).unwrap();
        let line = text[start..].lines().nth(1).unwrap();
        serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap()
    };
    let (created, completed) = (data("response.created"), data("response.completed"));
    assert_eq!(created["response"]["id"], completed["response"]["id"]);
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    let id = completed["response"]["id"].as_str().unwrap();
    assert_eq!(client.get(&format!("{PATH}/{id}")).await.ok_json(), completed["response"]);
}

#[tokio::test]
async fn another_account_finds_what_was_never_there() {
    let app = TestApp::start().await;
    let id = store(&app.admin(), &json!({})).await;
    let other = app.another_account("other").await;
    let unknown = format!("resp_{}", "0".repeat(32));
    let words = |reply: TestReply, id: &str| {
        assert_eq!(reply.status, 404, "{}", reply.text());
        reply.text().replace(id, "ID")
    };
    for end in ["", "/input_items"] {
        let foreign = words(other.get(&format!("{PATH}/{id}{end}")).await, &id);
        assert_eq!(foreign, words(other.get(&format!("{PATH}/{unknown}{end}")).await, &unknown));
    }
    let continued = async |id: &str| respond(&other, &json!({"previous_response_id": id})).await;
    let foreign = words(continued(&id).await, &id);
    assert_eq!(foreign, words(continued(&unknown).await, &unknown));
    assert_eq!(other.delete(&format!("{PATH}/{id}")).await.status, 404);
    let cancelled = other.post(&format!("{PATH}/{id}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 404);
    assert_eq!(app.admin().get(&format!("{PATH}/{id}")).await.status, 200);
    assert_eq!(continued("resp_1").await.status, 404);
}

#[tokio::test]
async fn fields_that_do_not_go_together_are_refused_for_free() {
    let app = TestApp::start().await;
    let cases = [
        (json!({"background": true, "store": false}), "store"),
        (json!({"previous_response_id": "resp_1", "conversation": "conv_1"}), "conversation"),
        (json!({"store": true, "metadata": {"x".repeat(65): "1"}}), "metadata"),
    ];
    for (more, field) in cases {
        let reply = respond(&app.admin(), &more).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert!(reply.text().contains(field), "{}", reply.text());
    }
    assert_eq!(app.verify_spent().await.to_string(), "0");
}

#[tokio::test]
async fn a_chain_of_responses_has_an_end() {
    let app = TestApp::start().await;
    let id = ResponseId(Uuid::from_u128(7));
    let now = app.app.clock.now();
    let record = ResponseRecord {
        id,
        owner: app.owner(),
        state: ResponseState::Completed,
        model: "kimi-k3".into(),
        previous: None,
        depth: 255,
        conversation: None,
        is_background: false,
        is_streamed: false,
        bytes: 1,
        key: Some([1; 32]),
        cost: ResponseCost::default(),
        fence: 0,
        lease_until: Timestamp::default(),
        wants_cancel: false,
        events: 0,
        created: now,
        started: None,
        ended: Some(now),
        expires: now.plus(Duration::from_secs(60)),
    };
    let stored = SealedResponse { record, input: vec![1], output: Some(vec![1]) };
    let group = WriteGroup::from_write(ResponseWrite::Add(stored).into());
    app.app.store.commit(group).await.unwrap();
    let name = format!("resp_{}", id.0.simple());
    let reply = respond(&app.admin(), &json!({"previous_response_id": name})).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert!(reply.text().contains("at most 256"), "{}", reply.text());
}

#[tokio::test]
async fn responses_are_listed_with_their_cost_and_expire() {
    let app = TestApp::start().await;
    let client = app.admin();
    let mut ids = Vec::new();
    for _ in 0..3 {
        app.clock.advance_s(1);
        ids.push(store(&client, &json!({})).await);
    }
    ids.reverse();
    let page = client.get(&format!("{PATH}?limit=2")).await.ok_json();
    assert_eq!(page["has_more"], true);
    let data = page["data"].as_array().unwrap();
    assert_eq!((&data[0]["id"], &data[1]["id"]), (&json!(ids[0]), &json!(ids[1])));
    assert_eq!(data[0]["status"], "completed");
    let spent: f64 = app.verify_spent().await.as_f64();
    let one = data[0]["cost"]["usd"].as_f64().unwrap();
    assert!(0.0 < one && (one * 3.0 - spent).abs() < 1e-9, "{one} {spent}");
    let last = page["last_id"].as_str().unwrap();
    let rest = client.get(&format!("{PATH}?limit=2&after={last}")).await.ok_json();
    assert_eq!(rest["data"][0]["id"], json!(ids[2]));
    app.clock.advance_s(30 * 24 * 60 * 60);
    assert_eq!(client.get(&format!("{PATH}/{}", ids[0])).await.status, 404);
    assert_eq!(client.get(PATH).await.ok_json()["data"], json!([]));
    app.sweep_responses().await;
    let totals = app.app.store.stored_totals(app.owner()).await.unwrap();
    assert_eq!((totals.objects, totals.bytes), (0, 0));
}
