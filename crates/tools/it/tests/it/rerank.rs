//! Tests of `POST /rerank`: the order of documents, and an exact bill by token and by document.

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::UpstreamScript;
use testkit::wallet::TestWallet;

pub(crate) const PATH: &str = "/rerank";
/// Half a nano-dollar per token and 20,000 per document.
const MODELS: &str = r#"
[[model]]
id = "bge-reranker"
type = "rerank"
name = "BGE Reranker"
provider = "main"
traits = ["default"]
aliases = ["rerank-v3.5"]
max_input_tokens = 64
max_documents = 4
price = { input_usd_per_million = "0.0005", per_thousand_documents_usd = "0.02" }
"#;

pub(crate) async fn app() -> TestApp {
    TestApp::with_changed_fixture(|fixture| format!("{fixture}{MODELS}")).await
}

/// A service whose rerank model is at a TEI server.
async fn tei_app() -> TestApp {
    let provider = "[[provider]]\nid = \"tei\"\nkind = \"tei\"\n\
                    base_url = \"http://127.0.0.1:1/v1\"\nmax_embedding_inputs = 2\n";
    let models = MODELS.replace("\"main\"", "\"tei\"");
    TestApp::with_changed_fixture(|fixture| format!("{provider}{fixture}{models}")).await
}

/// vLLM's answer with these scores, in the order of the documents.
pub(crate) fn scores(scores: &[f64], usage: &Value) -> UpstreamScript {
    let result = |(index, score): (usize, &f64)| json!({"index": index, "relevance_score": score, "document": {"text": "as sent"}});
    let results: Value = scores.iter().enumerate().map(result).collect();
    let body = json!({"id": "up-1", "model": "other", "usage": usage, "results": results});
    UpstreamScript::json(200, &body)
}

