//! A scripted MCP server on the loopback, of either generation of the protocol, and with faults.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use config::read::ServiceConfig;
use config::sections::mcp::McpServerConfig;
use domain::web_address::AddressScope;
use futures_util::stream;
use http_frame::mcp_access::{CallerServers, McpAccess, McpBounds, McpServer};
use mcp_client::OperatorConnector;
use outbound::{ConnectSettings, ConnectVia, OutboundClient};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use web::WebFetcher;

use crate::names::TestNames;

const SESSION: &str = "mcp-session-id";

/// The generation of the protocol that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StubGeneration {
    /// With `initialize` and a session.
    Handshake,
    /// Requests stand alone.
    Stateless,
}

/// The way in which a server answers a call of a tool.
#[derive(Debug, Clone)]
pub enum StubCall {
    /// A result with this text.
    Text(String),
    /// A result that says that the tool failed.
    ToolError(String),
    /// The same text as an event stream, which stays open after the answer.
    OpenStream(String),
    /// Any response.
    Raw {
        status: u16,
        content_type: &'static str,
        body: String,
    },
    Redirect(String),
    /// Events without the answer, without end.
    EndlessEvents,
    /// A head, and no body.
    Silence,
}

/// A running server, which stops on drop. Calls are answered in the order of the script; when it is
/// used up, with the text `done`.
pub struct StubMcpServer {
    address: SocketAddr,
    state: Arc<McpState>,
    _serving: AbortOnDropHandle<()>,
}

struct McpState {
    generation: StubGeneration,
    tools: Mutex<Value>,
    calls: Mutex<Vec<StubCall>>,
    seen: Mutex<Vec<SeenMcpRequest>>,
    /// One permit for each call that has arrived.
    arrivals: Semaphore,
    /// Set if calls wait for a permit.
    pace: Mutex<Option<Arc<Semaphore>>>,
}

/// A request that a server got.
#[derive(Debug, Clone)]
pub struct SeenMcpRequest {
    pub headers: HeaderMap,
    pub body: Value,
}

impl StubMcpServer {
    /// A server with the tools `weather`, which changes nothing, and `order`.
    pub async fn start(generation: StubGeneration) -> StubMcpServer {
        let state = Arc::new(McpState {
            generation,
            tools: Mutex::new(json!([build_tool("weather", true), build_tool("order", false)])),
            calls: Mutex::default(),
            seen: Mutex::default(),
            arrivals: Semaphore::new(0),
            pace: Mutex::default(),
        });
        let router = axum::Router::new().fallback(serve_request).with_state(Arc::clone(&state));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = TaskTracker::new().spawn(async move {
            axum::serve(listener, router).await.unwrap();
        });
        StubMcpServer { address, state, _serving: AbortOnDropHandle::new(serving) }
    }

    /// The URL for the operator's configuration.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// A URL with a public name, for callers.
    pub fn public_url() -> String {
        "http://mcp.example.com/mcp".to_owned()
    }

    pub fn set_tools(&self, tools: Value) {
        *self.state.tools.lock().unwrap() = tools;
    }

    /// Adds the answer to a call.
    pub fn queue_call(&self, call: StubCall) {
        self.state.calls.lock().unwrap().push(call);
    }

    /// Makes each call wait for a permit.
    pub fn set_pace(&self, pace: &Arc<Semaphore>) {
        *self.state.pace.lock().unwrap() = Some(Arc::clone(pace));
    }

    pub async fn wait_for_call(&self) {
        self.state.arrivals.acquire().await.unwrap().forget();
    }

    pub fn seen(&self) -> Vec<SeenMcpRequest> {
        self.state.seen.lock().unwrap().clone()
    }

    /// The methods of all requests so far.
    pub fn methods(&self) -> Vec<String> {
        let text = |seen: SeenMcpRequest| seen.body["method"].as_str().unwrap().to_owned();
        self.seen().into_iter().map(text).collect()
    }

    /// The arguments of all calls so far.
    pub fn arguments(&self) -> Vec<Value> {
        let calls = self.seen().into_iter().filter(|seen| seen.body["method"] == "tools/call");
        calls.map(|seen| seen.body["params"]["arguments"].clone()).collect()
    }
}

/// A tool with one argument `city`.
pub fn build_tool(name: &str, is_read_only: bool) -> Value {
    json!({
        "name": name,
        "description": format!("The {name} of a city."),
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}},
            "required": ["city"]},
        "annotations": {"readOnlyHint": is_read_only},
    })
}

