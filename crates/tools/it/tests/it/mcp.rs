//! Tests of `POST /mcp`: both generations of the protocol, the tools and their payment.

use axum::body::Body;
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::upstream::{UpstreamScript, build_completion};
use testkit::wallet::TestWallet;

use crate::{images, speech, transcriptions};

const PATH: &str = "/api/v1/mcp";
const STATELESS: &str = "2026-07-28";
/// Prices of `kimi-k3` in nano-dollars per token.
const INPUT: i64 = 1_400;
const OUTPUT: i64 = 4_400;

/// Sends any body to a path, without the check against the OpenAPI document.
async fn send_to(client: &TestClient, path: &str, body: &Value) -> TestReply {
    let client = client.with("content-type", "application/json");
    client.send_raw(Method::POST, path, Body::from(body.to_string())).await
}

async fn send(client: &TestClient, body: &Value) -> TestReply {
    send_to(client, PATH, body).await
}

/// Sends a request of the generation with a handshake.
async fn request(client: &TestClient, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let reply = send(client, &body).await;
    assert_eq!(reply.header("content-type"), "application/json");
    let answer = reply.ok_json();
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(1)));
    answer
}

/// The result of a tool.
async fn call(client: &TestClient, tool: &str, arguments: Value) -> Value {
    request(client, "tools/call", json!({"name": tool, "arguments": arguments})).await["result"]
        .clone()
}

/// Sends a request of the generation without a handshake.
async fn request_alone(client: &TestClient, method: &str, mut params: Value) -> TestReply {
    let client = client.with("mcp-protocol-version", STATELESS).with("mcp-method", method);
    let client = match params["name"].as_str() {
        Some(name) => client.with("mcp-name", name),
        None => client,
    };
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    send(&client, &json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params})).await
}

fn ask() -> Value {
    json!({"model": "kimi-k3", "messages": [{"role": "user", "content": "Say hello"}]})
}

fn queue_hello(app: &TestApp) {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
    app.upstream.queue_script(UpstreamScript::json(200, &build_completion("Hello!", &usage)));
}

/// A payment as clients put it into the metadata of a call.
fn payment(app: &TestApp, wallet: &TestWallet, nonce: u8) -> Value {
    let header = wallet.payment_header(5_000_000, nonce, app.app.clock.now());
    serde_json::from_slice(&STANDARD.decode(header).unwrap()).unwrap()
}

async fn call_paid(client: &TestClient, tool: &str, arguments: Value, payment: Value) -> Value {
    let meta = json!({"x402/payment": payment});
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    request(client, "tools/call", params).await["result"].clone()
}

#[track_caller]
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("content that is a text")
}

#[tokio::test]
async fn the_handshake_negotiates_a_version_and_needs_no_credential() {
    let app = TestApp::start().await;
    let client = app.anonymous();
    for (asked, given) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let answer = request(&client, "initialize", json!({"protocolVersion": asked})).await;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], given);
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        assert_eq!(result["serverInfo"]["name"], "tollgate");
        assert!(result.get("resultType").is_none(), "{result}");
    }
    let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let reply = send(&client, &body).await;
    assert_eq!((reply.status, reply.text().as_str()), (202, ""));
    assert_eq!(request(&client, "ping", json!({})).await["result"], json!({}));
    let tools = request(&client, "tools/list", json!({})).await["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    let expected = [
        "chat",
        "generate_image",
        "speak",
        "transcribe",
        "search",
        "scrape",
        "list_models",
        "balance",
        "top_up",
    ];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn clients_that_ask_for_a_stream_whenever_they_connect_are_not_blocked() {
    let app = TestApp::start().await;
    for client in [app.anonymous(), app.inference().await] {
        for path in ["/mcp", PATH, "/v1/mcp"] {
            for method in [Method::GET, Method::DELETE] {
                for _ in 0..10 {
                    let reply = client.send_raw(method.clone(), path, Body::empty()).await;
                    assert_eq!((reply.status, reply.header("allow")), (405, "POST"), "{path}");
                }
            }
        }
        request(&client, "ping", json!({})).await;
    }
}