fn ask(more: &Value) -> Value {
    let mut body = json!({"model": "bge-reranker", "query": "q", "documents": ["a", "b", "c"]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

async fn send(app: &TestApp, more: &Value) -> TestReply {
    app.admin().post(PATH, &ask(more)).await
}

#[tokio::test]
async fn documents_come_by_their_scores_and_are_charged_by_token_and_document() {
    let app = app().await;
    app.upstream.queue_script(scores(&[0.25, -1.5, 0.75], &json!({"total_tokens": 57})));
    let reply = send(&app, &json!({})).await;
    let list = reply.ok_json();
    assert_eq!(
        list["results"],
        json!([
            {"index": 2, "relevance_score": 0.75},
            {"index": 0, "relevance_score": 0.25},
            {"index": 1, "relevance_score": -1.5},
        ])
    );
    assert_eq!(
        list["meta"],
        json!({
            "api_version": {"version": "2"},
            "billed_units": {"input_tokens": 57, "documents": 3},
            "tokens": {"input_tokens": 57, "output_tokens": 0},
        })
    );
    assert_eq!(list["usage"], json!({"prompt_tokens": 57, "total_tokens": 57}));
    assert_eq!(list["model"], "bge-reranker");
    assert!(list["id"].is_string());
    assert_eq!(reply.header("x-service-model-id"), "bge-reranker");
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "500");
    let sent = json!({"model": "bge-reranker", "query": "q", "documents": ["a", "b", "c"]});
    assert_eq!(app.upstream.received_bodies(), [sent]);
    assert!(app.upstream.heads()[0].starts_with("post /v1/rerank "));
    // 57 half nano-dollars and three documents, rounded once, half to even.
    assert_eq!(app.verify_spent().await.nanos(), 60_028);
    let usage = app.admin().get("/billing/usage").await.ok_json();
    let skus: Vec<&Value> = usage["data"].as_array().unwrap().iter().map(|it| &it["sku"]).collect();
    assert!(skus.contains(&&json!("bge-reranker-rerank-input-mtoken")), "{skus:?}");
    assert!(skus.contains(&&json!("bge-reranker-rerank-kdocument")), "{skus:?}");
}

#[tokio::test]
async fn every_field_is_done_here_or_sent() {
    let app = app().await;
    let plain = json!(["a", "b", "c"]);
    for (more, sent, results) in [
        (json!({"top_n": 1}), &plain, json!([{"index": 1, "relevance_score": 0.5}])),
        (
            json!({"top_n": 1, "return_documents": true}),
            &plain,
            json!([{"index": 1, "relevance_score": 0.5, "document": {"text": "b"}}]),
        ),
        (
            json!({"top_n": 9, "return_documents": false, "documents": [{"text": "x"}, "y"]}),
            &json!(["x", "y"]),
            json!([{"index": 1, "relevance_score": 0.5}, {"index": 0, "relevance_score": 0.25}]),
        ),
        (
            json!({"model": "rerank-v3.5", "top_n": 1, "max_tokens_per_doc": 2,
                "documents": ["one two three four", "b"]}),
            &json!(["one two", "b"]),
            json!([{"index": 1, "relevance_score": 0.5}]),
        ),
    ] {
        let told = [0.25, 0.5, 0.125];
        let count = sent.as_array().unwrap().len();
        app.upstream.queue_script(scores(&told[..count], &Value::Null));
        let list = send(&app, &more).await.ok_json();
        assert_eq!(list["results"], results, "{more}");
        let seen = app.upstream.received_bodies();
        let seen = &seen.last().unwrap()["documents"];
        let texts: Vec<&str> = seen.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let expected = sent.as_array().unwrap().iter().filter_map(Value::as_str);
        for (text, expected) in texts.iter().zip(expected) {
            assert_eq!(text.trim(), expected, "{more}");
        }
        assert_eq!(texts.len(), count);
    }
}

#[tokio::test]
async fn the_clients_of_cohere_and_openai_find_the_same_endpoint() {
    let app = app().await;
    let client = app.admin().with("content-type", "application/json");
    for path in ["/api/v1/rerank", "/v1/rerank", "/v2/rerank"] {
        app.upstream.queue_script(scores(&[0.1, 0.2, 0.3], &json!({"total_tokens": 10})));
        let body = Body::from(ask(&json!({})).to_string());
        let reply = client.send_raw(Method::POST, path, body).await;
        assert_eq!(reply.ok_json()["results"][0]["index"], 2, "{path}");
        let bad = client.send_raw(Method::POST, path, Body::from("{}")).await;
        assert_eq!(bad.status, 400, "{path}");
        assert!(!bad.json()["error"].is_null(), "{path}: {}", bad.text());
    }
    assert_eq!(app.verify_spent().await.nanos(), 3 * 60_005);
}

#[tokio::test]
async fn a_wallet_pays_for_it_too() {
    let app = app().await;
    let wallet = TestWallet::evm(1);
    let owner = app.fund(&wallet, "1").await;
    app.upstream.queue_script(scores(&[0.1, 0.2, 0.3], &json!({"total_tokens": 10})));
    app.signed_in(&wallet).post(PATH, &ask(&json!({}))).await.ok_json();
    app.settle_tasks().await;
    assert_eq!(app.app.ledger.balances(owner).usd.nanos(), 1_000_000_000 - 60_005);
}

#[tokio::test]
async fn a_provider_that_lies_about_its_scores_is_not_paid_for() {
    let entry = |index: i64, score: Value| json!({"index": index, "relevance_score": score});
    let number = |index| entry(index, json!(0.5));
    for results in [
        json!([number(0), number(1)]),
        json!([number(0), number(1), number(1)]),
        json!([number(0), number(1), number(3)]),
        json!([number(0), number(1), number(-1)]),
        json!([number(0), number(1), entry(2, Value::Null)]),
        json!([number(0), number(1), entry(2, json!("NaN"))]),
        json!([number(0), number(1), number(2), number(2)]),
        json!([]),
        Value::Null,
    ] {
        let app = app().await;
        let usage = json!({"total_tokens": 10});
        let body = json!({"results": results, "usage": usage});
        app.upstream.queue_script(UpstreamScript::json(200, &body));
        let reply = send(&app, &json!({"top_n": 1})).await;
        assert_eq!(reply.status, 500, "{results}: {}", reply.text());
        assert_eq!(app.verify_spent().await.nanos(), 0, "{results}");
    }
}

#[tokio::test]
async fn a_provider_that_reports_nothing_or_nonsense_is_billed_by_our_own_count() {
    for usage in [
        Value::Null,
        json!({}),
        json!({"total_tokens": 0}),
        json!({"total_tokens": -5}),
        json!({"total_tokens": 1.5}),
        json!({"total_tokens": 900_000}),
    ] {
        let app = app().await;
        app.upstream.queue_script(scores(&[0.1, 0.2, 0.3], &usage));
        let list = send(&app, &json!({})).await.ok_json();
        // The query counts with each document: three times one token and one token.
        assert_eq!(list["usage"]["total_tokens"], 6, "{usage}");
        assert_eq!(app.verify_spent().await.nanos(), 60_003, "{usage}");
    }
}

#[tokio::test]
async fn all_faults_are_told_at_once_and_cost_nothing() {
    let app = app().await;
    let long = "word ".repeat(100);
    let faults = async |more: Value| {
        let reply = send(&app, &more).await;
        assert_eq!(reply.status, 400, "{more}: {}", reply.text());
        let issues = reply.json()["issues"].as_array().unwrap().clone();
        let path = |issue: &Value| issue["path"].as_array().unwrap().clone();
        let mut paths: Vec<Value> = issues.iter().map(|issue| json!(path(issue))).collect();
        paths.dedup();
        json!(paths)
    };
    let wrong = json!({"query": "", "documents": ["a", ""], "top_n": 0, "max_tokens_per_doc": 0});
    let found = faults(wrong).await.to_string();
    for field in ["query", "documents", "top_n", "max_tokens_per_doc"] {
        assert!(found.contains(field), "{field}: {found}");
    }
    let many = json!({"documents": vec!["a"; 5], "relevant_spans": {}});
    assert_eq!(faults(many).await, json!([["relevant_spans"], ["documents"]]));
    let two = json!({"documents": [long, "b", long]});
    assert_eq!(faults(two).await, json!([["documents", 0], ["documents", 2]]));
    assert_eq!(faults(json!({"query": long})).await, json!([["query"]]));
    assert_eq!(faults(json!({"documents": []})).await, json!([["documents"]]));
    assert!(app.upstream.received_bodies().is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn only_rerank_models_rerank_and_only_for_those_who_can_pay() {
    let app = app().await;
    assert_eq!(send(&app, &json!({"model": "llama-3.3-70b"})).await.status, 400);
    let unknown = send(&app, &json!({"model": "bge-rerankr"})).await;
    assert_eq!(unknown.status, 404);
    assert!(unknown.text().contains("bge-reranker"), "{}", unknown.text());
    let poor = app.another_account("poor").await;
    assert_eq!(poor.post(PATH, &ask(&json!({}))).await.status, 402);
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn a_tei_server_gets_batches_and_tells_its_tokens_in_a_header() {
    let app = tei_app().await;
    for ranks in [
        json!([{"index": 1, "score": 0.9}, {"index": 0, "score": 0.2}]),
        json!([{"index": 0, "score": 0.5}]),
    ] {
        app.upstream
            .queue_script(UpstreamScript::json(200, &ranks).header("x-compute-tokens", "9"));
    }
    let list = send(&app, &json!({"documents": ["a", "b"], "max_tokens_per_doc": 50})).await;
    assert_eq!(list.ok_json()["usage"]["total_tokens"], 9);
    let sent = json!({"query": "q", "texts": ["a", "b"], "raw_scores": false,
        "return_text": false, "truncate": true});
    assert_eq!(app.upstream.received_bodies(), [sent]);
    assert_eq!(list.ok_json()["results"][0], json!({"index": 1, "relevance_score": 0.9}));
    let one = send(&app, &json!({"documents": ["a"]})).await.ok_json();
    assert_eq!(one["results"], json!([{"index": 0, "relevance_score": 0.5}]));
    assert_eq!(app.upstream.received_bodies()[1]["truncate"], false);
    // Nine half nano-dollars in each of two bills, rounded half to even, and three documents.
    assert_eq!(app.verify_spent().await.nanos(), 60_008);
}

#[tokio::test]
async fn a_rerank_model_is_listed_with_its_prices() {
    let app = app().await;
    let path = "/api/v1/models?type=rerank";
    let list = app.anonymous().send_raw(Method::GET, path, Body::empty()).await.ok_json();
    let model = &list["data"][0];
    assert_eq!((&model["id"], &model["type"]), (&json!("bge-reranker"), &json!("rerank")));
    let spec = &model["model_spec"];
    assert_eq!((&spec["maxInputTokens"], &spec["maxDocuments"]), (&json!(64), &json!(4)));
    assert_eq!(spec["pricing"]["input"]["usd"], 0.0005);
    assert_eq!(spec["pricing"]["per_thousand_documents"]["usd"], 0.02);
}
