//! Tests of responses with web search and with a character.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::upstream::{UpstreamScript, build_completion};

use crate::characters;

const PATH: &str = "/responses";
/// The price of a search, in nano-dollars.
const PRICE: i64 = 10_000_000;

fn usage() -> Value {
    json!({"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23})
}

fn results() -> Value {
    json!([{"url": "https://a.example/", "title": "Ferries", "content": "They leave at seven."}])
}

/// The first message that the model received.
fn told(app: &TestApp) -> String {
    let seen = app.upstream.received_bodies();
    seen.last().unwrap()["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_search_is_an_item_its_sources_are_annotations_and_it_is_charged() {
    let app = TestApp::start().await;
    let ask = |more: Value| {
        let mut body =
            json!({"model": "kimi-k3", "input": "What is the latest news of the ferry?"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("Hello", &usage())));
    app.admin().post(PATH, &ask(json!({}))).await.ok_json();
    let tokens = app.verify_spent().await.nanos();
    app.site.put_results(results());
    app.upstream.queue_script(UpstreamScript::json(
        200,
        &build_completion("At seven.[REF]0[/REF]", &usage()),
    ));
    let location = json!({"type": "approximate", "city": "Oban", "country": "GB"});
    let tool =
        json!({"type": "web_search", "search_context_size": "low", "user_location": location});
    let reply = app.admin().post(PATH, &ask(json!({"tools": [tool]}))).await;
    let answer = reply.ok_json();
    assert!(reply.header("x-service-web-search").starts_with("on; reason="));
    let prompt = told(&app);
    assert!(prompt.contains("They leave at seven."), "{prompt}");
    assert!(prompt.contains("The user is in Oban, GB."), "{prompt}");
    let search = &answer["output"][0];
    assert_eq!(
        (&search["type"], &search["status"]),
        (&json!("web_search_call"), &json!("completed"))
    );
    assert_eq!(search["action"]["type"], "search");
    let part = &answer["output"][1]["content"][0];
    assert_eq!(
        part["annotations"],
        json!([{"type": "url_citation", "start_index": 9, "end_index": 21, "title": "Ferries",
            "url": "https://a.example/"}])
    );
    assert_eq!(answer["tools"], json!([{"type": "web_search"}]));
    assert_eq!(app.verify_spent().await.nanos(), 2 * tokens + PRICE);
    // The output items can be sent back unchanged.
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("Yes.", &usage())));
    let mut input = vec![json!({"role": "user", "content": "Hi"})];
    input.extend(answer["output"].as_array().unwrap().clone());
    input.push(json!({"role": "user", "content": "Sure?"}));
    app.admin().post(PATH, &json!({"model": "kimi-k3", "input": input})).await.ok_json();
}

#[tokio::test]
async fn a_stream_tells_the_search_before_the_first_word() {
    let app = TestApp::start().await;
    app.site.put_results(results());
    app.upstream.queue_script(UpstreamScript::word_stream(&["At ", "seven."], None));
    let body = json!({"model": "kimi-k3", "input": "When?", "stream": true, "web_search": true});
    let text = app.admin().post(PATH, &body).await.text();
    let events: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(
        events[..8],
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.web_search_call.in_progress",
            "response.web_search_call.searching",
            "response.web_search_call.completed",
            "response.output_item.done",
            "response.output_item.added",
        ]
    );
    assert_eq!(events.last(), Some(&"response.completed"));
}

#[tokio::test]
async fn nobody_is_asked_where_the_caller_forbids_it_or_the_model_cannot_take_the_request() {
    let app = TestApp::start().await;
    app.site.put_results(results());
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("Hello", &usage())));
    let tool = json!([{"type": "web_search"}]);
    let body = json!({"model": "kimi-k3", "input": "news today", "tools": tool,
        "tool_choice": "none"});
    app.admin().post(PATH, &body).await.ok_json();
    let body = json!({"model": "gpt-4o-mini", "input": "x", "web_search": true,
        "text": {"format": {"type": "json_object"}}});
    assert_eq!(app.admin().post(PATH, &body).await.status, 400);
    assert!(app.site.requested_paths().is_empty(), "{:?}", app.site.requested_paths());
}

#[tokio::test]
async fn a_character_speaks_in_a_response_too() {
    let app = TestApp::start().await;
    characters::add(&app, "Mara", json!({"description": "{{char}} mends nets."})).await;
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("Hello", &usage())));
    let body = json!({"model": "kimi-k3", "input": "Hi", "instructions": "Be brief.",
        "service_parameters": {"character_slug": "mara"}});
    app.admin().post(PATH, &body).await.ok_json();
    let prompt = told(&app);
    assert!(prompt.starts_with("You are Mara.") && prompt.contains("Mara mends nets."), "{prompt}");
    assert!(prompt.ends_with("Be brief."), "{prompt}");
}

#[tokio::test]
async fn the_search_of_x_is_a_tool_with_its_restrictions() {
    let app = crate::chat_web::with_x_search().await;
    app.upstream
        .queue_script(UpstreamScript::json(200, &build_completion("They are glad.", &usage())));
    let tool = json!({"type": "x_search", "allowed_x_handles": ["ferry"],
        "from_date": "2026-01-01"});
    let body = json!({"model": "kimi-k3", "input": "What is said of the ferry?", "tools": [tool]});
    app.admin().post(PATH, &body).await.ok_json();
    let seen = app.upstream.received_bodies();
    let sent = &seen.last().unwrap()["search_parameters"];
    let sources = json!([{"type": "x", "included_x_handles": ["ferry"]}]);
    assert_eq!(*sent, json!({"mode": "on", "sources": sources, "from_date": "2026-01-01"}));
    assert!(3 * PRICE < app.verify_spent().await.nanos());
    let tool = json!({"type": "x_search", "enable_image_understanding": true});
    let body = json!({"model": "kimi-k3", "input": "Hi", "tools": [tool]});
    assert_eq!(app.admin().post(PATH, &body).await.status, 400);
}
