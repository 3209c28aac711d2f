//! Calls every operation correctly, without a credential, and with bad input.
//!
//! The list below has an entry for each operation of the document; a missing one fails the test.

mod dialogues;
mod files;
mod media;

use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::mcp_server::{StubGeneration, StubMcpServer};
use testkit::wallet::TestWallet;

use crate::embeddings::embedder::{Embedder, embed_with};
use crate::{
    audio_queue, characters, completions, image_tools, images, moderations, rerank, responses_mcp,
    speech, tee, transcriptions, translations, video_queue, voices,
};

/// Good and bad calls of one operation. `{key}` in a path or body stands for a key's id, `{wallet}`
/// for a wallet's address, and `{signature}` for the wallet's signature of `{token}`.
struct Example {
    operation: &'static str,
    good: Sent,
    /// `None` for operations without input.
    bad: Option<Sent>,
}

struct Sent {
    method: Method,
    path: &'static str,
    body: Content,
}

enum Content {
    Nothing,
    Json(Value),
    /// A form with this file.
    File(&'static [u8]),
    /// The same with these fields.
    Form(&'static [(&'static str, &'static str)], &'static [u8]),
}

fn get(path: &'static str) -> Sent {
    Sent { method: Method::GET, path, body: Content::Nothing }
}

fn send(method: Method, path: &'static str, body: Value) -> Sent {
    Sent { method, path, body: Content::Json(body) }
}

fn speak(input: Value) -> Sent {
    send(Method::POST, speech::PATH, json!({"input": input}))
}

fn transcribe(file: &'static [u8]) -> Sent {
    Sent { method: Method::POST, path: transcriptions::PATH, body: Content::File(file) }
}

fn upload(path: &'static str, file: &'static [u8]) -> Sent {
    Sent { method: Method::POST, path, body: Content::File(file) }
}

fn chat(messages: Value) -> Sent {
    let body = json!({"model": "default_code", "messages": messages});
    send(Method::POST, "/chat/completions", body)
}

fn respond(input: Value) -> Sent {
    send(Method::POST, "/responses", json!({"model": "default_code", "input": input}))
}

fn message(path: &'static str, messages: Value) -> Sent {
    let body = json!({"model": "default_code", "max_tokens": 9, "messages": messages});
    send(Method::POST, path, body)
}

fn mcp(jsonrpc: &str) -> Sent {
    send(Method::POST, "/mcp", json!({"jsonrpc": jsonrpc, "id": 1, "method": "ping"}))
}

fn complete(prompt: Value) -> Sent {
    send(Method::POST, "/completions", json!({"model": "default_code", "prompt": prompt}))
}

fn embed(input: Value) -> Sent {
    let body = json!({"model": "text-embedding-3-small", "input": input});
    send(Method::POST, "/embeddings", body)
}

fn rank(documents: Value) -> Sent {
    let body = json!({"model": "bge-reranker", "query": "Hi", "documents": documents});
    send(Method::POST, rerank::PATH, body)
}

fn moderate(input: Value) -> Sent {
    send(Method::POST, moderations::PATH, json!({"input": input}))
}

fn example(operation: &'static str, good: Sent, bad: Option<Sent>) -> Example {
    Example { operation, good, bad }
}

fn wallet_examples() -> Vec<Example> {
    vec![
        example(
            "get_web3_token",
            get("/api_keys/generate_web3_key"),
            Some(get("/api_keys/generate_web3_key?address=nobody")),
        ),
        example("create_web3_key", web3_key("{signature}"), Some(web3_key("0x12"))),
        example(
            "top_up_wallet",
            send(Method::POST, "/x402/top-up", json!({})),
            Some(send(Method::POST, "/x402/top-up", json!({}))),
        ),
        example(
            "get_wallet_balance",
            get("/x402/balance/{wallet}"),
            Some(get("/x402/balance/nobody")),
        ),
        example(
            "list_wallet_transactions",
            get("/x402/transactions/{wallet}"),
            Some(get("/x402/transactions/{wallet}?limit=0")),
        ),
    ]
}

fn web3_key(signature: &str) -> Sent {
    let body = json!({
        "address": "{wallet}", "token": "{token}", "signature": signature, "apiKeyType": "ADMIN",
    });
    send(Method::POST, "/api_keys/generate_web3_key", body)
}

fn examples() -> Vec<Example> {
    let mut examples = inference();
    examples.extend(files::examples());
    examples.extend(media::queues());
    examples.extend(media::pictures());
    examples.extend(media::augment_examples());
    examples.extend(media::character_examples());
    examples.extend(dialogues::responses());
    examples.extend(dialogues::conversations());
    examples.extend(models());
    examples.extend(api_keys());
    examples.extend(billing());
    examples.extend(enclaves());
    examples.extend(crypto());
    examples.extend(wallet_examples());
    examples.push(example("handle_mcp_message", mcp("2.0"), Some(mcp("1.0"))));
    examples.push(example("list_mcp_servers", get("/mcp_servers"), None));
    examples.push(example(
        "list_mcp_server_tools",
        get("/mcp_servers/weather/tools"),
        Some(get("/mcp_servers/%ff/tools")),
    ));
    examples
}

fn inference() -> Vec<Example> {
    vec![
        example(
            "create_chat_completion",
            chat(json!([{"role": "user", "content": "Hi"}])),
            Some(chat(json!([]))),
        ),
        example("create_completion", complete(json!("Hi")), Some(complete(json!([])))),
        example("create_response", respond(json!("Hi")), Some(respond(json!([])))),
        example("list_responses", get("/responses"), Some(get("/responses?limit=0"))),
        example(
            "create_message",
            message("/messages", json!([{"role": "user", "content": "Hi"}])),
            Some(message("/messages", json!([]))),
        ),
        example(
            "count_tokens",
            message("/messages/count_tokens", json!([{"role": "user", "content": "Hi"}])),
            Some(message("/messages/count_tokens", json!([]))),
        ),
        example("create_embedding", embed(json!("Hi")), Some(embed(json!([])))),
        example("create_rerank", rank(json!(["Hi"])), Some(rank(json!([])))),
        example("create_moderation", moderate(json!("Hi")), Some(moderate(json!([])))),
        example("create_speech", speak(json!("Hi")), Some(speak(json!("")))),
        example(
            "create_transcription",
            transcribe(transcriptions::TONE),
            Some(transcribe(b"no sound")),
        ),
        example(
            "create_translation",
            upload(translations::PATH, transcriptions::TONE),
            Some(upload(translations::PATH, b"no sound")),
        ),
        example(
            "create_video_transcription",
            upload("/video/transcriptions", transcriptions::TONE),
            Some(upload("/video/transcriptions", b"no sound")),
        ),
        example(
            "create_voice",
            upload(voices::PATH, transcriptions::TONE),
            Some(upload(voices::PATH, b"no sound")),
        ),
    ]
}

fn models() -> Vec<Example> {
    vec![
        example("list_models", get("/models"), Some(get("/models?type=smell"))),
        example("list_model_traits", get("/models/traits"), Some(get("/models/traits?type=x"))),
        example(
            "list_compatibility_mapping",
            get("/models/compatibility_mapping"),
            Some(get("/models/compatibility_mapping?type=code")),
        ),
        example("get_model", get("/models/default"), Some(get("/models/%ff"))),
    ]
}

fn api_keys() -> Vec<Example> {
    vec![
        example("list_api_keys", get("/api_keys"), None),
        example(
            "create_api_key",
            send(Method::POST, "/api_keys", json!({"apiKeyType": "INFERENCE", "description": "a"})),
            Some(send(Method::POST, "/api_keys", json!({"apiKeyType": 1}))),
        ),
        example(
            "update_api_key",
            send(Method::PATCH, "/api_keys", json!({"id": "{key}", "description": "b"})),
            Some(send(Method::PATCH, "/api_keys", json!({"description": 1}))),
        ),
        example(
            "delete_api_key",
            send(Method::DELETE, "/api_keys", json!({"id": "{key}"})),
            Some(send(Method::DELETE, "/api_keys", json!({"id": ""}))),
        ),
        example("get_rate_limits", get("/api_keys/rate_limits"), None),
        example("list_rate_limit_logs", get("/api_keys/rate_limit_logs"), None),
        example("list_rate_limits_log", get("/api_keys/rate_limits/log"), None),
        example("get_api_key", get("/api_keys/{key}"), Some(get("/api_keys/none"))),
    ]
}

fn billing() -> Vec<Example> {
    vec![
        example("get_balance", get("/billing/balance"), None),
        example("list_usage", get("/billing/usage"), Some(get("/billing/usage?limit=0"))),
        example(
            "list_usage_history",
            get("/billing/usage-history"),
            Some(get("/billing/usage-history?pageSize=9")),
        ),
        example(
            "get_usage_analytics",
            get("/billing/usage-analytics"),
            Some(get("/billing/usage-analytics?lookback=week")),
        ),
    ]
}

fn enclaves() -> Vec<Example> {
    vec![
        example(
            "get_attestation",
            get(tee::ATTESTATION),
            Some(get("/tee/attestation?model=qwen3:4b&nonce=12")),
        ),
        example(
            "get_signature",
            get("/tee/signature?model=qwen3:4b&request_id=chatcmpl-1"),
            Some(get("/tee/signature?model=qwen3:4b")),
        ),
    ]
}

fn crypto() -> Vec<Example> {
    vec![
        example("list_rpc_networks", get("/crypto/rpc/networks"), None),
        example(
            "call_rpc",
            send(
                Method::POST,
                "/crypto/rpc/base-mainnet",
                json!({"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []}),
            ),
            Some(send(Method::POST, "/crypto/rpc/base-mainnet", json!({"id": 1, "method": 2}))),
        ),
    ]
}

#[tokio::test]
async fn every_operation_is_called_well_and_badly() {
    let document = api::build_openapi_document();
    let mut examples = examples();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let found = examples.iter().position(|it| it.operation == id);
            let Some(index) = found else { panic!("{id} ({method} {path}) has no example here") };
            check(&examples.swap_remove(index), operation).await;
        }
    }
    let left: Vec<&str> = examples.iter().map(|it| it.operation).collect();
    assert!(left.is_empty(), "examples of operations that are no more: {left:?}");
}

async fn check(example: &Example, operation: &Value) {
    let mcp_server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = app_for(example.operation, &mcp_server).await;
    let key = app.create_key(&json!({"apiKeyType": "INFERENCE", "description": "example"})).await;
    let key = key["id"].as_str().unwrap();
    let Example { operation: id, good, bad } = example;
    if *id == "create_completion" {
        app.upstream.queue_script(completions::text(" there", &Value::Null));
    }
    if *id == "create_speech" {
        app.upstream.queue_script(speech::mp3());
    }
    if *id == "create_voice" {
        app.upstream.queue_script(voices::learned());
    }
    if ["create_transcription", "create_video_transcription"].contains(id) {
        app.upstream.queue_script(transcriptions::hello());
    }
    queue_score_script(&app, id);
    let is_painted = ["generate_image", "create_image", "edit_image", "multi_edit_image"];
    let is_varied = ["create_image_edit", "create_image_variation"];
    if is_painted.contains(id) || is_varied.contains(id) {
        app.upstream.queue_script(images::made(512, 512));
    }
    if ["upscale_image", "remove_image_background"].contains(id) {
        image_tools::paint_with(&app);
    }
    if id.contains("character") {
        characters::add(&app, "Mara", json!({})).await;
    }
    app.site.put("/page", "text/markdown", "# A page");
    app.site.put_results(json!([]));
    if *id == "create_embedding" {
        embed_with(&app, Embedder::counting());
    }

    let wallet = TestWallet::evm(1);
    let payment = wallet.payment_header(5_000_000, 1, app.app.clock.now());
    let operator = app.operator().await;
    let caller = |payment: &str| match *id {
        "top_up_wallet" => app.anonymous().with("payment-signature", payment),
        "get_wallet_balance" | "list_wallet_transactions" => app.signed_in(&wallet),
        _ if good.path.starts_with("/admin/") => operator.clone(),
        _ => app.admin(),
    };
    let made = QueuedJobs::of(&app, id).await;
    let call = async |app: &TestApp, client: &TestClient, sent: &Sent, key: &str| {
        call(app, client, sent, (key, &made)).await
    };
    let reply = call(&app, &caller(&payment), good, key).await;
    assert_eq!(reply.status, 200, "{id}: {}", reply.text());

    let anyone_may = operation["security"].as_array().unwrap().contains(&json!({}));
    let reply = call(&app, &app.anonymous(), good, key).await;
    let expected: &[u16] = match *id {
        "top_up_wallet" => &[402],
        _ if anyone_may => &[200],
        _ => &[401, 402],
    };
    assert!(expected.contains(&reply.status), "{id} without a credential: {}", reply.text());

    let takes_input = operation.get("parameters").or(operation.get("requestBody")).is_some();
    assert_eq!(takes_input, bad.is_some(), "{id} takes input, or does not, unlike its example");
    if let Some(bad) = bad {
        let reply = call(&app, &caller("junk"), bad, key).await;
        assert_eq!(reply.status, 400, "{id} with bad input: {}", reply.text());
        let error = &reply.json()["error"];
        assert!(error.is_string() || error["message"].is_string());
    }
}

/// The upstream's answer to a translation, a ranking or a moderation.
fn queue_score_script(app: &TestApp, operation: &str) {
    let script = match operation {
        "create_translation" => translations::hello(),
        "create_rerank" => rerank::scores(&[0.5], &Value::Null),
        "create_moderation" => moderations::verdicts(1),
        _ => return,
    };
    app.upstream.queue_script(script);
}

/// The service with the setup that the operation needs.
async fn app_for(operation: &str, mcp_server: &StubMcpServer) -> TestApp {
    match operation {
        "get_attestation" | "get_signature" => {
            let app = tee::app().await;
            let is_report = operation == "get_attestation";
            let script = || if is_report { tee::report() } else { tee::signature() };
            app.upstream.queue_script(script());
            app.upstream.queue_script(script());
            app
        }
        "download_media" | "revoke_media" => video_queue::private().await,
        "remove_image_background" => image_tools::app().await,
        "create_voice" => voices::app().await,
        "create_rerank" => rerank::app().await,
        "create_moderation" => moderations::app().await,
        "list_mcp_server_tools" => responses_mcp::start(mcp_server).await,
        _ => TestApp::start().await,
    }
}

/// Queued and finished jobs, for operations about a job.
#[derive(Default)]
struct QueuedJobs {
    music: String,
    video: String,
    link: String,
    dialogue: dialogues::StoredDialogue,
    file: String,
    batch: String,
}

impl QueuedJobs {
    async fn of(app: &TestApp, operation: &str) -> QueuedJobs {
        if operation.contains("_file") || operation.ends_with("_batch") {
            return files::prepare(app, operation).await;
        }
        if !["_audio", "_video", "_media"].iter().any(|it| operation.ends_with(it)) {
            let dialogue = dialogues::StoredDialogue::create(app, operation).await;
            return QueuedJobs { dialogue, ..QueuedJobs::default() };
        }
        let music = audio_queue::queue(&app.admin()).await;
        let (video, link) = video_queue::queue(&app.admin()).await;
        app.run_jobs().await;
        let link = link.unwrap_or_default();
        QueuedJobs { music, video, link, ..QueuedJobs::default() }
    }
}

async fn call(
    app: &TestApp,
    client: &TestClient,
    sent: &Sent,
    (key, made): (&str, &QueuedJobs),
) -> TestReply {
    let wallet = TestWallet::evm(1);
    let token = app.anonymous().get("/api_keys/generate_web3_key").await.ok_json();
    let token = token["data"]["token"].as_str().unwrap();
    let fill = |text: &str| {
        text.replace("{key}", key)
            .replace("{music}", &made.music)
            .replace("{video}", &made.video)
            .replace("{link}", &made.link)
            .replace("{response}", &made.dialogue.response)
            .replace("{conversation}", &made.dialogue.conversation)
            .replace("{item}", &made.dialogue.item)
            .replace("{file}", &made.file)
            .replace("{batch}", &made.batch)
            .replace("{wallet}", &wallet.address())
            .replace("{token}", token)
            .replace("{signature}", &wallet.sign(token))
    };
    let path = fill(sent.path);
    match &sent.body {
        Content::Nothing => {
            client.send(sent.method.clone(), &path, axum::body::Body::empty()).await
        }
        Content::File(file) => client.post_form(&path, &[], Some(("file", file))).await,
        Content::Form(fields, file) => client.post_form(&path, fields, Some(("file", file))).await,
        Content::Json(body) => {
            let body: Value = serde_json::from_str(&fill(&body.to_string())).unwrap();
            client.send_json(sent.method.clone(), &path, &body).await
        }
    }
}