#[tokio::test]
async fn requests_that_stand_alone_carry_their_version_and_get_cacheable_lists() {
    let app = TestApp::start().await;
    let client = app.anonymous();
    let result = request_alone(&client, "server/discover", json!({})).await.ok_json();
    let result = &result["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["supportedVersions"][0], STATELESS);
    assert_eq!(result["cacheScope"], "public");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tollgate");
    let list = request_alone(&client, "tools/list", json!({})).await.ok_json();
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 9);
    assert!(list["result"]["ttlMs"].is_u64());

    queue_hello(&app);
    let params = json!({"name": "chat", "arguments": ask()});
    let answer = request_alone(&app.admin(), "tools/call", params).await.ok_json();
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(text(&answer["result"]), "Hello!");

    let unknown = request_alone(&client, "resources/list", json!({})).await;
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!(-32601)));
    let wrong = client.with("mcp-protocol-version", "1900-01-01");
    let reply = send(&wrong, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32022)));
    let mismatch = client.with("mcp-name", "speak");
    let params = json!({"name": "chat", "arguments": {}});
    let reply = request_alone(&mismatch, "tools/call", params).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32020)));
}

#[tokio::test]
async fn a_chat_costs_exactly_what_the_endpoint_charges() {
    let app = TestApp::start().await;
    queue_hello(&app);
    let client = app.inference().await;
    let result = call(&client, "chat", ask()).await;
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(text(&result), "Hello!");
    assert_eq!(app.verify_spent().await.nanos(), 100 * INPUT + 10 * OUTPUT);
    assert_eq!(result["_meta"]["tollgate/cost"]["usd"], 0.000184);
    assert_eq!(result["_meta"]["tollgate/balance"], "9.999816");
    let usage = app.admin().get("/billing/usage").await.ok_json();
    assert!(usage["data"][0]["sku"].as_str().unwrap().starts_with("kimi-k3-llm-"), "{usage}");
}

#[tokio::test]
async fn pictures_and_sound_are_contents_of_their_own_kind() {
    let app = TestApp::start().await;
    let client = app.admin();
    app.upstream.queue_script(images::made(512, 512));
    let arguments = json!({"model": "z-image-turbo", "prompt": "A cat", "width": 512,
        "height": 512, "format": "png"});
    let result = call(&client, "generate_image", arguments).await;
    let image = &result["content"][0];
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
    let file = STANDARD.decode(image["data"].as_str().unwrap()).unwrap();
    assert_eq!(images::told(&file).1, 512);

    app.upstream.queue_script(speech::mp3());
    let result = call(&client, "speak", json!({"input": "Hello there."})).await;
    let sound = &result["content"][0];
    assert_eq!((&sound["type"], &sound["mimeType"]), (&json!("audio"), &json!("audio/mpeg")));
    assert_eq!(STANDARD.decode(sound["data"].as_str().unwrap()).unwrap().len(), 600);

    app.upstream.queue_script(transcriptions::hello());
    let file = images::base64(transcriptions::TONE);
    let result = call(&client, "transcribe", json!({"file": file, "model": "whisper-1"})).await;
    assert_eq!(text(&result), "Hello there.");
    assert_eq!(result["structuredContent"]["duration"], 1.5);
    assert_eq!(app.verify_spent().await.nanos(), 10_000_000 + 42_000 + 200_000);
}

#[tokio::test]
async fn the_web_the_models_and_the_balance_are_read() {
    let app = TestApp::start().await;
    let client = app.inference().await;
    app.site.put("/page", "text/markdown", "# Own words");
    let result = call(&client, "scrape", json!({"url": "http://site.example.com/page"})).await;
    assert!(text(&result).contains("Own words"), "{result}");
    app.site.put_results(json!([]));
    let result = call(&client, "search", json!({"query": "ferries"})).await;
    assert_eq!(result["structuredContent"], json!({"query": "ferries", "results": []}));
    let result = call(&client, "list_models", json!({"type": "tts"})).await;
    let models = result["structuredContent"]["models"].as_array().unwrap();
    assert!(models.iter().all(|it| it["type"] == "tts" && it["pricing"].is_object()), "{result}");
    let result = call(&client, "balance", json!({})).await;
    assert_eq!(result["structuredContent"]["USD"], 9.98, "{result}");
    let wallet = TestWallet::evm(1);
    app.fund(&wallet, "3").await;
    let result = call(&app.signed_in(&wallet), "balance", json!({})).await;
    assert_eq!(result["structuredContent"]["balanceUsd"], 3.0, "{result}");
}

