//! Tests of `POST /embeddings`: vectors, and exactly one charge.

pub(crate) mod embedder;

use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::{
    EmbeddingAnswer, EmbeddingInput, EmbeddingRequest, EngineError, EngineUsage, TimeoutPhase,
};
use expect_test::expect;
use futures_util::FutureExt;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use tokio::sync::Notify;

use self::embedder::{EMBEDDING_MODEL, Embedder, embed_with, positions};

async fn start(embedder: Embedder) -> TestApp {
    let app = TestApp::start().await;
    embed_with(&app, embedder);
    app
}

/// An engine that reports this usage.
fn reporting(usage: Option<EngineUsage>) -> Embedder {
    Embedder::new(move |request| Ok(EmbeddingAnswer { vectors: positions(&request.input), usage }))
}

fn failing(error: EngineError) -> Embedder {
    Embedder::new(move |_| Err(error.clone()))
}

/// An engine that records its requests.
fn listening() -> (Embedder, Arc<Mutex<Vec<EmbeddingRequest>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    let embedder = Embedder::new(move |request| {
        ear.lock().unwrap().push(request.clone());
        Ok(EmbeddingAnswer { vectors: positions(&request.input), usage: None })
    });
    (embedder, heard)
}

async fn embed(app: &TestApp, input: Value) -> TestReply {
    app.admin().post("/embeddings", &json!({"model": EMBEDDING_MODEL, "input": input})).await
}

/// The rest of the ten dollars, after checking that nothing is still held.
async fn balance(app: &TestApp) -> Value {
    app.settle_tasks().await;
    assert_eq!(app.app.ledger.status().open_holds, 0);
    app.admin().get("/billing/balance").await.ok_json()["balances"]["usd"].clone()
}

