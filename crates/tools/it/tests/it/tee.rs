//! Tests of models in enclaves: attestations, signatures, and end-to-end encrypted chats.

use expect_test::expect;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestClient;
use testkit::upstream::UpstreamScript;

const NONCE: &str = "abababababababababababababababababababababababababababababababab";
const ADDRESS: &str = "00112233445566778899aabbccddeeff00112233";
pub(crate) const ATTESTATION: &str = "/tee/attestation?model=qwen3:4b&nonce=\
    abababababababababababababababababababababababababababababababab";
const CHAT: &str = "/chat/completions";

/// A service with one model in an enclave.
pub(crate) async fn app() -> TestApp {
    let plain = "capabilities = [\"tools\"]";
    let attested = "capabilities = [\"tools\", \"tee_attestation\", \"e2ee\"]";
    TestApp::with_changed_fixture(|fixture| fixture.replace(plain, attested)).await
}

/// An enclave's attestation, with a quote that binds its key and our nonce.
pub(crate) fn report() -> UpstreamScript {
    let quote = format!("0400{}{ADDRESS}{}{NONCE}", "00".repeat(566), "00".repeat(12));
    UpstreamScript::json(
        200,
        &json!({
            "signing_address": format!("0x{ADDRESS}"), "signing_algo": "ecdsa",
            "signing_public_key": "04ab", "intel_quote": quote, "nvidia_payload": "{}",
            "request_nonce": NONCE, "event_log": [],
        }),
    )
}

pub(crate) fn signature() -> UpstreamScript {
    let body = json!({"text": "a:b", "signature": "0x12", "signing_address": "0x34"});
    UpstreamScript::json(200, &body)
}

fn key(digit: &str) -> String {
    format!("04{}", digit.repeat(128))
}

/// A text of two bytes as an enclave would receive it.
fn sealed() -> String {
    "ab".repeat(95)
}

fn encrypting(client: &TestClient) -> TestClient {
    client
        .with("x-service-tee-client-pub-key", &key("a"))
        .with("x-service-tee-model-pub-key", &key("b"))
        .with("x-service-tee-signing-algo", "ecdsa")
}

fn ask(content: &str) -> Value {
    let messages = json!([{"role": "user", "content": content}]);
    json!({"model": "qwen3:4b", "stream": true, "messages": messages})
}

#[tokio::test]
async fn a_proof_is_fetched_from_the_enclave_and_its_bindings_are_checked() {
    let app = app().await;
    app.upstream.queue_script(report());
    let proof = app.anonymous().get(ATTESTATION).await.ok_json();
    // The stub's quote is not signed.
    assert_eq!(proof["verified"], false);
    let checked = &proof["server_verification"];
    assert_eq!(checked["tdx"]["valid"], false);
    assert!(checked["tdx"]["error"].as_str().unwrap().contains("not checked"), "{checked}");
    assert_eq!(checked["nvidia"]["valid"], false);
    assert_eq!(checked["verificationDurationMs"], 0, "the clock of the tests stands still");
    assert_eq!(checked["signingAddressBinding"]["bound"], true);
    assert_eq!(proof["signing_address"], format!("0x{ADDRESS}"));
    assert_eq!(proof["signing_key"], "04ab");
    assert_eq!(proof["server_verification"]["nonceBinding"]["method"], "raw");
    let asked = app.upstream.heads().remove(0);
    assert!(asked.starts_with("get /v1/attestation/report?model=qwen3%3a4b&nonce=abab"), "{asked}");
}

#[tokio::test]
async fn a_proof_for_another_nonce_is_passed_on_and_called_unverified() {
    let app = app().await;
    app.upstream.queue_script(report());
    let other = ATTESTATION.replace("abab", "cdcd");
    let proof = app.anonymous().get(&other).await.ok_json();
    assert_eq!(proof["verified"], false);
    assert_eq!(proof["server_verification"]["nonceBinding"]["bound"], false);
    assert_eq!(proof["server_verification"]["signingAddressBinding"]["bound"], true);
}

