//! The two generations of the protocol: versions, headers and the results that differ.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_frame::refusal::mcp::{HEADER_MISMATCH, METHOD_NOT_FOUND, UNSUPPORTED_VERSION};
use http_frame::version::VERSION;
use serde_json::{Map, Value, json};
use wire::mcp::McpError;

use super::message::{RpcRequest, refuse_params, shorten};
use super::tools;

pub(super) const INITIALIZE: &str = "initialize";
pub(super) const TOOLS_CALL: &str = "tools/call";

/// The version whose requests carry their own metadata.
const STATELESS_VERSION: &str = "2026-07-28";
/// Versions that begin with `initialize`, the newest first.
const HANDSHAKE_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", BATCH_VERSION, "2024-11-05"];
/// The only version with arrays of messages, and the one of clients that name none.
const BATCH_VERSION: &str = "2025-03-26";

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Time that clients may keep the list of tools, which changes with releases only.
const LIST_TTL_MS: u64 = 3_600_000;

/// Tells models what the server is for.
const INSTRUCTIONS: &str = "Tools that call AI models and read the web. Calls are charged to the \
    caller's prepaid credits; list_models shows models and prices, balance shows the credits.";

/// The way in which a client speaks the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolGeneration {
    /// Versions that begin with `initialize`.
    Handshake,
    /// Versions whose requests stand alone.
    Stateless,
}

/// The headers of the protocol.
#[derive(Debug)]
pub(super) struct ProtocolHeaders {
    pub(super) accepts_json: bool,
    pub(super) version: Option<String>,
    pub(super) method: Option<String>,
    pub(super) name: Option<String>,
}

impl ProtocolHeaders {
    /// Refuses a version that is not spoken here.
    pub(super) fn check_version(&self) -> Result<(), McpError> {
        match self.version.as_deref() {
            Some(version) if !is_known(version) => Err(refuse_version(version)),
            _ => Ok(()),
        }
    }

    pub(super) fn allows_batches(&self) -> bool {
        self.version.as_deref().is_none_or(|version| version == BATCH_VERSION)
    }

    /// The generation of a request, by its metadata and headers. Those of a request that stands
    /// alone must agree, because proxies rely on the headers.
    pub(super) fn find_generation(
        &self,
        request: &RpcRequest,
    ) -> Result<ProtocolGeneration, McpError> {
        let meta = request.params.get("_meta");
        let stated = meta.and_then(|meta| meta.get(META_VERSION));
        let is_stateless = self.version.as_deref() == Some(STATELESS_VERSION) || stated.is_some();
        if request.method == INITIALIZE || !is_stateless {
            return Ok(ProtocolGeneration::Handshake);
        }
        let Some(stated) = stated.and_then(Value::as_str) else {
            return Err(refuse_params(format!("`_meta` must have `{META_VERSION}`.")));
        };
        match self.version.as_deref() {
            None => return Err(refuse_header("MCP-Protocol-Version is missing")),
            Some(version) if version != stated => {
                return Err(refuse_header("MCP-Protocol-Version is not the body's version"));
            }
            Some(STATELESS_VERSION) => {}
            Some(version) => return Err(refuse_version(version)),
        }
        if !meta.is_some_and(|meta| meta[META_CAPABILITIES].is_object()) {
            return Err(refuse_params(format!("`_meta` must have `{META_CAPABILITIES}`.")));
        }
        if self.method.as_deref() != Some(request.method.as_str()) {
            return Err(refuse_header("Mcp-Method is not the body's method"));
        }
        if request.method == TOOLS_CALL {
            let name = self.name.as_deref().and_then(decode_header);
            if name.as_deref() != request.params.get("name").and_then(Value::as_str) {
                return Err(refuse_header("Mcp-Name is not the body's name"));
            }
        }
        Ok(ProtocolGeneration::Stateless)
    }
}

impl ProtocolGeneration {
    /// True if an error of a request has an HTTP status other than 200.
    pub(super) fn has_status_for(self, error: &McpError) -> bool {
        self == ProtocolGeneration::Stateless && error.code == METHOD_NOT_FOUND
    }

    /// Adds the members that all results of this generation have.
    pub(super) fn finish_result(self, mut result: Value, brand: &str) -> Value {
        if self == ProtocolGeneration::Stateless {
            result["resultType"] = json!("complete");
            result["_meta"][META_SERVER] = server_info(brand);
        }
        result
    }
}

pub(super) fn build_initialize_result(
    params: &Map<String, Value>,
    brand: &str,
) -> Result<Value, McpError> {
    let Some(wanted) = params.get("protocolVersion").and_then(Value::as_str) else {
        return Err(refuse_params("`protocolVersion` must be a text."));
    };
    let known = HANDSHAKE_VERSIONS.into_iter().find(|version| *version == wanted);
    Ok(json!({
        "protocolVersion": known.unwrap_or(HANDSHAKE_VERSIONS[0]),
        "capabilities": capabilities(),
        "serverInfo": server_info(brand),
        "instructions": INSTRUCTIONS,
    }))
}

