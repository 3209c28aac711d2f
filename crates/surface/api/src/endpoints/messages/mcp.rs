//! MCP servers of a message: chosen, listed, and called by the service.

use std::collections::HashMap;
use std::sync::Arc;

use engine::{ChatRequest, ChatTool, ToolChoicePolicy};
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use mcp_client::McpToolFilter;
use schema_check::ValidationFaults;
use serde_json::value::to_raw_value;
use wire::messages::{McpToolOptions, MessagesMcpServer, MessagesRequest, MessagesTool};

use super::fields::{FieldPath, REQUIRED};
use crate::endpoints::mcp_tools::function_name::build_function_name;
use crate::endpoints::mcp_tools::listing::{ServerToList, list_servers};
use crate::endpoints::mcp_tools::pins::McpPins;
use crate::endpoints::mcp_tools::runner::{CallableTool, McpRunner, RunnerProgress};
use crate::endpoints::mcp_tools::server_choice::{
    ApprovalPolicy, McpServerChoice, ServerWish, WishField,
};

const TOOL_SET: &str = "mcp_toolset";
/// Memory of one list while it is read.
const LIST_ROOM_BYTES: usize = 4 * 1024 * 1024;

/// The servers of a request.
pub(super) struct MessagesMcp {
    servers: Vec<McpServerChoice>,
}

/// The tools of MCP servers by the names of their functions.
#[derive(Debug, Clone, Default)]
pub(super) struct McpNames(Arc<HashMap<String, McpToolName>>);

/// A tool, and the server that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct McpToolName {
    pub(super) server: String,
    pub(super) tool: String,
}

impl McpNames {
    pub(super) fn find(&self, function: &str) -> Option<&McpToolName> {
        self.0.get(function)
    }
}

/// True for the tools of an MCP server.
pub(super) fn is_tool_set(tool: &MessagesTool) -> bool {
    tool.kind.as_deref() == Some(TOOL_SET)
}

impl MessagesMcp {
    /// Takes the servers out of a request, with what its tool sets say of them. None if it has none.
    pub(super) fn take(
        request: &mut MessagesRequest,
        call: &PaidCall,
        faults: &mut ValidationFaults,
    ) -> Option<MessagesMcp> {
        let declared = request.mcp_servers.take().unwrap_or_default();
        let mut sets = HashMap::new();
        for (index, tool) in request.tools.iter().flatten().enumerate() {
            if !is_tool_set(tool) {
                continue;
            }
            let path = FieldPath::top("tools").join(index).join("mcp_server_name");
            let Some(name) = tool.mcp_server_name.as_deref() else {
                path.push_fault(faults, REQUIRED);
                continue;
            };
            if !declared.iter().any(|server| server.name == name) {
                path.push_fault(faults, "`mcp_servers` has no server of this name");
            } else if sets.insert(name.to_owned(), read_tool_set(tool)).is_some() {
                path.push_fault(faults, "Another tool set is for this server");
            }
        }
        let mut servers: Vec<McpServerChoice> = Vec::new();
        for (index, server) in declared.iter().enumerate() {
            let path = FieldPath::top("mcp_servers").join(index);
            if servers.iter().any(|other| other.label == server.name) {
                path.join("name").push_fault(faults, "Another server has this name");
                continue;
            }
            let filter = sets.remove(&server.name).unwrap_or_else(|| read_configuration(server));
            servers.extend(choose_server(call, server, filter, &path, faults));
        }
        (!declared.is_empty()).then_some(MessagesMcp { servers })
    }