#[tokio::test]
async fn bad_arguments_are_all_told_at_once_and_cost_nothing() {
    let app = TestApp::start().await;
    let arguments = json!({"messages": [], "temperature": 9, "stream": true});
    let result = call(&app.admin(), "chat", arguments).await;
    assert_eq!(result["isError"], true);
    for part in ["stream", "messages", "model", "temperature"] {
        assert!(text(&result).contains(part), "{part}: {result}");
    }
    let result = call(&app.admin(), "transcribe", json!({"file": "%"})).await;
    assert!(text(&result).contains("base64"), "{result}");
    let result =
        call(&app.admin(), "chat", json!({"model": "no-such", "messages": ask()["messages"]}))
            .await;
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(app.verify_spent().await.nanos(), 0);
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn faults_of_the_protocol_are_json_rpc_errors() {
    let app = TestApp::start().await;
    let client = app.admin();
    let error = async |method: &str, params: Value| {
        request(&client, method, params).await["error"]["code"].clone()
    };
    assert_eq!(error("tools/call", json!({"name": "dance"})).await, -32602);
    assert_eq!(error("tools/call", json!({})).await, -32602);
    assert_eq!(error("tools/call", json!({"name": "chat", "arguments": [1]})).await, -32602);
    assert_eq!(error("tools/list", json!({"cursor": "x"})).await, -32602);
    assert_eq!(error("resources/list", json!({})).await, -32601);
    let typed = client.with("content-type", "application/json");
    let reply = typed.send_raw(Method::POST, PATH, Body::from("{")).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32700)));
    let reply = send(&client, &json!({"jsonrpc": "1.0", "id": 1, "method": "ping"})).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32600)));
    let reply = send(&client.with("accept", "text/event-stream"), &json!({})).await;
    assert_eq!(reply.status, 406);
    let wrong_key = app.anonymous().with_bearer("nobody");
    for path in [PATH, "/mcp", "/v1/mcp"] {
        let reply = send_to(&wrong_key, path, &json!({"jsonrpc": "2.0", "id": 1})).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (401, &json!(-32600)));
    }
}

#[tokio::test]
async fn only_the_version_with_arrays_takes_them() {
    let app = TestApp::start().await;
    let ping = |id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let batch = json!([ping(1), notification, ping(2), {"jsonrpc": "2.0", "id": 3, "method": "x"}]);
    let old = app.anonymous().with("mcp-protocol-version", "2025-03-26");
    let replies = send(&old, &batch).await.ok_json();
    let replies = replies.as_array().unwrap();
    assert_eq!(replies.len(), 3);
    assert_eq!((&replies[1]["id"], &replies[1]["result"]), (&json!(2), &json!({})));
    assert_eq!(replies[2]["error"]["code"], -32601);
    assert_eq!(send(&old, &json!([notification])).await.status, 202);
    let many: Vec<Value> = (0..17).map(ping).collect();
    for (client, body) in [
        (app.anonymous().with("mcp-protocol-version", "2025-06-18"), batch),
        (old.clone(), json!(many)),
        (old, json!([])),
    ] {
        let reply = send(&client, &body).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32600)));
    }
}

#[tokio::test]
async fn pages_of_other_sites_and_other_methods_are_refused() {
    let app = TestApp::start().await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for (name, value, status) in [
        ("host", "evil.example.com", 403),
        ("origin", "http://evil.example.com", 403),
        ("origin", "null", 403),
        ("host", "testhost", 200),
        ("host", "127.0.0.1:8080", 200),
        ("origin", "http://testhost", 200),
        ("origin", "http://localhost:6274", 200),
    ] {
        let reply = send(&app.anonymous().with(name, value), &ping).await;
        assert_eq!(reply.status, status, "{name}: {value}: {}", reply.text());
    }
    for method in [Method::GET, Method::DELETE] {
        let reply = app.anonymous().send_raw(method, PATH, Body::empty()).await;
        assert_eq!((reply.status, reply.header("allow")), (405, "POST"));
    }
}

