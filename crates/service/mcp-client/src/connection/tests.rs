//! Tests of connections with scripted servers, without a network.

use std::collections::VecDeque;
use std::sync::Mutex;

use futures_util::future::BoxFuture;

use super::*;

/// Answers requests in order, and records them.
#[derive(Default)]
struct ScriptedConnector {
    replies: Mutex<VecDeque<(u16, &'static str, Vec<String>)>>,
    seen: Mutex<Vec<(HeaderMap, Value)>>,
}

struct Pieces(VecDeque<String>);

impl McpBody for Pieces {
    fn next_piece(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, McpFault>> {
        let piece = self.0.pop_front().map(Bytes::from);
        Box::pin(async move { Ok(piece) })
    }
}

impl McpConnector for ScriptedConnector {
    fn send_post(&self, post: McpPost) -> BoxFuture<'_, Result<McpReply, McpFault>> {
        let body = serde_json::from_slice(&post.body).unwrap();
        self.seen.lock().unwrap().push((post.headers, body));
        let (status, media_type, pieces) = self.replies.lock().unwrap().pop_front().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(SESSION_HEADER, HeaderValue::from_static("s1"));
        let body = Box::new(Pieces(pieces.into()));
        Box::pin(async move { Ok(McpReply { status, headers, body }) })
    }
}

impl ScriptedConnector {
    fn queue(&self, status: u16, media_type: &'static str, pieces: &[&str]) {
        let pieces = pieces.iter().map(|piece| (*piece).to_owned()).collect();
        self.replies.lock().unwrap().push_back((status, media_type, pieces));
    }

    fn queue_json(&self, message: &Value) {
        self.queue(200, "application/json; charset=utf-8", &[&message.to_string()]);
    }

