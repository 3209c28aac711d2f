//! The two generations of the protocol, and what their requests carry.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use crate::tool::McpTool;

/// The version whose requests stand alone.
const STATELESS_VERSION: &str = "2026-07-28";
/// Versions that begin with `initialize`, the newest first.
const HANDSHAKE_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");
pub(crate) const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
/// Begins the headers with arguments that a server wants there.
const PARAM_PREFIX: &str = "mcp-param-";
/// The member of an argument's schema that names its header.
const PARAM_MEMBER: &str = "x-mcp-header";

/// The way in which a server is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerGeneration {
    /// Before the handshake.
    Unknown,
    Handshake {
        version: &'static str,
        session: Option<HeaderValue>,
    },
    Stateless,
}

impl ServerGeneration {
    /// The generation of a server that discloses its versions, if it has the newer one.
    pub(crate) fn from_discovery(result: &Value) -> Option<ServerGeneration> {
        let versions = result["supportedVersions"].as_array()?;
        let is_known = versions.iter().any(|version| version == STATELESS_VERSION);
        is_known.then_some(ServerGeneration::Stateless)
    }

    /// The generation of a server that answered the handshake.
    pub(crate) fn from_handshake(
        result: &Value,
        session: Option<HeaderValue>,
    ) -> Option<ServerGeneration> {
        let told = result["protocolVersion"].as_str()?;
        let version = HANDSHAKE_VERSIONS.into_iter().find(|version| *version == told)?;
        Some(ServerGeneration::Handshake { version, session })
    }

    /// The parameters of a request, with what this generation adds.
    pub(crate) fn complete_params(&self, mut params: Map<String, Value>) -> Map<String, Value> {
        if *self == ServerGeneration::Stateless {
            let meta = json!({
                META_VERSION: STATELESS_VERSION,
                META_CLIENT: client_info(),
                META_CAPABILITIES: {},
            });
            params.insert("_meta".to_owned(), meta);
        }
        params
    }

    /// The headers of a request. `tool` is the tool that it calls.
    pub(crate) fn build_headers(
        &self,
        method: &str,
        tool: Option<(&McpTool, &Map<String, Value>)>,
    ) -> HeaderMap {
        let mut headers = HeaderMap::new();
        match self {
            ServerGeneration::Unknown => {}
            ServerGeneration::Handshake { version, session } => {
                headers.insert(VERSION_HEADER, HeaderValue::from_static(version));
                headers.extend(session.clone().map(|session| (SESSION_HEADER, session)));
            }
            ServerGeneration::Stateless => {
                headers.insert(VERSION_HEADER, HeaderValue::from_static(STATELESS_VERSION));
                headers.extend(HeaderValue::from_str(method).ok().map(|it| (METHOD_HEADER, it)));
                if let Some((tool, arguments)) = tool {
                    headers.extend(encode_header(&tool.name).map(|it| (NAME_HEADER, it)));
                    headers.extend(list_argument_headers(tool, arguments));
                }
            }
        }
        headers
    }
}

/// The parameters of the handshake.
pub(crate) fn build_handshake() -> Map<String, Value> {
    let [newest, ..] = HANDSHAKE_VERSIONS;
    let params = json!({
        "protocolVersion": newest,
        "capabilities": {},
        "clientInfo": client_info(),
    });
    into_object(params)
}

pub(crate) fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn client_info() -> Value {
    json!({ "name": "tollgate", "version": env!("CARGO_PKG_VERSION") })
}

/// Arguments at the top level that the tool's schema wants in headers too.
fn list_argument_headers(
    tool: &McpTool,
    arguments: &Map<String, Value>,
) -> Vec<(HeaderName, HeaderValue)> {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let wanted = properties.into_iter().flatten().filter_map(|(name, schema)| {
        let header = schema.get(PARAM_MEMBER)?.as_str()?;
        let header = HeaderName::try_from(format!("{PARAM_PREFIX}{header}")).ok()?;
        let text = match arguments.get(name)? {
            Value::String(text) => text.clone(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((header, encode_header(&text)?))
    });
    wanted.collect()
}

/// A text as the value of a header; in base64 if it is not plain.
fn encode_header(text: &str) -> Option<HeaderValue> {
    let is_plain = text.chars().all(|it| it == ' ' || it.is_ascii_graphic())
        && text.trim() == text
        && !text.is_empty()
        && !text.starts_with("=?");
    if is_plain {
        return HeaderValue::from_str(text).ok();
    }
    HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(text))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_stand_alone_carry_their_version_method_and_name() {
        let tool = McpTool {
            name: "wéather".to_owned(),
            description: None,
            input_schema: into_object(json!({"properties": {
                "city": {"type": "string", "x-mcp-header": "City"},
                "days": {"type": "integer", "x-mcp-header": "Days"},
                "plain": {"type": "string"},
                "bad": {"x-mcp-header": "no such\nheader"},
            }})),
            annotations: None,
        };
        let arguments = into_object(json!({"city": "Oslo", "days": 3, "plain": "a", "bad": "b"}));
        let generation = ServerGeneration::Stateless;
        let headers = generation.build_headers("tools/call", Some((&tool, &arguments)));
        let told = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
        assert_eq!(told("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(told("mcp-method"), Some("tools/call"));
        assert_eq!(told("mcp-name"), Some("=?base64?d8OpYXRoZXI=?="));
        assert_eq!((told("mcp-param-city"), told("mcp-param-days")), (Some("Oslo"), Some("3")));
        assert_eq!(headers.len(), 5);
        let params = generation.complete_params(Map::new());
        assert_eq!(params["_meta"][META_VERSION], STATELESS_VERSION);
        assert!(params["_meta"][META_CAPABILITIES].is_object());
    }

    #[test]
    fn a_session_is_named_after_the_handshake() {
        let session = Some(HeaderValue::from_static("s-1"));
        let result = json!({"protocolVersion": "2025-06-18"});
        let generation = ServerGeneration::from_handshake(&result, session).unwrap();
        let headers = generation.build_headers("tools/list", None);
        assert_eq!(headers["mcp-session-id"], "s-1");
        assert_eq!(headers["mcp-protocol-version"], "2025-06-18");
        assert!(generation.complete_params(Map::new()).is_empty());
        let unknown = json!({"protocolVersion": "1999-01-01"});
        assert_eq!(ServerGeneration::from_handshake(&unknown, None), None);
    }
}
