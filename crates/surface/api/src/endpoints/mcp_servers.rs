//! `GET /mcp_servers` and `GET /mcp_servers/{label}/tools`: the operator's MCP servers and their
//! tools, for callers who want a model to use them.

use domain::pricing::UnitRate;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{NoInput, PathParameters};
use http_frame::mcp_access::McpServer;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use mcp_client::{McpConnection, McpFault, McpTool, McpToolFilter};
use money::PriceUnits;
use tokio::time::timeout;
use wire::mcp_servers::{McpServerEntry, McpServerList, McpServerPath, McpToolEntry, McpToolList};
use wire::models::Amount;

pub(crate) fn list_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/mcp_servers", list_mcp_servers)
        .tag("MCP")
        .summary("List the MCP servers whose tools models may call")
        .build()
}

pub(crate) fn tools_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/mcp_servers/{label}/tools", list_mcp_server_tools)
        .tag("MCP")
        .summary("List the tools of an MCP server")
        .refuses(404, "There is no such MCP server")
        .refuses(502, "The MCP server could not be reached, or returned an error")
        .build()
}

async fn list_mcp_servers(
    app: SharedApp,
    _: ApiCall<JobCollector, NoInput>,
) -> Result<WithHeaders<McpServerList>, Refusal> {
    Ok(WithHeaders::new(McpServerList {
        object: "list",
        data: app.mcp.servers.iter().map(describe_server).collect(),
        allows_caller_servers: app.mcp.callers.is_some(),
    }))
}

async fn list_mcp_server_tools(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<McpServerPath>>,
) -> Result<WithHeaders<McpToolList>, Refusal> {
    let PathParameters(path) = call.input;
    let Some(server) = app.mcp.find_server(&path.label) else {
        let message =
            format!("There is no MCP server `{}`. GET /mcp_servers lists them.", path.label);
        return Err(Refusal::not_found("There is no such MCP server", message));
    };
    let filter = McpToolFilter { names: server.allowed_tools.clone(), ..McpToolFilter::default() };
    let listing = async {
        let mut connection = McpConnection::open(server.connector.clone()).await?;
        connection.list_tools(&filter).await
    };
    let listed = timeout(app.mcp.bounds.list_time_max, listing).await;
    let tools = listed.unwrap_or(Err(McpFault::TimedOut));
    let tools = tools.map_err(|fault| Refusal::mcp_server_failed(fault.to_string()))?;
    let data = tools.into_iter().map(describe_tool).collect();
    Ok(WithHeaders::new(McpToolList { object: "list", data }))
}

fn describe_server(server: &McpServer) -> McpServerEntry {
    let rate = UnitRate::at_par(server.price);
    McpServerEntry {
        label: server.label.clone(),
        description: server.description.clone(),
        allowed_tools: server.allowed_tools.clone(),
        price_per_call: Amount {
            usd: rate.usd.as_f64(PriceUnits::One),
            diem: rate.diem.as_f64(PriceUnits::One),
        },
    }
}

fn describe_tool(tool: McpTool) -> McpToolEntry {
    let McpTool { name, description, input_schema, annotations: _ } = tool;
    McpToolEntry { name, description, input_schema }
}