    /// Lists the tools and adds them to those of the model. The caller can pay.
    pub(super) async fn list(
        self,
        call: &PaidCall,
        chat: &mut ChatRequest,
    ) -> Result<(McpRunner, McpNames), Refusal> {
        let owner = call.holder.owner.id.0.as_u128();
        let bounds = call.app.mcp.bounds;
        let to_list: Vec<ServerToList> =
            self.servers.into_iter().map(|choice| ServerToList { choice, known: None }).collect();
        let room = LIST_ROOM_BYTES * to_list.len();
        call.room.take_more(room)?;
        let servers = list_servers(to_list, bounds).await;
        call.room.release_bytes(room);
        let (mut tools, mut names) = (HashMap::new(), HashMap::new());
        for (server_index, server) in servers.iter().enumerate() {
            let label = server.choice.label.as_str();
            for (tool_index, tool) in server.tools.iter().enumerate() {
                let is_taken = |name: &str| chat.tools.iter().any(|tool| tool.name == name);
                let function = build_function_name(label, &tool.name, is_taken);
                chat.tools.push(ChatTool {
                    name: function.clone(),
                    description: tool.description.clone(),
                    parameters: to_raw_value(&tool.input_schema).ok(),
                    strict: None,
                });
                let callable =
                    CallableTool { server: server_index, tool: tool_index, needs_approval: false };
                tools.insert(function.clone(), callable);
                let name = McpToolName { server: label.to_owned(), tool: tool.name.clone() };
                names.insert(function, name);
            }
        }
        if let Some(server) = servers.iter().find(|server| server.error.is_some()) {
            // The protocol has no item for a list, so a failed server is a fault.
            let error = server.error.as_deref().unwrap_or_default();
            let mut faults = ValidationFaults::default();
            FieldPath::top("mcp_servers")
                .push_fault(&mut faults, format!("`{}`: {error}", server.choice.label));
            return Err(Refusal::invalid_request(&faults));
        }
        choose_tool(chat, &names)?;
        let runner = McpRunner {
            servers,
            tools,
            approved: Vec::new(),
            waits: false,
            bounds,
            calls_max: bounds.calls_max,
            pins: McpPins::new(&call.app.wallets.token_secret, owner),
            request_id: call.request_id.clone(),
            room: call.room.clone(),
            progress: RunnerProgress::default(),
        };
        Ok((runner, McpNames(Arc::new(names))))
    }
}

/// Makes the chosen tool the function that stands for it.
fn choose_tool(
    chat: &mut ChatRequest,
    names: &HashMap<String, McpToolName>,
) -> Result<(), Refusal> {
    if chat.tools.is_empty() {
        chat.tool_choice = None;
    }
    let Some(ToolChoicePolicy::Function(chosen)) = &chat.tool_choice else { return Ok(()) };
    if chat.tools.iter().any(|tool| tool.name == *chosen) {
        return Ok(());
    }
    let Some((function, _)) = names.iter().find(|(_, name)| name.tool == *chosen) else {
        let mut faults = ValidationFaults::default();
        let path = FieldPath::top("tool_choice").join("name");
        path.push_fault(&mut faults, "No such tool is offered");
        return Err(Refusal::invalid_request(&faults));
    };
    chat.tool_choice = Some(ToolChoicePolicy::Function(function.clone()));
    Ok(())
}

/// The protocol has no approvals: all tools that are enabled are called.
fn choose_server(
    call: &PaidCall,
    server: &MessagesMcpServer,
    filter: McpToolFilter,
    path: &FieldPath,
    faults: &mut ValidationFaults,
) -> Option<McpServerChoice> {
    let wish = ServerWish {
        label: &server.name,
        url: server.url.as_deref(),
        authorization: server.authorization_token.as_ref(),
        headers: None,
        filter,
        approval: ApprovalPolicy::NEVER,
    };
    match McpServerChoice::choose(call, wish) {
        Ok(choice) => Some(choice),
        Err(wrong) => {
            for fault in wrong {
                let field = match fault.field {
                    WishField::Label => "name",
                    WishField::Url => "url",
                    WishField::Authorization | WishField::Headers => "authorization_token",
                };
                path.join(field).push_fault(faults, fault.message);
            }
            None
        }
    }
}

fn is_enabled(options: Option<&McpToolOptions>, otherwise: bool) -> bool {
    options.and_then(|options| options.enabled).unwrap_or(otherwise)
}

fn read_tool_set(tool: &MessagesTool) -> McpToolFilter {
    let by_default = is_enabled(tool.default_config.as_ref(), true);
    let named = tool.configs.iter().flatten();
    let named: Vec<(&String, bool)> =
        named.map(|(name, options)| (name, is_enabled(Some(options), by_default))).collect();
    let names_of = |wanted: bool| -> Vec<String> {
        named.iter().filter(|it| it.1 == wanted).map(|it| it.0.clone()).collect()
    };
    McpToolFilter {
        names: (!by_default).then(|| names_of(true)),
        excluded: names_of(false),
        read_only: None,
    }
}

/// The tools of a server without a tool set: all, or those of the earlier form.
fn read_configuration(server: &MessagesMcpServer) -> McpToolFilter {
    let Some(configuration) = &server.tool_configuration else { return McpToolFilter::default() };
    let is_off = configuration.enabled == Some(false);
    let names = if is_off { Some(Vec::new()) } else { configuration.allowed_tools.clone() };
    McpToolFilter { names, ..McpToolFilter::default() }
}
