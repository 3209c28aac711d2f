//! Builds the connections to MCP servers from the configuration.

use std::sync::Arc;
use std::time::Duration;

use ::web::{SystemResolver, WebFetcher, system_tls_config};
use config::read::ServiceConfig;
use config::sections::mcp::{McpConfig, McpServerConfig};
use domain::web_address::AddressScope;
use http::HeaderValue;
use http_frame::mcp_access::{CallerServers, McpAccess, McpBounds, McpServer};
use mcp_client::OperatorConnector;
use outbound::{ConnectSettings, ConnectVia, OutboundClient};

use crate::failure::CommandError;

const AGENT: &str = concat!("Tollgate/", env!("CARGO_PKG_VERSION"));
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const IDLE_MAX: Duration = Duration::from_secs(60);

/// The sections about MCP servers.
#[derive(Debug, Clone)]
pub(crate) struct McpSections {
    mcp: McpConfig,
    servers: Vec<McpServerConfig>,
    /// True for tests, whose servers have private addresses and no certificates.
    is_test: bool,
}

impl McpSections {
    pub(crate) fn from_config(config: &ServiceConfig) -> McpSections {
        McpSections {
            mcp: config.mcp.clone(),
            servers: config.mcp_servers.clone(),
            is_test: config.scrape.allow_private_addresses,
        }
    }

    pub(crate) fn open(&self) -> Result<Arc<McpAccess>, CommandError> {
        let failed = |error: &dyn std::fmt::Display| CommandError::Failed(error.to_string());
        let settings = ConnectSettings {
            way: ConnectVia::ByEnvironment,
            connect_timeout: CONNECT_TIMEOUT,
            idle_max: IDLE_MAX,
        };
        let client = OutboundClient::new(settings).map_err(|error| failed(&error))?;
        let servers = self.servers.iter().map(|server| connect_server(server, &client));
        let callers = match self.mcp.allow_caller_servers {
            true => Some(self.open_caller_servers().map_err(|error| failed(&error))?),
            false => None,
        };
        Ok(Arc::new(McpAccess {
            servers: servers.collect::<Result<_, _>>()?,
            callers,
            bounds: McpBounds {
                call_time_max: self.mcp.call_timeout,
                list_time_max: self.mcp.list_timeout,
                calls_max: self.mcp.max_calls,
            },
        }))
    }

    fn open_caller_servers(&self) -> Result<CallerServers, ::web::TlsUnusable> {
        let reach = if self.is_test { AddressScope::Anywhere } else { AddressScope::Public };
        let (names, tls) = (Arc::new(SystemResolver::default()), system_tls_config()?);
        let fetcher = WebFetcher::new(names, reach, tls, HeaderValue::from_static(AGENT));
        Ok(CallerServers { fetcher: Arc::new(fetcher), requires_https: !self.is_test })
    }
}

fn connect_server(
    server: &McpServerConfig,
    client: &OutboundClient,
) -> Result<McpServer, CommandError> {
    let authorization = server.authorization.as_ref().map(|secret| secret.expose());
    let connector = OperatorConnector::new(client.clone(), &server.url, authorization);
    let connector = connector.map_err(|error| {
        CommandError::Failed(format!("[[mcp_server]] `{}`: {error}", server.label))
    })?;
    Ok(McpServer {
        label: server.label.clone(),
        description: server.description.clone(),
        allowed_tools: server.allowed_tools.clone(),
        price: server.price(),
        url: server.url.clone(),
        connector: Arc::new(connector),
    })
}
