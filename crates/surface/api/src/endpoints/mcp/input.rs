//! The input of the MCP endpoint: the headers of the protocol, and one message or several.

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use http_frame::inner_call::OuterRequest;
use http_frame::input::{BodyLimits, HandlerInput, InputRejection, JsonBody};
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use schemars::SchemaGenerator;
use serde_json::{Value, json};
use wire::mcp::McpBody;

use super::protocol::ProtocolHeaders;

/// A body that is JSON, and what it came with. Messages are checked one by one in the handler,
/// because each has an answer of its own.
#[derive(Debug)]
pub(super) struct McpInput {
    pub(super) outer: OuterRequest,
    pub(super) headers: ProtocolHeaders,
    pub(super) body: Value,
}

impl HandlerInput for McpInput {
    type Raw = McpInput;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<McpInput, Refusal> {
        let body = JsonBody::<McpBody>::read(parts, body, limits).await?;
        let value = |name| read_header(&parts.headers, name);
        let headers = ProtocolHeaders {
            accepts_json: accepts_json(&parts.headers),
            version: value("mcp-protocol-version"),
            method: value("mcp-method"),
            name: value("mcp-name"),
        };
        Ok(McpInput { outer: OuterRequest::from_parts(parts), headers, body })
    }

    fn check(raw: McpInput) -> Result<McpInput, InputRejection> {
        Ok(raw)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        JsonBody::<McpBody>::describe(operation, generator);
        let text = json!({ "type": "string" });
        let version = "The version of the protocol. Required since 2026-07-28.";
        operation.header("MCP-Protocol-Version", version, text.clone());
        let method = "The method of the body. Required since 2026-07-28.";
        operation.header("Mcp-Method", method, text.clone());
        let name = "The tool's name, for `tools/call`. Required since 2026-07-28.";
        operation.header("Mcp-Name", name, text);
    }
}

/// A header's text. An empty one, which matches nothing, if it is not text or was sent twice.
fn read_header(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    let is_alone = values.next().is_none();
    Some(value.to_str().ok().filter(|_| is_alone).unwrap_or_default().to_owned())
}

/// True if the client reads JSON. One that says nothing does.
fn accepts_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let ranges = values.filter_map(|it| it.to_str().ok()).flat_map(|it| it.split(','));
    let mut essences = ranges.map(|it| it.split(';').next().unwrap_or_default().trim());
    essences.any(|it| {
        let it = it.to_ascii_lowercase();
        ["application/json", "application/*", "*/*"].contains(&it.as_str())
    })
}
