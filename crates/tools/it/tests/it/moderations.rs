//! Tests of `POST /moderations`: the verdicts of a provider, and an exact bill.

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::UpstreamScript;

pub(crate) const PATH: &str = "/moderations";
const PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAQMAAACQp+OdAAAAA1BMVEX/\
                       AAAZ4gk3AAAAD0lEQVR42mNgGAWjgJoAAAJAAAGccsTLAAAAAElFTkSuQmCC";
const MODELS: &str = r#"
[[model]]
id = "house-moderation"
type = "moderation"
name = "House Moderation"
provider = "main"
traits = ["default"]
aliases = ["omni-moderation-latest"]
max_input_tokens = 64
price = { input_usd_per_million = "0.10" }

[[model]]
id = "free-moderation"
type = "moderation"
name = "Free Moderation"
provider = "main"
free = true
"#;

pub(crate) async fn app() -> TestApp {
    TestApp::with_changed_fixture(|fixture| format!("{fixture}{MODELS}")).await
}

fn verdict(flagged: bool) -> Value {
    json!({
        "flagged": flagged,
        "categories": {"harassment": flagged, "illicit": null, "violence/graphic": false},
        "category_scores": {"harassment": 0.75, "illicit": 0.0, "violence/graphic": 0.000_001},
        "category_applied_input_types": {"harassment": ["text"], "violence/graphic": []},
    })
}

pub(crate) fn verdicts(count: usize) -> UpstreamScript {
    let results: Vec<Value> = (0..count).map(|index| verdict(index % 2 == 0)).collect();
    UpstreamScript::json(200, &json!({"id": "modr-1", "model": "other", "results": results}))
}

async fn send(app: &TestApp, input: Value) -> TestReply {
    app.admin().post(PATH, &json!({"input": input})).await
}

#[tokio::test]
async fn a_verdict_is_passed_through_and_charged_by_our_count() {
    let app = app().await;
    app.upstream.queue_script(verdicts(1));
    let reply = send(&app, json!("word")).await;
    let list = reply.ok_json();
    assert_eq!(list["results"], json!([verdict(true)]));
    assert_eq!(list["model"], "house-moderation");
    assert!(list["id"].as_str().unwrap().starts_with("modr-"), "{}", list["id"]);
    assert_eq!(list["usage"], json!({"prompt_tokens": 1, "total_tokens": 1}));
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "500");
    let sent = json!({"model": "house-moderation", "input": "word"});
    assert_eq!(app.upstream.received_bodies(), [sent]);
    assert!(app.upstream.heads()[0].starts_with("post /v1/moderations "));
    assert_eq!(app.verify_spent().await.nanos(), 100);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    assert_eq!(usage["data"][0]["sku"], "house-moderation-moderation-input-mtoken");
}

#[tokio::test]
async fn several_texts_and_parts_reach_the_provider() {
    let app = app().await;
    let parts = json!([{"type": "text", "text": "word"},
        {"type": "image_url", "image_url": {"url": PICTURE}}]);
    for (input, results, tokens) in [
        (json!(["word", "word"]), 2, 2),
        (json!([{"type": "text", "text": "word"}]), 1, 1),
        (parts, 1, 1_025),
    ] {
        app.upstream.queue_script(verdicts(results));
        let list = send(&app, input.clone()).await.ok_json();
        assert_eq!(list["results"].as_array().unwrap().len(), results);
        assert_eq!(list["usage"]["total_tokens"], tokens);
        assert_eq!(app.upstream.received_bodies().last().unwrap()["input"], input);
    }
    assert_eq!(app.verify_spent().await.nanos(), 102_800);
}

#[tokio::test]
async fn a_report_of_tokens_is_billed_if_it_is_credible() {
    for (told, billed) in [(5, 5), (0, 1), (5_000, 1)] {
        let app = app().await;
        let usage = json!({"prompt_tokens": told, "total_tokens": told});
        let body = json!({"id": "m", "results": [verdict(false)], "usage": usage});
        app.upstream.queue_script(UpstreamScript::json(200, &body));
        let list = send(&app, json!("word")).await.ok_json();
        assert_eq!(list["usage"]["total_tokens"], billed, "told {told}");
        assert_eq!(app.verify_spent().await.nanos(), billed * 100);
    }
}

#[tokio::test]
async fn a_free_model_costs_nothing_and_other_names_find_their_model() {
    let app = app().await;
    for (name, id) in
        [("free-moderation", "free-moderation"), ("omni-moderation-latest", "house-moderation")]
    {
        app.upstream.queue_script(verdicts(1));
        let body = json!({"model": name, "input": "word"});
        assert_eq!(app.admin().post(PATH, &body).await.ok_json()["model"], id);
    }
    assert_eq!(app.verify_spent().await.nanos(), 100);
    let wrong = json!({"model": "llama-3.3-70b", "input": "word"});
    assert_eq!(app.admin().post(PATH, &wrong).await.status, 400);
}

#[tokio::test]
async fn a_provider_with_too_few_verdicts_is_not_paid_for() {
    for results in [0, 1, 3] {
        let app = app().await;
        app.upstream.queue_script(verdicts(results));
        let reply = send(&app, json!(["a", "b"])).await;
        assert_eq!(reply.status, 500, "{results}: {}", reply.text());
        assert_eq!(app.verify_spent().await.nanos(), 0);
    }
}

#[tokio::test]
async fn what_is_wrong_is_told_at_its_place_and_costs_nothing() {
    let app = app().await;
    let long = "word ".repeat(100);
    for (input, place) in [
        (json!(""), json!(["input"])),
        (json!([]), json!(["input"])),
        (json!(7), json!(["input"])),
        (json!(long), json!(["input"])),
        (json!(["a", long]), json!(["input", 1])),
        (
            json!([{"type": "image_url", "image_url": {"url": "http://127.0.0.1/secret.png"}}]),
            json!(["input", 0]),
        ),
        (
            json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]),
            json!(["input", 0]),
        ),
    ] {
        let reply = send(&app, input.clone()).await;
        assert_eq!(reply.status, 400, "{input:.60}: {}", reply.text());
        let path = reply.json()["issues"][0]["path"].as_array().unwrap().clone();
        assert!(path.starts_with(place.as_array().unwrap()), "{}", reply.text());
    }
    assert!(app.upstream.received_bodies().is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn the_clients_of_openai_find_it_below_their_own_prefix() {
    let app = app().await;
    app.upstream.queue_script(verdicts(1));
    let client = app.admin().with("content-type", "application/json");
    let body = Body::from(json!({"input": "word"}).to_string());
    let list = client.send_raw(Method::POST, "/v1/moderations", body).await.ok_json();
    assert_eq!(list["results"][0]["flagged"], true);
}
