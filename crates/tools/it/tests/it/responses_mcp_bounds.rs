//! Tests of tools of MCP servers: bad requests, callers' own servers, and what ends a response.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::mcp_server::{StubCall, StubGeneration, StubMcpServer};
use testkit::upstream::UpstreamScript;
use tokio::sync::Semaphore;

use crate::responses_mcp::{
    CALL, PATH, TURN, ask, body, calls, fault, items, start, start_with, words,
};

#[tokio::test]
async fn what_is_wrong_in_a_request_is_refused_before_a_server_is_asked() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start(&server).await;
    let client = app.admin();
    let with = |fields: Value| {
        let mut tool = json!({"type": "mcp", "server_label": "weather"});
        for (name, value) in fields.as_object().unwrap() {
            tool[name] = value.clone();
        }
        body(tool)
    };
    for (fields, words_of_fault) in [
        (json!({"server_label": "other"}), "has no MCP server of this name; it has: weather"),
        (json!({"server_label": null}), "Required"),
        (json!({"server_url": "https://mcp.example.com"}), "only MCP servers of its operator"),
        (json!({"authorization": "t0p-secret"}), "has its own authorization"),
        (json!({"headers": {"a": "t0p-secret"}}), "has its own authorization"),
        (json!({"connector_id": "connector_gmail"}), "no connectors"),
        (json!({"defer_loading": true}), "from the start"),
        (json!({"require_approval": "sometimes"}), "require_approval"),
    ] {
        let reply = client.post(PATH, &with(fields)).await;
        fault(&reply, words_of_fault);
        assert!(!reply.text().contains("t0p-secret"), "{}", reply.text());
    }
    let mut twice = ask();
    let again = twice["tools"][0].clone();
    twice["tools"].as_array_mut().unwrap().push(again);
    fault(&client.post(PATH, &twice).await, "Another server has this label");
    let mut stray = ask();
    stray["input"] = json!([{"role": "user", "content": "a"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true}]);
    fault(&client.post(PATH, &stray).await, "no mcp_approval_request");
    assert!(server.seen().is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

/// A service whose callers may name servers of their own.
async fn start_for_callers(server: &StubMcpServer, scrape: &str) -> TestApp {
    let mcp = "allow_caller_servers = true";
    let keys = format!("free = true\n{scrape}");
    start_with(server, &keys, mcp).await
}

fn own(server_url: &str) -> Value {
    body(json!({"type": "mcp", "server_label": "mine", "server_url": server_url,
        "authorization": "callers-token", "headers": {"x-tenant": "t1"},
        "require_approval": "never"}))
}

#[tokio::test]
async fn a_server_of_the_caller_gets_the_callers_headers_and_costs_nothing() {
    let server = StubMcpServer::start(StubGeneration::Handshake).await;
    let app = start_for_callers(&server, "[scrape]\nallow_private_addresses = true").await;
    app.upstream.queue_script(calls(&[("mine__weather", "{}")]));
    app.upstream.queue_script(words("Fine."));
    let reply = app.admin().post(PATH, &own(&StubMcpServer::public_url())).await;
    let response = reply.ok_json();
    assert_eq!(items(&response, "mcp_call")[0]["output"], "done", "{response}");
    for seen in server.seen() {
        assert_eq!(seen.headers["authorization"], "Bearer callers-token");
        assert_eq!(seen.headers["x-tenant"], "t1");
    }
    for secret in ["callers-token", "t1\"", "mcp.example.com"] {
        assert!(!reply.text().contains(secret), "{secret}: {}", reply.text());
    }
    assert!(!app.upstream.heads().join("").contains("callers-token"));
    assert!(!json!(app.upstream.received_bodies()).to_string().contains("callers-token"));
    assert_eq!(app.verify_spent().await.nanos(), 2 * TURN);
}

#[tokio::test]
async fn addresses_inside_the_network_and_redirects_are_refused() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start_for_callers(&server, "[scrape]\nallow_private_addresses = true").await;
    for url in ["http://127.0.0.1/mcp", "http://localhost/", "ftp://a.example.com", "not a url"] {
        let reply = app.admin().post(PATH, &own(url)).await;
        assert_eq!(reply.status, 400, "{url}: {}", reply.text());
    }
    // A name is resolved when it is used, so its fault is one of the server.
    for url in ["http://inward.example.com/mcp", "http://unknown.example.com/mcp"] {
        app.upstream.queue_script(words("No tools."));
        let response = app.admin().post(PATH, &own(url)).await.ok_json();
        let list = items(&response, "mcp_list_tools")[0];
        assert!(list["error"].as_str().unwrap().contains("not usable"), "{url}: {list}");
    }
    server.queue_call(StubCall::Redirect("http://127.0.0.1/".to_owned()));
    app.upstream.queue_script(calls(&[("mine__weather", "{}")]));
    app.upstream.queue_script(words("Fine."));
    let response = app.admin().post(PATH, &own(&StubMcpServer::public_url())).await.ok_json();
    let error = items(&response, "mcp_call")[0]["error"].as_str().unwrap();
    assert!(error.contains("redirects"), "{error}");
}

