//! The MCP servers whose tools models may call: those of the operator, and callers' own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::web::WebFetcher;
use ledger::ChargeLine;
use mcp_client::McpConnector;
use money::{Price, PriceUnits, UnitRate, WorkCost};

/// Servers that one request may name.
pub const SERVERS_MAX: usize = 8;

pub struct McpAccess {
    /// The operator's servers.
    pub servers: Vec<McpServer>,
    /// None if callers may not name servers of their own.
    pub callers: Option<CallerServers>,
    pub bounds: McpBounds,
}

/// Bounds that the operator sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpBounds {
    /// Time of one call.
    pub call_time_max: Duration,
    /// Time of finding out a server's version and its tools.
    pub list_time_max: Duration,
    /// Calls of one response.
    pub calls_max: u64,
}

/// A server that the operator configured.
#[derive(Clone)]
pub struct McpServer {
    /// The name by which callers use it.
    pub label: String,
    pub description: Option<String>,
    /// None allows all of its tools.
    pub allowed_tools: Option<Vec<String>>,
    /// Price of a successful call.
    pub price: Price,
    /// Identifies the server in pins of its tools. Never shown.
    pub url: String,
    pub connector: Arc<dyn McpConnector>,
}

/// The way to servers of callers.
pub struct CallerServers {
    /// Reaches public addresses only.
    pub fetcher: Arc<WebFetcher>,
    /// True unless this is a test.
    pub requires_https: bool,
}

impl McpAccess {
    /// The operator's server with this label.
    pub fn find_server(&self, label: &str) -> Option<&McpServer> {
        self.servers.iter().find(|server| server.label == label)
    }
}

impl McpServer {
    /// The cost of one call.
    pub fn call_cost(&self) -> WorkCost {
        UnitRate::at_par(self.price).cost(1)
    }

    pub fn charge_line(&self) -> ChargeLine {
        ChargeLine {
            sku: format!("mcp-{}", self.label),
            units: 1,
            rate: UnitRate::at_par(self.price),
            per: PriceUnits::One,
        }
    }
}

/// Without the URL and the connector, which may have secrets.
impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("label", &self.label).finish_non_exhaustive()
    }
}
