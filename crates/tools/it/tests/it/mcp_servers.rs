//! Tests of the lists of the operator's MCP servers and of their tools.

use axum::http::StatusCode;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::mcp_server::{StubGeneration, StubMcpServer};

use crate::responses_mcp::{start, start_with};

#[tokio::test]
async fn a_caller_lists_the_servers_with_their_prices_and_without_their_secrets() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let keys = "price_per_call_usd = \"0.002\"\ndescription = \"Weather of cities\"\n\
                allowed_tools = [\"weather\"]\nauthorization = \"operators-token\"";
    let app = start_with(&server, keys, "").await;
    let list = app.admin().get("/mcp_servers").await.ok_json();
    let expected = json!({
        "object": "list",
        "data": [{
            "label": "weather",
            "description": "Weather of cities",
            "allowed_tools": ["weather"],
            "price_per_call": {"usd": 0.002, "diem": 0.002},
        }],
        "allows_caller_servers": false,
    });
    assert_eq!(list, expected);
    assert_eq!(server.seen().len(), 0, "a list must not ask the server");
    assert_eq!(app.anonymous().get("/mcp_servers").await.status, StatusCode::PAYMENT_REQUIRED);
}

#[tokio::test]
async fn a_service_without_servers_has_an_empty_list() {
    let app = TestApp::start().await;
    let list = app.admin().get("/mcp_servers").await.ok_json();
    assert_eq!(list["data"], json!([]));
}

#[tokio::test]
async fn the_tools_of_a_server_are_those_that_the_operator_allows() {
    for generation in [StubGeneration::Handshake, StubGeneration::Stateless] {
        let server = StubMcpServer::start(generation).await;
        let names = async |keys: &str| {
            let app = start_with(&server, keys, "").await;
            let tools = app.admin().get("/mcp_servers/weather/tools").await.ok_json();
            let tools = tools["data"].as_array().unwrap().clone();
            assert!(tools.iter().all(|tool| tool["input_schema"]["type"] == "object"));
            tools.iter().map(|tool| tool["name"].clone()).collect::<Vec<Value>>()
        };
        assert_eq!(names("free = true").await, ["weather", "order"]);
        assert_eq!(names("free = true\nallowed_tools = [\"order\"]").await, ["order"]);
    }
}

#[tokio::test]
async fn an_unknown_server_is_404_and_a_broken_one_502() {
    let server = StubMcpServer::start(StubGeneration::Stateless).await;
    let app = start(&server).await;
    let reply = app.admin().get("/mcp_servers/other/tools").await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND, "{}", reply.text());
    let url = server.url();
    drop(server);
    let reply = app.admin().get("/mcp_servers/weather/tools").await;
    assert_eq!(reply.status, StatusCode::BAD_GATEWAY, "{}", reply.text());
    assert!(!reply.text().contains(&url) && !reply.text().contains("operators-token"));
    assert_eq!(app.verify_spent().await.nanos(), 0);
}