pub(super) fn build_discovery() -> Value {
    json!({
        "supportedVersions": supported_versions(),
        "capabilities": capabilities(),
        "instructions": INSTRUCTIONS,
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "public",
    })
}

/// The tools. All are on one page, so there is no cursor.
pub(super) fn build_tool_list(
    params: &Map<String, Value>,
    generation: ProtocolGeneration,
) -> Result<Value, McpError> {
    if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
        return Err(refuse_params("There is no such cursor: all tools are on one page."));
    }
    let mut result = json!({ "tools": tools::list_descriptions() });
    if generation == ProtocolGeneration::Stateless {
        result["ttlMs"] = json!(LIST_TTL_MS);
        result["cacheScope"] = json!("public");
    }
    Ok(result)
}

fn capabilities() -> Value {
    json!({ "tools": {} })
}

fn server_info(brand: &str) -> Value {
    json!({ "name": "tollgate", "title": brand, "version": VERSION })
}

fn supported_versions() -> Vec<&'static str> {
    std::iter::once(STATELESS_VERSION).chain(HANDSHAKE_VERSIONS).collect()
}

fn is_known(version: &str) -> bool {
    supported_versions().contains(&version)
}

fn refuse_version(version: &str) -> McpError {
    let data = json!({ "supported": supported_versions(), "requested": shorten(version) });
    let message = "Unsupported protocol version".to_owned();
    McpError { code: UNSUPPORTED_VERSION, message, data: Some(data) }
}

fn refuse_header(message: &str) -> McpError {
    let message = format!("Header mismatch: {message}.");
    McpError { code: HEADER_MISMATCH, message, data: None }
}

/// The text of a header that may be encoded as `=?base64?…?=`.
fn decode_header(value: &str) -> Option<String> {
    let encoded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match encoded {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use http_frame::refusal::mcp::INVALID_PARAMS;

    use super::*;

    fn request(method: &str, version: &str) -> RpcRequest {
        let meta = json!({META_VERSION: version, META_CAPABILITIES: {}});
        let params = json!({"name": "chat", "_meta": meta});
        let Value::Object(params) = params else { panic!() };
        RpcRequest { id: json!(1), method: method.to_owned(), params }
    }

    fn headers(version: &str, method: &str, name: &str) -> ProtocolHeaders {
        let text = |it: &str| Some(it.to_owned()).filter(|it| !it.is_empty());
        let (version, method, name) = (text(version), text(method), text(name));
        ProtocolHeaders { accepts_json: true, version, method, name }
    }

    #[test]
    fn headers_of_a_request_that_stands_alone_must_agree_with_it() {
        let code = |headers: ProtocolHeaders, request: &RpcRequest| {
            headers.find_generation(request).map_err(|error| error.code)
        };
        let call = request(TOOLS_CALL, STATELESS_VERSION);
        let version = STATELESS_VERSION;
        let stateless = Ok(ProtocolGeneration::Stateless);
        assert_eq!(code(headers(version, TOOLS_CALL, "chat"), &call), stateless);
        assert_eq!(code(headers(version, TOOLS_CALL, "=?base64?Y2hhdA==?="), &call), stateless);
        let mismatch = Err(HEADER_MISMATCH);
        assert_eq!(code(headers("", TOOLS_CALL, "chat"), &call), mismatch);
        assert_eq!(code(headers("2025-11-25", TOOLS_CALL, "chat"), &call), mismatch);
        assert_eq!(code(headers(version, "", "chat"), &call), mismatch);
        assert_eq!(code(headers(version, "tools/list", "chat"), &call), mismatch);
        assert_eq!(code(headers(version, TOOLS_CALL, ""), &call), mismatch);
        assert_eq!(code(headers(version, TOOLS_CALL, "=?base64?!?="), &call), mismatch);
        let old = request(TOOLS_CALL, "2025-11-25");
        let unsupported = Err(UNSUPPORTED_VERSION);
        assert_eq!(code(headers("2025-11-25", TOOLS_CALL, "chat"), &old), unsupported);
        let mut bare = request("tools/list", version);
        bare.params.clear();
        assert_eq!(code(headers(version, "tools/list", ""), &bare), Err(INVALID_PARAMS));
        let handshake = Ok(ProtocolGeneration::Handshake);
        assert_eq!(code(headers("2025-06-18", "", ""), &bare), handshake);
    }

    #[test]
    fn an_unknown_version_is_answered_with_the_known_ones() {
        let error = headers("1900-01-01", "", "").check_version().unwrap_err();
        assert_eq!(error.code, UNSUPPORTED_VERSION);
        assert_eq!(error.data.unwrap()["supported"][0], STATELESS_VERSION);
    }
}
