//! Tests of chats with web search and with a character.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::{UpstreamScript, build_completion};

use crate::characters;

const CHAT: &str = "/chat/completions";
/// The price of a search or a page, in nano-dollars.
const PRICE: i64 = 10_000_000;

async fn ask(app: &TestApp, text: &str, options: Value) -> TestReply {
    let body = json!({"model": "kimi-k3", "service_parameters": options,
        "messages": [{"role": "user", "content": text}]});
    app.admin().post(CHAT, &body).await
}

/// The first message that the model received.
fn told(app: &TestApp) -> String {
    let seen = app.upstream.received_bodies();
    seen.last().unwrap()["messages"][0]["content"].as_str().unwrap().to_owned()
}

fn says(app: &TestApp, text: &str) {
    app.upstream.queue_script(UpstreamScript::json(
        200,
        &build_completion(
            text,
            &json!({"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}),
        ),
    ));
}

/// The cost of the tokens of such an answer.
async fn tokens(app: &TestApp) -> i64 {
    says(app, "Hello");
    ask(app, "Hi", json!({})).await.ok_json();
    app.verify_spent().await.nanos()
}

fn results() -> Value {
    json!([{"url": "https://a.example/", "title": "Ferries", "content": "They leave at seven."},
           {"url": "https://b.example/", "title": "Islands", "content": "There are two."}])
}

#[tokio::test]
async fn a_search_is_told_to_the_model_cited_and_charged_with_the_answer() {
    let app = TestApp::start().await;
    let tokens = tokens(&app).await;
    app.site.put_results(results());
    says(&app, "At seven.[REF]0[/REF]");
    let options = json!({"enable_web_search": "on", "enable_web_citations": true});
    let reply = ask(&app, "When does the ferry leave?", options).await;
    let answer = reply.ok_json();
    assert_eq!(reply.header("x-service-web-search"), "on; reason=asked for");
    let prompt = told(&app);
    assert!(prompt.contains("They leave at seven.") && prompt.contains("[REF]0[/REF]"), "{prompt}");
    let cited = &answer["choices"][0]["message"]["annotations"][0];
    assert_eq!(
        cited["url_citation"],
        json!({"start_index": 9, "end_index": 21, "title": "Ferries", "url": "https://a.example/"})
    );
    let sources = answer["service_parameters"]["web_search_citations"].as_array().unwrap();
    assert_eq!((sources.len(), &sources[1]["url"]), (2, &json!("https://b.example/")));
    assert_eq!(app.verify_spent().await.nanos(), 2 * tokens + PRICE);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    let skus: Vec<&Value> = usage["data"].as_array().unwrap().iter().map(|it| &it["sku"]).collect();
    assert!(skus.contains(&&json!("web-search")), "{skus:?}");
}

#[tokio::test]
async fn auto_decides_by_the_question_and_says_why() {
    let app = TestApp::start().await;
    app.site.put_results(results());
    for (text, verdict) in [
        ("What is the weather on the island today?", "on; reason=about the present"),
        ("What is the square root of two?", "off; reason=nothing in it is about the present"),
    ] {
        says(&app, "So.");
        let reply = ask(&app, text, json!({"enable_web_search": "auto"})).await;
        assert_eq!((reply.status, reply.header("x-service-web-search")), (200, verdict));
    }
    assert_eq!(app.site.requested_paths().len(), 1);
}

#[tokio::test]
async fn a_chat_goes_on_without_a_search_that_fails_or_finds_nothing() {
    let app = TestApp::start().await;
    let tokens = tokens(&app).await;
    app.site.put_status("/search", 500, "");
    says(&app, "So.");
    let reply = ask(&app, "What is new?", json!({"enable_web_search": "on"})).await;
    assert_eq!(
        (reply.status, reply.header("x-service-web-search")),
        (200, "off; reason=the search failed")
    );
    app.site.put_results(json!([]));
    says(&app, "So.");
    ask(&app, "What is new?", json!({"enable_web_search": "on"})).await.ok_json();
    assert_eq!(app.verify_spent().await.nanos(), 3 * tokens, "nothing but tokens");
}

#[tokio::test]
async fn pages_of_the_message_are_read_and_only_those_that_could_be_are_charged() {
    let app = TestApp::start().await;
    let tokens = tokens(&app).await;
    app.site.put("/a", "text/markdown", "# The ferry leaves at seven");
    says(&app, "At seven. [REF]0[/REF]");
    let text = "Compare http://site.example.com/a, http://site.example.com/missing and \
                http://site.example.com/a (and http://127.0.0.1/secret).";
    let options = json!({"enable_web_scraping": true, "enable_web_search": "on"});
    let reply = ask(&app, text, options).await;
    let answer = reply.ok_json();
    assert!(told(&app).contains("The ferry leaves at seven"), "{}", told(&app));
    let sources = answer["service_parameters"]["web_search_citations"].as_array().unwrap();
    assert_eq!((sources.len(), &sources[0]["url"]), (1, &json!("http://site.example.com/a")));
    assert_eq!(
        app.verify_spent().await.nanos(),
        2 * tokens + PRICE,
        "one page, once, and no search"
    );
    assert!(!app.site.requested_paths().iter().any(|path| path.starts_with("/search")));
}

#[tokio::test]
async fn nothing_is_charged_when_the_model_fails() {
    let app = TestApp::start().await;
    app.site.put_results(results());
    app.upstream.queue_script(UpstreamScript::json(400, &json!({"error": {"message": "no"}})));
    let reply = ask(&app, "What is new?", json!({"enable_web_search": "on"})).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn streams_tell_what_was_found_first_and_last() {
    let app = TestApp::start().await;
    app.site.put_results(results());
    app.upstream.queue_script(UpstreamScript::word_stream(&["At ", "seven."], None));
    let options = json!({"enable_web_search": "on", "include_search_results_in_stream": true,
        "return_search_results_as_documents": true});
    let body = json!({"model": "kimi-k3", "stream": true, "service_parameters": options,
        "messages": [{"role": "user", "content": "When does it leave?"}]});
    let text = app.admin().post(CHAT, &body).await.text();
    let chunks: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let sources =
        |chunk: &Value| chunk["service_parameters"]["web_search_citations"][0]["url"].clone();
    assert_eq!(chunks[0]["choices"], json!([]));
    assert_eq!(sources(&chunks[0]), "https://a.example/");
    assert_eq!(sources(chunks.last().unwrap()), "https://a.example/");
    let call = &chunks[1]["choices"][0]["delta"]["tool_calls"][0]["function"];
    assert_eq!(call["name"], "service_web_search_documents");
    let documents: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(documents["documents"][1]["title"], "Islands");
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
}

#[tokio::test]
async fn a_character_speaks_first_and_by_name() {
    let app = TestApp::start().await;
    let extra = json!({"description": "{{char}} mends nets for {{user}}.", "extensions": {"tollgate": {"model": "kimi-k3"}},
        "character_book": {"entries": [{"keys": ["storm"], "content": "Storms come from the west.", "enabled": true, "insertion_order": 1}]}});
    characters::add(&app, "Mara", extra).await;
    says(&app, "Hello.");
    let reply = ask(&app, "A storm!", json!({"character_slug": "mara"})).await;
    assert_eq!(reply.ok_json()["service_parameters"]["character_slug"], "mara");
    let prompt = told(&app);
    assert!(prompt.starts_with("You are Mara."), "{prompt}");
    assert!(
        prompt.contains("Mara mends nets for User.") && prompt.contains("from the west"),
        "{prompt}"
    );
    says(&app, "Hello.");
    let body = json!({"service_parameters": {"character_slug": "mara"}, "messages": [{"role": "user", "content": "Hi"}]});
    let answer = app.admin().post(CHAT, &body).await.ok_json();
    assert_eq!(answer["model"], "kimi-k3", "its own model, where the caller names none");
    let gone = json!({"extensions": {"tollgate": {"model": "gone"}}});
    characters::add(&app, "Otto", gone).await;
    says(&app, "Hello.");
    let body = json!({"service_parameters": {"character_slug": "otto"}, "messages": [{"role": "user", "content": "Hi"}]});
    let answer = app.admin().post(CHAT, &body).await.ok_json();
    assert_ne!(answer["model"], "gone", "a model that is there, where its own is not");
    app.settle_tasks().await;
    let stats = app.admin().get("/characters/mara").await.ok_json()["data"]["stats"].clone();
    assert_eq!(stats["imports"], 1, "an account counts once");
    assert_eq!(ask(&app, "Hi", json!({"character_slug": "nobody"})).await.status, 404);
}

#[tokio::test]
async fn a_character_that_may_look_at_the_web_does_so_by_itself() {
    let app = TestApp::start().await;
    app.site.put_results(results());
    characters::add(&app, "Ines", json!({"extensions": {"tollgate": {"web": true}}})).await;
    says(&app, "Yes.");
    let reply =
        ask(&app, "Is it true that it rains today?", json!({"character_slug": "ines"})).await;
    assert_eq!(reply.header("x-service-web-search"), "on; reason=about the present");
    says(&app, "Yes.");
    let off = json!({"character_slug": "ines", "enable_web_search": "off"});
    ask(&app, "Is it true that it rains today?", off).await.ok_json();
    assert_eq!(app.site.requested_paths().len(), 1);
}

/// A service whose `kimi-k3` has a provider that searches X.
pub(crate) async fn with_x_search() -> TestApp {
    TestApp::with_changed_fixture(|fixture| {
        let before = r#""vision", "multiple_images"]"#;
        assert!(fixture.contains(before));
        fixture.replacen(before, r#""vision", "multiple_images", "x_search"]"#, 1)
    })
    .await
}

#[tokio::test]
async fn a_provider_searches_x_where_it_can_and_that_is_charged_with_the_answer() {
    let app = with_x_search().await;
    let tokens = tokens(&app).await;
    app.site.put_results(results());
    says(&app, "They are glad.");
    // The provider's own search replaces the standard search.
    let options = json!({"enable_x_search": true, "enable_web_search": "on"});
    let reply = ask(&app, "What do people say of the ferry?", options).await;
    reply.ok_json();
    assert_eq!(reply.header("x-service-web-search"), "");
    let seen = app.upstream.received_bodies();
    let sent = &seen.last().unwrap()["search_parameters"];
    assert_eq!(*sent, json!({"mode": "on", "sources": [{"type": "x"}]}));
    assert_eq!(app.verify_spent().await.nanos(), 2 * tokens + 3 * PRICE);
    // A caller cannot make the provider search at the operator's expense.
    says(&app, "Hello");
    let body = json!({"model": "kimi-k3", "messages": [{"role": "user", "content": "Hi"}],
        "search_parameters": {"mode": "on"}, "web_search_options": {}, "plugins": [{"id": "web"}],
        "service_tier": "priority"});
    app.admin().post(CHAT, &body).await.ok_json();
    let seen = app.upstream.received_bodies();
    for field in ["search_parameters", "web_search_options", "plugins", "service_tier"] {
        assert_eq!(seen.last().unwrap().get(field), None, "{field}");
    }
}

#[tokio::test]
async fn a_model_that_cannot_search_x_says_so_and_costs_nothing() {
    let app = TestApp::start().await;
    let reply = ask(&app, "Hi", json!({"enable_x_search": true})).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    let path = &reply.json()["issues"][0]["path"];
    assert_eq!(*path, json!(["service_parameters", "enable_x_search"]));
    assert_eq!(app.verify_spent().await.nanos(), 0);
}