#[tokio::test]
async fn without_a_credential_a_tool_says_how_to_pay() {
    let app = TestApp::start().await;
    for tool in ["chat", "list_models", "top_up"] {
        let result = call(&app.anonymous(), tool, json!({})).await;
        assert_eq!(result["isError"], true);
        let required = &result["structuredContent"];
        assert_eq!(required["x402Version"], 2, "{result}");
        assert_eq!(required["accepts"][0]["network"], "eip155:8453");
        assert_eq!(required["resource"]["url"], format!("mcp://tool/{tool}"));
        assert_eq!(*required, serde_json::from_str::<Value>(text(&result)).unwrap());
    }
    let empty = app.signed_in(&TestWallet::evm(1));
    let result = call(&empty, "chat", ask()).await;
    assert_eq!(result["structuredContent"]["accepts"][0]["amount"], "5000000", "{result}");
}

#[tokio::test]
async fn a_payment_in_band_credits_the_wallet_and_buys_one_call() {
    let app = TestApp::start().await;
    let (wallet, client) = (TestWallet::evm(1), app.anonymous());
    let paid = payment(&app, &wallet, 1);
    let bad = call_paid(&client, "chat", json!({"model": "kimi-k3"}), paid.clone()).await;
    assert!(text(&bad).contains("messages"), "checked before the payment is taken: {bad}");
    assert!(bad.get("_meta").is_none(), "{bad}");

    queue_hello(&app);
    let result = call_paid(&client, "chat", ask(), paid.clone()).await;
    assert_eq!(text(&result), "Hello!");
    let settlement = &result["_meta"]["x402/payment-response"];
    assert_eq!(
        (&settlement["success"], &settlement["payer"]),
        (&json!(true), &json!(wallet.name()))
    );
    let balance = async || {
        call(&app.signed_in(&wallet), "balance", json!({})).await["structuredContent"]["balanceUsd"]
            .clone()
    };
    assert_eq!(balance().await, 4.999816);

    queue_hello(&app);
    let replayed = call_paid(&client, "chat", ask(), paid.clone()).await;
    assert_eq!(replayed["isError"], true, "{replayed}");
    assert!(text(&replayed).contains("credited before"), "{replayed}");
    assert_eq!(balance().await, 4.999816, "a repeated payment buys nothing");
    let told = call_paid(&client, "top_up", json!({}), paid).await;
    assert_eq!(told["structuredContent"]["amountCredited"], 5.0, "{told}");
}

#[tokio::test]
async fn a_payment_made_elsewhere_buys_no_call_and_a_bad_one_is_asked_for_again() {
    let app = TestApp::start().await;
    let (wallet, client) = (TestWallet::evm(1), app.anonymous());
    let header = wallet.payment_header(5_000_000, 1, app.app.clock.now());
    let topped_up =
        client.with("payment-signature", &header).post("/x402/top-up", &json!({})).await;
    assert_eq!(topped_up.status, 200);
    let result = call_paid(&client, "chat", ask(), payment(&app, &wallet, 1)).await;
    assert!(text(&result).contains("credited before"), "{result}");
    let mut wrong = payment(&app, &wallet, 2);
    wrong["payload"]["authorization"]["value"] = json!("6000000");
    let result = call_paid(&client, "chat", ask(), wrong).await;
    assert_eq!(result["isError"], true);
    assert!(result["structuredContent"]["accepts"].is_array(), "{result}");
    assert_eq!(result["_meta"]["x402/payment-response"]["success"], false);
    assert!(app.upstream.received_bodies().is_empty());
}

#[tokio::test]
async fn ten_calls_with_one_payment_at_once_buy_one_answer() {
    let app = TestApp::start().await;
    let (wallet, client) = (TestWallet::evm(1), app.anonymous());
    let paid = payment(&app, &wallet, 1);
    (0..10).for_each(|_| queue_hello(&app));
    let calls = (0..10).map(|_| call_paid(&client, "chat", ask(), paid.clone()));
    let results = futures_util::future::join_all(calls).await;
    let bought = results.iter().filter(|it| it["isError"] == false).count();
    assert_eq!(bought, 1, "{results:?}");
    assert_eq!(app.upstream.received_bodies().len(), 1);
}
