//! Callers of the MCP endpoint: anyone may open it, and only tools need a credential.

use std::net::IpAddr;
use std::sync::Arc;

use access::CredentialHolder;
use axum::http::Uri;
use axum::http::header::{AUTHORIZATION, ORIGIN};
use schemars::SchemaGenerator;
use serde_json::json;

use crate::app::AppState;
use crate::caller::{PayingCaller, RequiredCredential};
use crate::input::PaymentHeader;
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;
use crate::request_head::RequestHead;
use crate::{session, wallet_sign_in};

/// A caller that pays with a key or a wallet, or one without a credential. A credential that is not
/// valid is refused.
#[derive(Debug)]
pub struct McpCaller(pub Option<Arc<CredentialHolder>>);

impl RequiredCredential for McpCaller {
    const NEEDS_STORE: bool = false;

    /// Checks the host and the origin first. The node that received the request does so: the
    /// origin is not forwarded to others.
    async fn authenticate(app: &AppState, arrival: &RequestHead<'_>) -> Result<McpCaller, Refusal> {
        refuse_foreign_page(app, arrival)?;
        let has_credential = arrival.headers.contains_key(AUTHORIZATION)
            || wallet_sign_in::is_present(arrival.headers)
            || session::is_present(app, arrival.headers)
            || PaymentHeader::from_headers(arrival.headers).0.is_some();
        if !has_credential {
            return Ok(McpCaller(None));
        }
        let PayingCaller(holder) = PayingCaller::authenticate(app, arrival).await?;
        Ok(McpCaller(Some(holder)))
    }

    fn from_holder(holder: Arc<CredentialHolder>) -> Result<McpCaller, Refusal> {
        Ok(McpCaller(Some(holder)))
    }

    fn holder(&self) -> Option<&Arc<CredentialHolder>> {
        self.0.as_ref()
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.security(json!([{}, { "bearer": [] }, { "signInWithX": [] }]));
        operation.standard_refusal(401, "The API key or the sign-in is invalid", generator);
        operation.standard_refusal(
            403,
            "The `Host` or the `Origin` is not this service's own",
            generator,
        );
    }
}

/// 403 for a request that a page of another site may have sent with a name that it made to resolve
/// to this service (DNS rebinding). An IP address and `localhost` cannot be such a name.
fn refuse_foreign_page(app: &AppState, arrival: &RequestHead<'_>) -> Result<(), Refusal> {
    let host = arrival.host();
    if let Some(host) = host
        && !is_own_host(app, host)
        && !is_unresolved_host(host)
    {
        return Err(Refusal::forbidden("The host of this request is not one of this service's."));
    }
    let mut origins = arrival.headers.get_all(ORIGIN).iter();
    let is_own = |origin: &str| {
        let uri = origin.parse::<Uri>().ok();
        let authority = uri.as_ref().and_then(Uri::authority).map(|it| it.as_str());
        authority.is_some_and(|it| is_own_host(app, it) || Some(it) == host || is_loopback_host(it))
    };
    if origins.all(|origin| origin.to_str().is_ok_and(is_own)) {
        return Ok(());
    }
    Err(Refusal::forbidden("Pages of other origins may not use this service's MCP server."))
}

fn is_own_host(app: &AppState, host: &str) -> bool {
    app.wallets.rules.is_our_host(host)
}

/// True for hosts that browsers reach without a name server.
fn is_unresolved_host(host: &str) -> bool {
    let name = strip_port(host);
    name.eq_ignore_ascii_case("localhost") || parse_address(name).is_some()
}

/// True for this machine. Its pages are the user's own programs, such as inspectors.
fn is_loopback_host(host: &str) -> bool {
    let name = strip_port(host);
    name.eq_ignore_ascii_case("localhost") || parse_address(name).is_some_and(|it| it.is_loopback())
}

fn parse_address(name: &str) -> Option<IpAddr> {
    let inner = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    inner.unwrap_or(name).parse().ok()
}

fn strip_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_that_need_no_name_server_are_safe_without_being_ours() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "10.0.0.7", "[::1]:80", "[::1]"]
        {
            assert!(is_unresolved_host(host), "{host}");
        }
        for host in ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.x", ""]
        {
            assert!(!is_unresolved_host(host), "{host}");
        }
        assert!(is_loopback_host("127.0.0.1:6274") && is_loopback_host("[::1]:1"));
        assert!(!is_loopback_host("10.0.0.7") && !is_loopback_host("evil.example"));
    }
}