#[tokio::test]
async fn an_enclave_that_does_not_answer_is_a_bad_gateway_and_an_ordinary_model_a_bad_request() {
    let app = app().await;
    app.upstream.queue_script(UpstreamScript::json(500, &json!({"error": {"message": "secret"}})));
    app.anonymous().get(ATTESTATION).await.expect(expect![[r#"502 {"error":"No enclave of this model returned an attestation. Please try again shortly.","code":"TEE_ATTESTATION_FAILED"}"#]]);
    app.anonymous().get(&ATTESTATION.replace("qwen3:4b", "kimi-k3")).await.expect(expect![[r#"400 {"error":"The model kimi-k3 does not run in a trusted execution environment. Models that do have supportsTeeAttestation in GET /models."}"#]]);
    let signature = "/tee/signature?model=qwen3:4b&request_id=x";
    app.upstream
        .queue_script(UpstreamScript::json(404, &json!({"error": {"message": "not found"}})));
    app.anonymous().get(signature).await.expect(expect![[r#"502 {"error":"No enclave of this model returned a signature of that answer. Signatures are kept for a while only; send the `id` of a recent answer.","code":"TEE_SIGNATURE_FAILED"}"#]]);
}

#[tokio::test]
async fn an_answer_can_be_signed_for_by_the_name_that_the_caller_knows() {
    let app = app().await;
    let body = json!({"model": "qwen3:4b", "messages": [{"role": "user", "content": "Hi"}]});
    let answer = app.admin().post(CHAT, &body).await;
    assert_eq!(answer.header("x-service-tee"), "true");
    assert_eq!(answer.header("x-service-tee-provider"), "main");
    app.upstream.queue_script(signature());
    let id = answer.ok_json()["id"].as_str().unwrap().to_owned();
    let path = format!("/tee/signature?model=qwen3:4b&request_id={id}");
    let signed = app.anonymous().get(&path).await.ok_json();
    assert_eq!(signed["requested_request_id"], id);
    assert_eq!(signed["receipt"]["upstream_request_id"], "up-1");
    let asked = app.upstream.heads().remove(1);
    assert!(asked.starts_with("get /v1/signature/up%2d1?model=qwen3%3a4b"), "{asked}");
}

#[tokio::test]
async fn ciphertext_passes_both_ways_untouched_with_the_keys_it_is_for() {
    let app = app().await;
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9});
    app.upstream.queue_script(UpstreamScript::word_stream(&[&sealed(), &sealed()], Some(usage)));
    let mut reply = encrypting(&app.admin()).open(CHAT, &ask(&sealed())).await;
    assert_eq!(reply.status, 200);
    let events = reply.remaining_events().await.join("\n");
    assert_eq!(events.matches(&sealed()).count(), 2, "{events}");
    // The operator's system prompt would be read as ciphertext, so it is not added.
    let messages = app.upstream.received_bodies()[0]["messages"].clone();
    assert_eq!(messages, json!([{"role": "user", "content": sealed()}]));
    let head = app.upstream.heads().remove(0);
    for header in [
        format!("x-client-pub-key: {}", key("a")),
        format!("x-model-pub-key: {}", key("b")),
        "x-signing-algo: ecdsa".to_owned(),
    ] {
        assert!(head.contains(&header), "{head}");
    }
    app.verify_spent().await;
}

#[tokio::test]
async fn ciphertext_without_a_usage_is_billed_by_its_length() {
    let app = app().await;
    // Two texts of two bytes: one token each.
    app.upstream.queue_script(UpstreamScript::word_stream(&[&sealed(), &sealed()], None));
    let mut asked = ask(&sealed());
    asked["stream_options"] = json!({"include_usage": true});
    let events = encrypting(&app.admin()).open(CHAT, &asked).await.remaining_events().await;
    let last: Value = serde_json::from_str(&events[events.len() - 2]).unwrap();
    assert_eq!(last["usage"]["completion_tokens"], 2);
    assert_eq!(last["usage"]["prompt_tokens"], 5);
    app.verify_spent().await;
}

#[tokio::test]
async fn what_needs_plain_text_is_refused_beside_ciphertext() {
    let app = app().await;
    let mut body = ask("plain words");
    body["stream"] = json!(false);
    body["fallbacks"] = json!([{"model": "kimi-k3"}]);
    body["tools"] = json!([{"type": "function", "function": {"name": "f"}}]);
    encrypting(&app.admin()).post(CHAT, &body).await.expect(expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"stream":{"_errors":["E2EE requires streaming"]},"tools":{"_errors":["Tools cannot be used with E2EE"]},"fallbacks":{"_errors":["Fallbacks cannot be used with E2EE"]},"messages":{"_errors":[],"0":{"_errors":[],"content":{"_errors":["Encrypted field is not valid hex"]}}}},"issues":[{"code":"custom","path":["stream"],"message":"E2EE requires streaming"},{"code":"custom","path":["tools"],"message":"Tools cannot be used with E2EE"},{"code":"custom","path":["fallbacks"],"message":"Fallbacks cannot be used with E2EE"},{"code":"custom","path":["messages",0,"content"],"message":"Encrypted field is not valid hex"}]}"#]]);
    let mut other = ask(&sealed());
    other["model"] = json!("kimi-k3");
    encrypting(&app.admin()).post(CHAT, &other).await.expect(expect![[r#"400 {"error":"Invalid request parameters","details":{"_errors":[],"service_parameters":{"_errors":[],"enable_e2ee":{"_errors":["End-to-end encryption is not supported by this model; send `false`"]}}},"issues":[{"code":"custom","path":["service_parameters","enable_e2ee"],"message":"End-to-end encryption is not supported by this model; send `false`"}]}"#]]);
    app.admin()
        .with("x-service-tee-client-pub-key", "04")
        .post(CHAT, &ask(&sealed()))
        .await
        .expect(expect![[r#"400 {"error":{"message":"Invalid E2EE headers: X-Service-TEE-Signing-Algo must be ecdsa","type":"invalid_request_error"}}"#]]);
    encrypting(&app.admin())
        .with("x-service-tee-model-pub-key", "04zz")
        .post(CHAT, &ask(&sealed()))
        .await
        .expect(expect![[r#"400 {"error":{"message":"Invalid E2EE headers: X-Service-TEE-Model-Pub-Key: Invalid public key; send 130 hexadecimal digits that begin with 04","type":"invalid_request_error"}}"#]]);
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn a_caller_may_decline_encryption_for_a_plain_chat_in_the_enclave() {
    let app = app().await;
    let mut body = ask("plain words");
    body["service_parameters"] = json!({"enable_e2ee": false});
    let mut reply = encrypting(&app.admin()).open(CHAT, &body).await;
    assert_eq!(reply.status, 200);
    reply.remaining_events().await;
    assert!(!app.upstream.heads()[0].contains("x-client-pub-key"));
    app.verify_spent().await;
}

#[tokio::test]
async fn whoever_asks_for_encryption_is_not_served_in_plain_text() {
    let app = app().await;
    let mut body = ask("plain words");
    body["service_parameters"] = json!({"enable_e2ee": true});
    let reply = app.admin().post(CHAT, &body).await;
    assert_eq!(reply.status, 400);
    let message = "Encryption needs the headers X-Service-TEE-Client-Pub-Key, \
                   X-Service-TEE-Model-Pub-Key and X-Service-TEE-Signing-Algo; send them, or `false`";
    let details = &reply.json()["details"]["service_parameters"]["enable_e2ee"]["_errors"];
    assert_eq!(details[0], message);
    assert!(app.upstream.received_bodies().is_empty());
}