#[tokio::test]
async fn a_text_becomes_a_vector_and_is_charged_by_the_token() {
    let app = start(reporting(Some(EngineUsage::from_counts(4, 0)))).await;
    let reply = embed(&app, json!("a little text")).await;
    reply.expect(expect![[r#"200 {"data":[{"embedding":[0.0,0.5],"index":0,"object":"embedding"}],"model":"text-embedding-bge-m3","object":"list","usage":{"prompt_tokens":4,"total_tokens":4},"cost":{"usd":6e-7,"diem":0.0}}"#]]);
    assert_eq!(reply.header("x-balance-remaining"), "9.9999994");
    assert_eq!(reply.header("x-service-balance-usd"), "10", "what there was before");
    assert_eq!(reply.header("x-service-model-id"), EMBEDDING_MODEL);
    assert_eq!(reply.header("x-ratelimit-limit-requests"), "500");
    assert_eq!(reply.header("x-ratelimit-remaining-requests"), "499");
    assert_eq!(balance(&app).await, json!(9.999_999_4));
    let usage = app.admin().get("/billing/usage").await.ok_json();
    assert_eq!(usage["data"][0]["sku"], "text-embedding-bge-m3-llm-input-mtoken");
    assert_eq!(usage["data"][0]["inferenceDetails"]["promptTokens"], 4);
}

#[tokio::test]
async fn every_form_of_input_reaches_the_engine() {
    let (embedder, heard) = listening();
    let app = start(embedder).await;
    for input in [json!("one"), json!(["one", "two"]), json!([1, 2]), json!([[1, 2], [3]])] {
        embed(&app, input).await.ok_json();
    }
    let heard: Vec<EmbeddingInput> =
        heard.lock().unwrap().iter().map(|request| request.input.clone()).collect();
    assert_eq!(
        heard,
        [
            EmbeddingInput::Texts(vec!["one".to_owned()]),
            EmbeddingInput::Texts(vec!["one".to_owned(), "two".to_owned()]),
            EmbeddingInput::Tokens(vec![vec![1, 2]]),
            EmbeddingInput::Tokens(vec![vec![1, 2], vec![3]]),
        ]
    );
}

#[tokio::test]
async fn many_inputs_come_back_in_their_order() {
    let app = start(Embedder::counting()).await;
    let texts: Vec<String> = (0..2048).map(|number| number.to_string()).collect();
    let list = embed(&app, json!(texts)).await.ok_json();
    let data = list["data"].as_array().unwrap();
    assert_eq!(data.len(), 2048);
    for (index, entry) in data.iter().enumerate() {
        assert_eq!(entry["index"], index);
        assert_eq!(
            entry["embedding"][0].as_f64().unwrap(),
            f64::from(u16::try_from(index).unwrap())
        );
    }
}

#[tokio::test]
async fn base64_is_little_endian_floats() {
    let app = start(Embedder::counting()).await;
    let body = json!({
        "model": "text-embedding-3-small",
        "input": ["a", "b"],
        "encoding_format": "base64",
        "user": "somebody",
    });
    let list = app.admin().post("/embeddings", &body).await.ok_json();
    let bytes = STANDARD.decode(list["data"][1]["embedding"].as_str().unwrap()).unwrap();
    assert_eq!(bytes, [1.0_f32.to_le_bytes(), 0.5_f32.to_le_bytes()].concat());
}

#[tokio::test]
async fn an_explicit_null_is_as_if_absent() {
    let app = start(Embedder::counting()).await;
    let body = json!({
        "model": EMBEDDING_MODEL,
        "input": "a",
        "encoding_format": null,
        "dimensions": null,
        "something_unknown": 1,
    });
    let list = app.admin().post("/embeddings", &body).await.ok_json();
    assert_eq!(list["data"][0]["embedding"], json!([0.0, 0.5]));
}

#[tokio::test]
async fn inputs_that_are_too_long_are_named_by_their_places() {
    let app = start(Embedder::counting()).await;
    let most = "a".repeat(27_594);
    let long = "a".repeat(27_595);
    embed(&app, json!(most)).await.ok_json();
    embed(&app, json!([long, "b", long])).await.expect(expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"input":{"_errors":[],"0":{"_errors":["Input text exceeds the maximum token limit of 8192 tokens"]},"2":{"_errors":["Input text exceeds the maximum token limit of 8192 tokens"]}}},"issues":[{"code":"custom","path":["input",0],"message":"Input text exceeds the maximum token limit of 8192 tokens"},{"code":"custom","path":["input",2],"message":"Input text exceeds the maximum token limit of 8192 tokens"}]}"#]]);
}

#[tokio::test]
async fn inputs_that_are_empty_or_too_many_are_refused() {
    let app = start(Embedder::counting()).await;
    let bad = [
        json!(""),
        json!([]),
        json!(["a", ""]),
        json!([[]]),
        json!([1, "a"]),
        json!([-1]),
        json!([1.5]),
        json!(vec!["a"; 2049]),
        json!(vec![1; 2049]),
        json!([vec![1; 8193]]),
        json!({"text": "a"}),
        json!(null),
    ];
    for input in bad {
        let reply = embed(&app, input.clone()).await;
        assert_eq!(reply.status, 400, "{:.60}", input.to_string());
        assert!(reply.json()["details"]["input"].is_object(), "{}", reply.text());
    }
    assert_eq!(balance(&app).await, json!(10.0));
}

#[tokio::test]
async fn shorter_vectors_are_asked_of_the_engine_and_longer_ones_refused() {
    let (embedder, heard) = listening();
    let app = start(embedder).await;
    let ask = async |dimensions: u32| {
        let body = json!({"model": EMBEDDING_MODEL, "input": "a", "dimensions": dimensions});
        app.admin().post("/embeddings", &body).await
    };
    ask(256).await.ok_json();
    ask(1024).await.ok_json();
    let heard: Vec<Option<u32>> = heard.lock().unwrap().iter().map(|it| it.dimensions).collect();
    assert_eq!(heard, [Some(256), None], "the model's own length needs no word");
    ask(1025).await.expect(expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"dimensions":{"_errors":["Must be at most 1024 for this model"]}},"issues":[{"code":"custom","path":["dimensions"],"message":"Must be at most 1024 for this model"}]}"#]]);
    assert_eq!(ask(0).await.status, 400);
}

#[tokio::test]
async fn an_engine_that_reports_nothing_or_nonsense_is_billed_by_our_own_count() {
    for usage in
        [None, Some(EngineUsage::from_counts(0, 0)), Some(EngineUsage::from_counts(90_000_000, 0))]
    {
        let app = start(reporting(usage)).await;
        let list = embed(&app, json!("a".repeat(640))).await.ok_json();
        assert_eq!(list["usage"], json!({"prompt_tokens": 190, "total_tokens": 190}), "{usage:?}");
        assert_eq!(balance(&app).await, json!(9.999_971_5));
    }
}

#[tokio::test]
async fn a_failure_of_the_engine_is_told_and_costs_nothing() {
    let seconds = std::time::Duration::from_secs;
    let failures = [
        (EngineError::Rejected { message: "no such token".to_owned() }, 400),
        (EngineError::ContextOverflow { message: "too long".to_owned() }, 400),
        (EngineError::ContentPolicy { message: "no".to_owned() }, 422),
        (EngineError::Overloaded { retry_after: Some(seconds(7)) }, 429),
        (EngineError::Unreachable { cause: "secret-host".to_owned() }, 503),
        (EngineError::Misconfigured { cause: "secret-key".to_owned() }, 503),
        (EngineError::BadAnswer { cause: "secret-words".to_owned() }, 500),
        (EngineError::Timeout { phase: TimeoutPhase::Answer }, 504),
    ];
    for (error, status) in failures {
        let app = start(failing(error.clone())).await;
        let reply = embed(&app, json!("a")).await;
        assert_eq!(reply.status, status, "{error}: {}", reply.text());
        assert!(!reply.text().contains("secret"), "{}", reply.text());
        if status == 429 {
            assert_eq!(reply.header("retry-after"), "7");
        }
        assert_eq!(balance(&app).await, json!(10.0), "{error}");
    }
}

#[tokio::test]
async fn a_caller_who_hangs_up_pays_for_what_was_done() {
    let (begun, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tells, waits) = (Arc::clone(&begun), Arc::clone(&goes_on));
    let app = start(Embedder::slow(move |request| {
        let (tells, waits) = (Arc::clone(&tells), Arc::clone(&waits));
        async move {
            tells.notify_one();
            waits.notified().await;
            let usage = Some(EngineUsage::from_counts(4, 0));
            Ok(EmbeddingAnswer { vectors: positions(&request.input), usage })
        }
        .boxed()
    }))
    .await;
    tokio::select! {
        reply = embed(&app, json!("a little text")) => panic!("answered: {}", reply.text()),
        () = begun.notified() => {}
    }
    goes_on.notify_one();
    assert_eq!(balance(&app).await, json!(9.999_999_4));
}

#[tokio::test]
async fn an_account_without_money_is_told_so_before_any_work() {
    let (embedder, heard) = listening();
    let app = start(embedder).await;
    let poor = app.another_account("poor").await;
    let body = json!({"model": EMBEDDING_MODEL, "input": "a little text"});
    poor.post("/embeddings", &body).await.expect(expect![[r#"402 {"error":"Insufficient USD or Diem balance to complete request. Up to $0.00000435 is needed and $0 is available. Visit http://testhost/#/top-up to add credits in USDC, with a wallet that is linked to the account, or ask the operator of this service.","code":"INSUFFICIENT_BALANCE"}"#]]);
    assert!(heard.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_key_that_may_spend_no_more_names_its_limit() {
    let app = start(Embedder::counting()).await;
    let terms = json!({
        "apiKeyType": "INFERENCE",
        "description": "small",
        "consumptionLimit": {"usd": 0.000_001},
        "limitPeriod": "MONTH",
    });
    let key = app.create_key(&terms).await;
    let caller = app.anonymous().with_bearer(key["apiKey"].as_str().unwrap());
    let body = json!({"model": EMBEDDING_MODEL, "input": "a text of more bytes than that buys"});
    let refused = caller.post("/embeddings", &body).await;
    assert_eq!(refused.status, 402);
    let refused = refused.json();
    assert_eq!(refused["code"], "API_KEY_USD_SPEND_LIMIT_EXCEEDED");
    assert_eq!(refused["limitPeriod"], "MONTH");
}

#[tokio::test]
async fn only_embedding_models_embed() {
    let app = start(Embedder::counting()).await;
    let ask = async |model: &str| {
        app.admin().post("/embeddings", &json!({"model": model, "input": "a"})).await
    };
    assert_eq!(ask("llama-3.3-70b").await.status, 400);
    let unknown = ask("text-embedding-bge-m4").await;
    assert_eq!(unknown.status, 404);
    assert!(unknown.text().contains(EMBEDDING_MODEL), "{}", unknown.text());
}

#[tokio::test]
async fn the_five_hundred_and_first_request_of_a_minute_waits() {
    let app = start(Embedder::counting()).await;
    for _ in 0..500 {
        embed(&app, json!("a")).await.ok_json();
    }
    let refused = embed(&app, json!("a")).await;
    assert_eq!(refused.status, 429);
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    app.clock.advance_s(wait);
    embed(&app, json!("a")).await.ok_json();
    let log = app.admin().get("/api_keys/rate_limit_logs").await.ok_json();
    assert_eq!(log["data"][0]["modelId"], EMBEDDING_MODEL);
}

#[tokio::test]
async fn vectors_are_compressed_for_those_who_ask() {
    let app = start(Embedder::counting()).await;
    let body = json!({"model": EMBEDDING_MODEL, "input": vec!["a"; 100]});
    for encoding in ["gzip", "br"] {
        let caller = app.admin().with("accept-encoding", encoding);
        let path = "/api/v1/embeddings";
        let caller = caller.with("content-type", "application/json");
        let sent = axum::body::Body::from(body.to_string());
        let reply = caller.send_raw(axum::http::Method::POST, path, sent).await;
        assert_eq!((reply.status, reply.header("content-encoding")), (200, encoding));
    }
}
