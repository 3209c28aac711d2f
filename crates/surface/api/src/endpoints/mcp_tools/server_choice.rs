//! The servers of a request: the operator's by their labels, and callers' own by their URLs.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use http_frame::mcp_access::{CallerServers, McpServer};
use http_frame::paid_work::PaidCall;
use ledger::ChargeLine;
use mcp_client::{GuardedConnector, McpConnector, McpTool, McpToolFilter};
use money::WorkCost;
use wire::secret_text::SecretText;

/// Headers of a caller for one server.
const HEADERS_MAX: usize = 32;
/// Set by the service or the protocol.
const RESERVED_HEADERS: [&str; 11] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];
const RESERVED_PREFIXES: [&str; 2] = ["mcp-", "proxy-"];

/// A server as a request asks for it.
pub(crate) struct ServerWish<'a> {
    pub(crate) label: &'a str,
    pub(crate) url: Option<&'a str>,
    pub(crate) authorization: Option<&'a SecretText>,
    pub(crate) headers: Option<&'a BTreeMap<String, SecretText>>,
    pub(crate) filter: McpToolFilter,
    pub(crate) approval: ApprovalPolicy,
}

/// The part of a wish that is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WishField {
    Label,
    Url,
    Authorization,
    Headers,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WishFault {
    pub(crate) field: WishField,
    pub(crate) message: String,
}

/// The calls that wait for the caller's approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApprovalPolicy {
    /// For tools that no filter names.
    pub(crate) by_default: bool,
    pub(crate) always: Option<McpToolFilter>,
    pub(crate) never: Option<McpToolFilter>,
}

impl ApprovalPolicy {
    pub(crate) const ALWAYS: ApprovalPolicy =
        ApprovalPolicy { by_default: true, always: None, never: None };
    pub(crate) const NEVER: ApprovalPolicy =
        ApprovalPolicy { by_default: false, always: None, never: None };

    pub(crate) fn needs_approval(&self, tool: &McpTool) -> bool {
        // A filter that names nothing is for no tool.
        let matches = |filter: &Option<McpToolFilter>| {
            filter
                .as_ref()
                .is_some_and(|filter| *filter != McpToolFilter::default() && filter.allows(tool))
        };
        if matches(&self.always) {
            return true;
        }
        self.by_default && !matches(&self.never)
    }
}

/// A server that a request may use.
#[derive(Clone)]
pub(crate) struct McpServerChoice {
    pub(crate) label: String,
    /// The tools that the operator and the caller allow.
    pub(crate) filter: McpToolFilter,
    pub(crate) approval: ApprovalPolicy,
    pub(crate) connector: Arc<dyn McpConnector>,
    /// Identifies the server in pins.
    pub(crate) url: String,
    /// None for a server of the caller, whose calls are free.
    operators: Option<McpServer>,
}

impl McpServerChoice {
    /// Chooses the server, or finds every fault of the wish.
    pub(crate) fn choose(
        call: &PaidCall,
        wish: ServerWish<'_>,
    ) -> Result<McpServerChoice, Vec<WishFault>> {
        match wish.url {
            None => choose_operators(call, wish),
            Some(url) => choose_callers(call, url, wish),
        }
    }

    /// The cost of a successful call.
    pub(crate) fn call_cost(&self) -> WorkCost {
        self.operators.as_ref().map(McpServer::call_cost).unwrap_or_default()
    }

    pub(crate) fn charge_line(&self) -> Option<ChargeLine> {
        self.operators.as_ref().map(McpServer::charge_line)
    }
}

fn choose_operators(
    call: &PaidCall,
    wish: ServerWish<'_>,
) -> Result<McpServerChoice, Vec<WishFault>> {
    let mut faults = Vec::new();
    let own = "The operator's server has its own authorization; leave it out";
    for (is_sent, field) in [
        (wish.authorization.is_some(), WishField::Authorization),
        (wish.headers.is_some(), WishField::Headers),
    ] {
        if is_sent {
            faults.push(WishFault { field, message: own.to_owned() });
        }
    }
    let Some(server) = call.app.mcp.find_server(wish.label) else {
        faults.insert(0, WishFault { field: WishField::Label, message: describe_servers(call) });
        return Err(faults);
    };
    if !faults.is_empty() {
        return Err(faults);
    }
    let names = match (&server.allowed_tools, wish.filter.names) {
        (Some(allowed), Some(asked)) => {
            Some(asked.into_iter().filter(|name| allowed.contains(name)).collect())
        }
        (Some(allowed), None) => Some(allowed.clone()),
        (None, asked) => asked,
    };
    Ok(McpServerChoice {
        label: server.label.clone(),
        filter: McpToolFilter { names, ..wish.filter },
        approval: wish.approval,
        connector: Arc::clone(&server.connector),
        url: server.url.clone(),
        operators: Some(server.clone()),
    })
}

/// The message for a label that is not the operator's.
fn describe_servers(call: &PaidCall) -> String {
    let labels: Vec<&str> = call.app.mcp.servers.iter().map(|it| it.label.as_str()).collect();
    if labels.is_empty() {
        return "This service has no MCP server of this name".to_owned();
    }
    format!("This service has no MCP server of this name; it has: {}", labels.join(", "))
}