async fn serve_request(
    State(state): State<Arc<McpState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let seen = SeenMcpRequest { headers: headers.clone(), body: request.clone() };
    state.seen.lock().unwrap().push(seen);
    let method = request["method"].as_str().unwrap().to_owned();
    let is_known = match state.generation {
        StubGeneration::Stateless => headers.get("mcp-method").is_some_and(|it| *it == method),
        StubGeneration::Handshake => {
            method == "initialize" || headers.get(SESSION).is_some_and(|it| it == "session-1")
        }
    };
    if !is_known {
        let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000,
            "message": "Bad Request: no valid session"}});
        return (StatusCode::BAD_REQUEST, axum::Json(error)).into_response();
    }
    let id = request["id"].clone();
    match method.as_str() {
        "server/discover" => answer(
            &id,
            &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}}}),
        ),
        "initialize" => {
            let result = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "stub", "version": "1"}});
            let mut response = answer(&id, &result);
            response.headers_mut().insert(SESSION, HeaderValue::from_static("session-1"));
            response
        }
        "notifications/initialized" => StatusCode::ACCEPTED.into_response(),
        "tools/list" => {
            let tools = state.tools.lock().unwrap().clone();
            if let Some(raw) = tools.as_str() {
                return ([(header::CONTENT_TYPE, "application/json")], raw.to_owned())
                    .into_response();
            }
            answer(&id, &json!({"tools": tools}))
        }
        "tools/call" => {
            state.arrivals.add_permits(1);
            let pace = state.pace.lock().unwrap().clone();
            if let Some(pace) = pace {
                pace.acquire().await.unwrap().forget();
            }
            let mut calls = state.calls.lock().unwrap();
            let call =
                if calls.is_empty() { StubCall::Text("done".to_owned()) } else { calls.remove(0) };
            drop(calls);
            answer_call(&id, call)
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn answer(id: &Value, result: &Value) -> Response {
    axum::Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
}

fn answer_call(id: &Value, call: StubCall) -> Response {
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    match call {
        StubCall::Text(told) => answer(id, &text(&told)),
        StubCall::ToolError(told) => {
            let mut result = text(&told);
            result["isError"] = json!(true);
            answer(id, &result)
        }
        StubCall::OpenStream(told) => {
            let message = json!({"jsonrpc": "2.0", "id": id, "result": text(&told)});
            let events = format!(
                "id: 1\ndata:\n\ndata: {{\"jsonrpc\": \"2.0\", \"method\": \
                \"notifications/message\"}}\n\ndata: {message}\n\n"
            );
            stream_events(vec![events], false)
        }
        StubCall::Raw { status, content_type, body } => {
            let status = StatusCode::from_u16(status).unwrap();
            let body = body.replace("ID", &id.to_string());
            (status, [(header::CONTENT_TYPE, content_type)], body).into_response()
        }
        StubCall::Redirect(location) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, location)]).into_response()
        }
        StubCall::EndlessEvents => {
            let noise = "data: {\"jsonrpc\": \"2.0\", \"method\": \"notifications/message\"}\n\n";
            stream_events(vec![noise.repeat(20_000)], true)
        }
        StubCall::Silence => stream_events(Vec::new(), false),
    }
}

/// Events of a stream that never ends: repeated, or followed by silence.
fn stream_events(pieces: Vec<String>, repeats: bool) -> Response {
    let mut left = pieces.clone();
    let body = stream::poll_fn(move |_| {
        if left.is_empty() && repeats {
            left.clone_from(&pieces);
        }
        match left.pop() {
            Some(piece) => std::task::Poll::Ready(Some(Ok::<String, std::io::Error>(piece))),
            None => std::task::Poll::Pending,
        }
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}

/// Servers as the configuration says. Every public address leads to the first of them.
pub(crate) fn build_access(config: &ServiceConfig) -> Arc<McpAccess> {
    let settings = ConnectSettings {
        way: ConnectVia::Straight,
        connect_timeout: Duration::from_secs(5),
        idle_max: Duration::from_secs(60),
    };
    let client = OutboundClient::new(settings).unwrap();
    let connect = |server: &McpServerConfig| McpServer {
        label: server.label.clone(),
        description: server.description.clone(),
        allowed_tools: server.allowed_tools.clone(),
        price: server.price(),
        url: server.url.clone(),
        connector: Arc::new(
            OperatorConnector::new(
                client.clone(),
                &server.url,
                server.authorization.as_ref().map(|secret| secret.expose()),
            )
            .unwrap(),
        ),
    };
    let callers = config.mcp.allow_caller_servers.then(|| {
        let tls = web::system_tls_config().unwrap();
        let agent = HeaderValue::from_static("tests");
        let fetcher = WebFetcher::new(Arc::new(TestNames), AddressScope::Public, tls, agent);
        let first = config.mcp_servers.first().unwrap();
        let url = url::Url::parse(&first.url).unwrap();
        let server = SocketAddr::from(([127, 0, 0, 1], url.port().unwrap()));
        let fetcher = fetcher.with_address_override(Arc::new(move |_| server));
        let requires_https = !config.scrape.allow_private_addresses;
        CallerServers { fetcher: Arc::new(fetcher), requires_https }
    });
    Arc::new(McpAccess {
        servers: config.mcp_servers.iter().map(connect).collect(),
        callers,
        bounds: McpBounds {
            call_time_max: config.mcp.call_timeout,
            list_time_max: config.mcp.list_timeout,
            calls_max: config.mcp.max_calls,
        },
    })
}