#[tokio::test]
async fn callers_servers_need_https() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start_for_callers(&server, "").await;
    fault(
        &app.admin().post(PATH, &own(&StubMcpServer::public_url())).await,
        "Must be an https URL",
    );
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_balance_that_cannot_pay_a_call_ends_the_response_and_what_was_done_is_charged() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start(&server).await;
    let (owner, client) = app.funded_account("small", "0.002").await;
    app.upstream.queue_script(calls(&[("weather__weather", "{}")]));
    let response = client.post(PATH, &ask()).await.ok_json();
    assert_eq!(response["status"], "failed");
    assert_eq!(response["error"]["code"], "insufficient_quota");
    assert_eq!(items(&response, "mcp_call")[0]["status"], "failed");
    assert!(server.arguments().is_empty());
    app.settle_tasks().await;
    assert_eq!(app.app.ledger.balances(owner).usd.nanos(), 2_000_000 - TURN);
}

#[tokio::test]
async fn a_caller_that_disconnects_ends_the_response_after_the_call_and_pays_for_it() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start_with(&server, "price_per_call_usd = \"0.002\"", "").await;
    let pace = Arc::new(Semaphore::new(0));
    server.set_pace(&pace);
    app.upstream.queue_script(calls(&[("weather__weather", "{}")]));
    let mut asked = ask();
    asked["stream"] = json!(true);
    let stream = app.admin().open(PATH, &asked).await;
    server.wait_for_call().await;
    drop(stream);
    pace.add_permits(1);
    assert_eq!(app.verify_spent().await.nanos(), TURN + CALL);
    assert_eq!(app.upstream.received_bodies().len(), 1);
}

#[tokio::test]
async fn a_model_that_fails_in_a_later_turn_leaves_what_was_done_to_be_paid() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start(&server).await;
    app.upstream.queue_script(calls(&[("weather__weather", "{}")]));
    app.upstream.queue_script(UpstreamScript::json(400, &json!({"error": {"message": "bad"}})));
    let response = app.admin().post(PATH, &ask()).await.ok_json();
    assert_eq!(response["status"], "failed", "{response}");
    assert_eq!(items(&response, "mcp_call")[0]["output"], "done");
    assert_eq!(app.verify_spent().await.nanos(), TURN + CALL);
    app.upstream.queue_script(UpstreamScript::json(400, &json!({"error": {"message": "bad"}})));
    let refused = app.admin().post(PATH, &ask()).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
}

#[tokio::test]
async fn the_bound_on_tokens_is_for_all_turns_together() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start(&server).await;
    let mut asked = ask();
    asked["max_output_tokens"] = json!(30);
    app.upstream.queue_script(calls(&[("weather__weather", "{}")]));
    app.upstream.queue_script(words("Fine."));
    app.admin().post(PATH, &asked).await.ok_json();
    let sent = app.upstream.received_bodies();
    assert_eq!((&sent[0]["max_tokens"], &sent[1]["max_tokens"]), (&json!(30), &json!(20)));
}