fn choose_callers(
    call: &PaidCall,
    url: &str,
    wish: ServerWish<'_>,
) -> Result<McpServerChoice, Vec<WishFault>> {
    let fault = |field, message: &str| WishFault { field, message: message.to_owned() };
    let Some(callers) = &call.app.mcp.callers else {
        let message = "This service calls only MCP servers of its operator; name one of them in \
                       the label, without a URL";
        return Err(vec![fault(WishField::Url, message)]);
    };
    let mut faults = Vec::new();
    if let Err(message) = check_url(callers, url) {
        faults.push(fault(WishField::Url, &message));
    }
    let headers = match build_headers(wish.authorization, wish.headers) {
        Ok(headers) => headers,
        Err(wrong) => {
            faults.push(wrong);
            HeaderMap::new()
        }
    };
    if !faults.is_empty() {
        return Err(faults);
    }
    let connector = GuardedConnector {
        fetcher: Arc::clone(&callers.fetcher),
        address: url.to_owned(),
        headers,
        caller: call.reader_caller_id(),
        time_max: call.app.mcp.bounds.call_time_max,
    };
    Ok(McpServerChoice {
        label: wish.label.to_owned(),
        filter: wish.filter,
        approval: wish.approval,
        connector: Arc::new(connector),
        url: url.to_owned(),
        operators: None,
    })
}

fn check_url(callers: &CallerServers, url: &str) -> Result<(), String> {
    let address = callers.fetcher.parse(url).map_err(|fault| fault.to_string())?;
    if callers.requires_https && !address.is_https() {
        return Err("Must be an https URL".to_owned());
    }
    Ok(())
}

fn build_headers(
    authorization: Option<&SecretText>,
    headers: Option<&BTreeMap<String, SecretText>>,
) -> Result<HeaderMap, WishFault> {
    let fault = |field, message: &str| Err(WishFault { field, message: message.to_owned() });
    let mut built = HeaderMap::new();
    if headers.is_some_and(|headers| HEADERS_MAX < headers.len()) {
        return fault(WishField::Headers, "A server may get at most 32 headers");
    }
    for (name, value) in headers.into_iter().flatten() {
        let lower = name.to_ascii_lowercase();
        let is_reserved = RESERVED_HEADERS.contains(&lower.as_str())
            || RESERVED_PREFIXES.iter().any(|prefix| lower.starts_with(prefix));
        let (name, value) = (HeaderName::try_from(lower), HeaderValue::try_from(value.expose()));
        let (Ok(name), Ok(mut value), false) = (name, value, is_reserved) else {
            // The name is not repeated: a client may have mixed it up with the value.
            return fault(WishField::Headers, "One of the headers cannot be set");
        };
        value.set_sensitive(true);
        built.insert(name, value);
    }
    if let Some(token) = authorization {
        // Clients send both the bare token and the value of the header.
        let token = token.expose();
        let bare = token.strip_prefix("Bearer ").unwrap_or(token);
        let Ok(mut value) = HeaderValue::try_from(format!("Bearer {bare}")) else {
            return fault(WishField::Authorization, "Must be one line of ASCII");
        };
        value.set_sensitive(true);
        built.insert(AUTHORIZATION, value);
    }
    Ok(built)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, is_read_only: bool) -> McpTool {
        let entry = json!({"name": name, "inputSchema": {},
            "annotations": {"readOnlyHint": is_read_only}});
        McpTool::from_json(entry).unwrap()
    }

    fn names(names: &[&str]) -> Option<McpToolFilter> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Some(McpToolFilter { names: Some(names), ..McpToolFilter::default() })
    }

    #[test]
    fn calls_need_approval_unless_a_filter_says_never() {
        let (get, set) = (tool("get", true), tool("set", false));
        assert!(ApprovalPolicy::ALWAYS.needs_approval(&get));
        assert!(!ApprovalPolicy::NEVER.needs_approval(&set));
        let mixed = |always, never| ApprovalPolicy { by_default: true, always, never };
        let policy = mixed(None, names(&["get"]));
        assert!(!policy.needs_approval(&get) && policy.needs_approval(&set));
        let policy = mixed(names(&["get"]), names(&["get", "set"]));
        assert!(policy.needs_approval(&get) && !policy.needs_approval(&set));
        let read_only = Some(McpToolFilter { read_only: Some(true), ..McpToolFilter::default() });
        let policy = mixed(None, read_only);
        assert!(!policy.needs_approval(&get) && policy.needs_approval(&set));
        let policy = mixed(None, Some(McpToolFilter::default()));
        assert!(policy.needs_approval(&get), "an empty filter is for no tool");
    }

    #[test]
    fn headers_of_the_protocol_and_of_the_connection_cannot_be_set() {
        let secret = |text: &str| -> SecretText { serde_json::from_value(json!(text)).unwrap() };
        let built = |name: &str, value: &str| {
            let headers = BTreeMap::from([(name.to_owned(), secret(value))]);
            build_headers(None, Some(&headers))
        };
        for name in ["Host", "content-length", "MCP-Session-Id", "proxy-authorization", "a b", ""] {
            assert!(built(name, "v").is_err(), "{name}");
        }
        assert!(built("x-key", "a\r\nhost: b").is_err());
        assert_eq!(built("X-Key", "v").unwrap()["x-key"], "v");
        let headers = build_headers(Some(&secret("Bearer t")), None).unwrap();
        assert_eq!(headers["authorization"], "Bearer t");
        assert!(headers["authorization"].is_sensitive());
        assert!(build_headers(Some(&secret("a\nb")), None).is_err());
    }
}