    fn queue_discovery(&self) {
        self.queue_json(&json!({"id": 1, "result": {"supportedVersions": ["2026-07-28"]}}));
    }
}

async fn open(server: &Arc<ScriptedConnector>) -> Result<McpConnection, McpFault> {
    McpConnection::open(Arc::clone(server) as Arc<dyn McpConnector>).await
}

fn weather() -> McpTool {
    McpTool::from_json(json!({"name": "weather", "inputSchema": {}})).unwrap()
}

#[tokio::test]
async fn a_server_of_the_newer_generation_gets_no_handshake() {
    let server = Arc::<ScriptedConnector>::default();
    server.queue_discovery();
    let mut connection = open(&server).await.unwrap();
    let tools = json!([{"name": "weather", "inputSchema": {"type": "object"}}]);
    server.queue_json(&json!({"id": 2, "result": {"tools": tools, "nextCursor": "b"}}));
    server.queue_json(&json!({"id": 3, "result": {"tools": []}}));
    let listed = connection.list_tools(&McpToolFilter::default()).await.unwrap();
    assert_eq!(listed.len(), 1);
    let seen = server.seen.lock().unwrap();
    let methods: Vec<&Value> = seen.iter().map(|it| &it.1["method"]).collect();
    assert_eq!(methods, ["server/discover", "tools/list", "tools/list"]);
    assert_eq!(seen[2].1["params"]["cursor"], "b");
    assert!(seen.iter().all(|it| !it.0.contains_key(SESSION_HEADER)));
}

#[tokio::test]
async fn a_server_of_the_older_generation_gets_a_handshake_and_its_session() {
    for (status, body) in [
        (400, "{\"error\": {\"message\": \"no session\"}}"),
        (404, "not found"),
        (200, "{\"id\": 1, \"error\": {\"code\": -32601, \"message\": \"no method\"}}"),
        (200, "{\"id\": 1, \"result\": {\"supportedVersions\": [\"2027-01-01\"]}}"),
    ] {
        let server = Arc::<ScriptedConnector>::default();
        server.queue(status, "application/json", &[body]);
        server.queue_json(&json!({"id": 2, "result": {"protocolVersion": "2025-06-18"}}));
        server.queue(202, "text/plain", &[]);
        let mut connection = open(&server).await.unwrap();
        let result = json!({"content": [{"type": "text", "text": "12 °C"}]});
        server.queue_json(&json!({"id": 3, "result": result}));
        let outcome = connection.call_tool(&weather(), "{\"city\": \"Oslo\"}").await.unwrap();
        assert_eq!(outcome.text, "12 °C");
        let seen = server.seen.lock().unwrap();
        let methods: Vec<&Value> = seen.iter().map(|it| &it.1["method"]).collect();
        let expected = ["server/discover", "initialize", "notifications/initialized", "tools/call"];
        assert_eq!(methods, expected);
        assert!(!seen[1].0.contains_key(SESSION_HEADER));
        assert_eq!(seen[3].0[SESSION_HEADER], "s1");
        assert_eq!(seen[3].0["mcp-protocol-version"], "2025-06-18");
        assert_eq!(seen[3].1["params"]["arguments"], json!({"city": "Oslo"}));
        assert!(seen[3].1["params"].get("_meta").is_none());
    }
}

#[tokio::test]
async fn the_answer_of_a_stream_is_found_among_its_events_in_any_pieces() {
    let server = Arc::<ScriptedConnector>::default();
    server.queue_discovery();
    let mut connection = open(&server).await.unwrap();
    let pieces = [
        "id: 0\ndata:\n\n: ping\n\ndata: {\"method\": \"notifications/progress\"}\n\nda",
        "ta: {\"id\": 9, \"result\": {}}\n\ndata: {\"id\": 2, \"result\": {\"content\":",
        " [{\"type\": \"text\", \"text\": \"a\"}]}}\n\n",
        "this would never end",
    ];
    server.queue(200, "text/event-stream", &pieces);
    let outcome = connection.call_tool(&weather(), "").await.unwrap();
    assert_eq!(outcome, McpCallOutcome { text: "a".to_owned(), is_error: false });
    server.queue(200, "text/event-stream", &["data: {\"id\": 99, \"result\": {}}\n\n"]);
    assert_eq!(connection.call_tool(&weather(), "").await, Err(McpFault::NoAnswer));
}

#[tokio::test]
async fn what_breaks_the_protocol_or_its_bounds_is_a_fault_of_its_own() {
    let large = format!("{{\"id\": 2, \"result\": \"{}\"}}", "x".repeat(REPLY_BYTES_MAX));
    let (id, rpc) = ("{\"id\": 7, \"result\": {}}", "{\"id\": 2, \"error\": {\"code\": 5}}");
    let deep = format!("{{\"id\": 2, \"result\": {}", "[".repeat(70));
    let json = "application/json";
    let message = String::new();
    let cases: Vec<(u16, &'static str, &str, McpFault)> = vec![
        (302, json, "", McpFault::Redirected),
        (401, json, "", McpFault::Unauthorized(401)),
        (403, json, "", McpFault::Unauthorized(403)),
        (500, json, "secret", McpFault::Status { status: 500, detail: None }),
        (200, "text/html", "<html>", McpFault::MediaType),
        (200, json, "<html>", McpFault::NotJson),
        (200, json, "", McpFault::NotJson),
        (200, json, id, McpFault::WrongId),
        (200, json, rpc, McpFault::Rpc { code: 5, message }),
        (200, json, &deep, McpFault::TooDeep),
        (200, json, &large, McpFault::TooLarge(REPLY_BYTES_MAX)),
        (200, json, "{\"id\": 2, \"result\": {}}", McpFault::Malformed("tools/call")),
    ];
    for (status, media_type, body, expected) in cases {
        let server = Arc::<ScriptedConnector>::default();
        server.queue_discovery();
        let mut connection = open(&server).await.unwrap();
        server.queue(status, media_type, &[body]);
        assert_eq!(connection.call_tool(&weather(), "{}").await, Err(expected));
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_reach_no_server() {
    let server = Arc::<ScriptedConnector>::default();
    server.queue_discovery();
    let mut connection = open(&server).await.unwrap();
    for arguments in ["[]", "{", "null", "text"] {
        let outcome = connection.call_tool(&weather(), arguments).await;
        assert_eq!(outcome, Err(McpFault::InvalidArguments), "{arguments}");
    }
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(ARGUMENT_BYTES_MAX));
    let outcome = connection.call_tool(&weather(), &large).await;
    assert_eq!(outcome, Err(McpFault::LargeArguments));
    assert_eq!(server.seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn pages_without_end_and_servers_that_refuse_us_are_left() {
    let server = Arc::<ScriptedConnector>::default();
    server.queue_discovery();
    let mut connection = open(&server).await.unwrap();
    for number in 2..100 {
        server.queue_json(&json!({"id": number, "result": {"tools": [], "nextCursor": "a"}}));
    }
    let listed = connection.list_tools(&McpToolFilter::default()).await;
    assert_eq!(listed, Err(McpFault::TooManyTools));
    assert_eq!(server.seen.lock().unwrap().len(), 1 + LIST_PAGES_MAX);

    let server = Arc::<ScriptedConnector>::default();
    server.queue(401, "application/json", &[""]);
    assert_eq!(open(&server).await.err(), Some(McpFault::Unauthorized(401)));
    let server = Arc::<ScriptedConnector>::default();
    server.queue(404, "application/json", &[""]);
    server.queue_json(&json!({"id": 2, "result": {"protocolVersion": "1999-01-01"}}));
    assert_eq!(open(&server).await.err(), Some(McpFault::Version));
}
