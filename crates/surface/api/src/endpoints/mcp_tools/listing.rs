//! Lists the tools of the servers of a request.

use futures_util::future::join_all;
use http_frame::mcp_access::McpBounds;
use mcp_client::{McpConnection, McpFault, McpTool};
use tokio::time::timeout;

use super::server_choice::McpServerChoice;

/// A server with the tools that may be used.
pub(crate) struct ListedServer {
    pub(crate) choice: McpServerChoice,
    pub(crate) tools: Vec<McpTool>,
    /// None until it is needed, if the tools were known.
    pub(crate) connection: Option<McpConnection>,
    /// The reason why there are no tools.
    pub(crate) error: Option<String>,
    /// True if the tools were listed now.
    pub(crate) is_new: bool,
}

/// A server, and its tools if they are known.
pub(crate) struct ServerToList {
    pub(crate) choice: McpServerChoice,
    pub(crate) known: Option<Vec<McpTool>>,
}

/// Lists all servers at the same time. A server that fails has no tools.
pub(crate) async fn list_servers(
    servers: Vec<ServerToList>,
    bounds: McpBounds,
) -> Vec<ListedServer> {
    join_all(servers.into_iter().map(|server| list_server(server, bounds))).await
}

async fn list_server(server: ServerToList, bounds: McpBounds) -> ListedServer {
    let ServerToList { choice, known } = server;
    if let Some(tools) = known {
        return ListedServer { choice, tools, connection: None, error: None, is_new: false };
    }
    let listing = async {
        let mut connection = McpConnection::open(choice.connector.clone()).await?;
        let tools = connection.list_tools(&choice.filter).await?;
        Ok((connection, tools))
    };
    let listed = timeout(bounds.list_time_max, listing).await;
    let listed = listed.unwrap_or(Err(McpFault::TimedOut));
    let label = choice.label.as_str();
    match listed {
        Ok((connection, tools)) => {
            tracing::info!(server = label, tools = tools.len(), "an MCP server was listed");
            let connection = Some(connection);
            ListedServer { choice, tools, connection, error: None, is_new: true }
        }
        Err(fault) => {
            tracing::warn!(
                server = label,
                error = fault_name(&fault),
                "an MCP server was not listed"
            );
            let error = Some(fault.to_string());
            ListedServer { choice, tools: Vec::new(), connection: None, error, is_new: true }
        }
    }
}

/// The kind of a fault, without what the server said.
pub(super) fn fault_name(fault: &McpFault) -> &'static str {
    match fault {
        McpFault::Unreachable => "unreachable",
        McpFault::Address(_) => "address",
        McpFault::Broken => "broken off",
        McpFault::Redirected => "redirect",
        McpFault::Unauthorized(_) => "unauthorized",
        McpFault::Status { .. } => "status",
        McpFault::TooLarge(_) => "too large",
        McpFault::TooDeep => "too deep",
        McpFault::NotJson => "not JSON",
        McpFault::MediaType => "media type",
        McpFault::WrongId => "wrong id",
        McpFault::NoAnswer => "no answer",
        McpFault::TimedOut => "timeout",
        McpFault::Busy => "busy",
        McpFault::Rpc { .. } => "error of the protocol",
        McpFault::NeedsInput => "needs input",
        McpFault::Malformed(_) => "malformed",
        McpFault::Version => "version",
        McpFault::TooManyTools => "too many tools",
        McpFault::LargeArguments | McpFault::InvalidArguments => "arguments",
    }
}
