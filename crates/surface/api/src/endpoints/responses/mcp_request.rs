//! The MCP servers of a request: declared, listed, and added to the tools of the model.

use std::collections::HashMap;

use engine::{ChatRequest, ToolChoicePolicy};
use http_frame::mcp_access::SERVERS_MAX;
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use mcp_client::McpToolFilter;
use schema_check::{PathStep, ValidationFaults};
use wire::responses::{
    McpAllowedTools, McpApprovalMode, McpApprovalSetting, McpToolFields, McpToolsFilter,
    ResponseTool, ResponseToolChoice, ToolSelection,
};

use super::mcp_history::{McpHistory, ResumedCall, to_listed_tool};
use super::mcp_item::{McpItem, McpStartItem};
use super::tool_table::ToolTable;
use crate::endpoints::mcp_tools::function_name::build_call_id;
use crate::endpoints::mcp_tools::listing::{ListedServer, ServerToList, list_servers};
use crate::endpoints::mcp_tools::pins::{McpPins, PinnedCall};
use crate::endpoints::mcp_tools::runner::{ApprovedCall, CallableTool, McpRunner, RunnerProgress};
use crate::endpoints::mcp_tools::server_choice::{
    ApprovalPolicy, McpServerChoice, ServerWish, WishField,
};

/// Memory of one list while it is read.
const LIST_ROOM_BYTES: usize = 4 * 1024 * 1024;
const NOT_OFFERED: &str = "No such tool is offered; list it in `tools`";

/// The servers that a request declares.
pub(super) struct McpRequest {
    servers: Vec<McpServerChoice>,
    history: McpHistory,
    chosen: Option<McpSelection>,
    /// Set if only some tools are allowed.
    allowed: Option<Vec<McpSelection>>,
    calls_max: Option<u64>,
}

/// A tool of a server, or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct McpSelection {
    label: String,
    name: Option<String>,
}

/// The request with the servers listed.
pub(super) struct ListedMcp {
    pub(super) runner: McpRunner,
    pub(super) start: Vec<McpStartItem>,
}

impl McpRequest {
    /// Reads the servers. None if the request has none. `history` is what the conversation says of
    /// them.
    pub(super) fn read(
        call: &PaidCall,
        tools: &[ResponseTool],
        choice: Option<&ResponseToolChoice>,
        history: McpHistory,
        faults: &mut ValidationFaults,
    ) -> Option<McpRequest> {
        let mut servers: Vec<McpServerChoice> = Vec::new();
        let mut declared = 0;
        for (index, tool) in tools.iter().enumerate().filter(|it| it.1.kind == "mcp") {
            declared += 1;
            let place = [PathStep::from("tools"), index.into()];
            let chosen = read_server(call, &tool.mcp, &place, faults);
            let Some(server) = chosen else { continue };
            if servers.iter().any(|other| other.label == server.label) {
                push(faults, &place, "server_label", "Another server has this label");
                continue;
            }
            servers.push(server);
        }
        if SERVERS_MAX < declared {
            let message = format!("At most {SERVERS_MAX} MCP servers may be listed");
            faults.at(["tools"]).push(message);
        }
        for resumed in &history.resumed {
            if !servers.iter().any(|server| server.label == resumed.label)
                && declared == servers.len()
            {
                let place = [PathStep::from("input"), resumed.index.into()];
                let message = "List the server of the approved call in `tools`";
                push(faults, &place, "approval_request_id", message);
            }
        }
        if declared == 0 {
            return None;
        }
        let mut request =
            McpRequest { servers, history, chosen: None, allowed: None, calls_max: None };
        request.read_choice(choice, faults);
        Some(request)
    }

    pub(super) fn with_calls_max(self, calls_max: Option<u64>) -> McpRequest {
        McpRequest { calls_max, ..self }
    }

    fn read_choice(&mut self, choice: Option<&ResponseToolChoice>, faults: &mut ValidationFaults) {
        let Some(ResponseToolChoice::Selection(chosen)) = choice else { return };
        let place = vec![PathStep::from("tool_choice")];
        if chosen.kind == "mcp" {
            self.chosen = self.read_selection(chosen, &place, faults);
        }
        if chosen.kind == "allowed_tools" {
            let mut allowed = Vec::new();
            for (index, tool) in chosen.tools.iter().flatten().enumerate() {
                let place = [PathStep::from("tool_choice"), "tools".into(), index.into()];
                if tool.kind == "mcp" {
                    allowed.extend(self.read_selection(tool, &place, faults));
                }
            }
            self.allowed = Some(allowed);
        }
    }

    fn read_selection(
        &self,
        chosen: &ToolSelection,
        place: &[PathStep],
        faults: &mut ValidationFaults,
    ) -> Option<McpSelection> {
        let Some(label) = chosen.server_label.clone() else {
            push(faults, place, "server_label", "Required");
            return None;
        };
        if !self.servers.iter().any(|server| server.label == label) {
            push(faults, place, "server_label", NOT_OFFERED);
            return None;
        }
        Some(McpSelection { label, name: chosen.name.clone() })
    }

    /// Lists the tools and adds them to those of the model. The caller can pay.
    pub(super) async fn list(
        self,
        call: &PaidCall,
        table: &mut ToolTable,
        chat: &mut ChatRequest,
    ) -> Result<ListedMcp, Refusal> {
        let owner = call.holder.owner.id.0.as_u128();
        let pins = McpPins::new(&call.app.wallets.token_secret, owner);
        let bounds = call.app.mcp.bounds;
        let McpRequest { servers, history, chosen, allowed, calls_max } = self;
        let to_list: Vec<ServerToList> =
            servers.into_iter().map(|choice| find_known(choice, &history, &pins)).collect();
        let room = LIST_ROOM_BYTES * to_list.iter().filter(|it| it.known.is_none()).count();
        call.room.take_more(room)?;
        let servers = list_servers(to_list, bounds).await;
        call.room.release_bytes(room);

        let selected = SelectedTools { chosen: chosen.as_ref(), allowed: allowed.as_deref() };
        let tools = add_tools(&servers, &selected, table);
        apply_choice(&selected, &tools, &servers, table, chat)?;
        chat.tools = table.list_functions();
        if chat.tools.is_empty() {
            chat.tool_choice = None;
        }
        let mut listed = ListedMcp {
            start: list_items(call, &servers, &history, &pins),
            runner: McpRunner {
                servers,
                tools,
                approved: Vec::new(),
                waits: false,
                bounds,
                calls_max: calls_max.unwrap_or(bounds.calls_max).min(bounds.calls_max),
                pins,
                request_id: call.request_id.clone(),
                room: call.room.clone(),
                progress: RunnerProgress::default(),
            },
        };
        for resumed in &history.resumed {
            listed.resume(resumed);
        }
        Ok(listed)
    }
}

impl ListedMcp {
    /// Makes an approved call next, or asks again if the approval is not for the tool as it is now.
    fn resume(&mut self, resumed: &ResumedCall) {
        let ResumedCall { label, name, arguments, approval_id, .. } = resumed;
        let runner = &mut self.runner;
        let found = runner.tools.iter().find(|(_, callable)| {
            let server = runner.servers.get(callable.server);
            let tool = server.and_then(|server| server.tools.get(callable.tool));
            server.is_some_and(|server| server.choice.label == *label)
                && tool.is_some_and(|tool| tool.name == *name)
        });
        let Some((function, callable)) = found else {
            // The call is told as failed, because its tool is gone.
            runner.approved.push(ApprovedCall {
                call_id: build_call_id(approval_id),
                name: format!("{label}__{name}"),
                arguments: arguments.clone(),
                approval_id: approval_id.clone(),
            });
            return;
        };
        let Some(server) = runner.servers.get(callable.server) else { return };
        let Some(tool) = server.tools.get(callable.tool) else { return };
        let pinned = PinnedCall { server: &server.choice, tool, arguments };
        if runner.pins.proves_approval(approval_id, pinned) {
            runner.approved.push(ApprovedCall {
                call_id: build_call_id(approval_id),
                name: function.clone(),
                arguments: arguments.clone(),
                approval_id: approval_id.clone(),
            });
            return;
        }
        let stem = format!("{}_{}", runner.request_id.as_str(), runner.progress.approvals);
        let id = runner.pins.build_approval_id(&stem, pinned);
        runner.progress.approvals += 1;
        runner.waits = true;
        let item = McpItem::Approval { label: label.clone(), name: name.clone() };
        self.start.push(McpStartItem { id, item, arguments: arguments.clone() });
    }
}

/// The server with its tools from the conversation, if their list is proved. Servers of approved
/// calls are listed again, because their tools may have changed since.
fn find_known(choice: McpServerChoice, history: &McpHistory, pins: &McpPins) -> ServerToList {
    let is_resumed = history.resumed.iter().any(|resumed| resumed.label == choice.label);
    let list = history
        .find_list(&choice.label)
        .filter(|list| !is_resumed && pins.proves_list(&list.id, &choice, &list.tools));
    let known = list.map(|list| list.tools.clone());
    ServerToList { choice, known }
}

/// The lists to return: those of servers that were listed now, unless the conversation has the same.
fn list_items(
    call: &PaidCall,
    servers: &[ListedServer],
    history: &McpHistory,
    pins: &McpPins,
) -> Vec<McpStartItem> {
    let mut items = Vec::new();
    for (number, server) in servers.iter().enumerate().filter(|it| it.1.is_new) {
        let ListedServer { choice, tools, error, .. } = server;
        let is_unchanged = history.find_list(&choice.label).is_some_and(|list| {
            let proves = |tools| pins.proves_list(&list.id, choice, tools);
            proves(&list.tools) && proves(tools)
        });
        if is_unchanged && error.is_none() {
            continue;
        }
        let stem = format!("{}_{number}", call.request_id.as_str());
        let id = pins.build_list_id(&stem, choice, tools);
        let label = choice.label.clone();
        let tools = match error {
            Some(error) => Err(error.clone()),
            None => Ok(tools.iter().map(to_listed_tool).collect()),
        };
        let item = McpItem::List { label, tools };
        items.push(McpStartItem { id, item, arguments: String::new() });
    }
    items
}

/// The tools that `tool_choice` names.
struct SelectedTools<'a> {
    chosen: Option<&'a McpSelection>,
    allowed: Option<&'a [McpSelection]>,
}

impl SelectedTools<'_> {
    fn allows(&self, label: &str, name: &str) -> bool {
        self.allowed.is_none_or(|allowed| {
            allowed.iter().any(|it| {
                it.label == label && it.name.as_deref().is_none_or(|allowed| allowed == name)
            })
        })
    }
}

fn add_tools(
    servers: &[ListedServer],
    selected: &SelectedTools<'_>,
    table: &mut ToolTable,
) -> HashMap<String, CallableTool> {
    let mut tools = HashMap::new();
    for (server_index, server) in servers.iter().enumerate() {
        let label = server.choice.label.as_str();
        for (tool_index, tool) in server.tools.iter().enumerate() {
            if !selected.allows(label, &tool.name) {
                continue;
            }
            let needs_approval = server.choice.approval.needs_approval(tool);
            let Some(function) = table.insert_mcp(label, tool, needs_approval) else { continue };
            let callable = CallableTool { server: server_index, tool: tool_index, needs_approval };
            tools.insert(function, callable);
        }
    }
    tools
}

/// Makes the model call the chosen tool, or one of the chosen server.
fn apply_choice(
    selected: &SelectedTools<'_>,
    tools: &HashMap<String, CallableTool>,
    servers: &[ListedServer],
    table: &mut ToolTable,
    chat: &mut ChatRequest,
) -> Result<(), Refusal> {
    let Some(McpSelection { label, name }) = selected.chosen else { return Ok(()) };
    let Some(name) = name else {
        table.retain_mcp(label);
        chat.tool_choice = Some(ToolChoicePolicy::Required);
        return Ok(());
    };
    let found = tools.iter().find(|(_, callable)| {
        let server = servers.get(callable.server);
        server.is_some_and(|server| {
            let tool = server.tools.get(callable.tool);
            server.choice.label == *label && tool.is_some_and(|tool| tool.name == *name)
        })
    });
    let Some((function, _)) = found else {
        let mut faults = ValidationFaults::default();
        faults.at(["tool_choice", "name"]).push("The server offers no such tool");
        return Err(Refusal::invalid_request(&faults));
    };
    chat.tool_choice = Some(ToolChoicePolicy::Function(function.clone()));
    Ok(())
}

fn read_server(
    call: &PaidCall,
    fields: &McpToolFields,
    place: &[PathStep],
    faults: &mut ValidationFaults,
) -> Option<McpServerChoice> {
    let mut is_valid = true;
    let mut refuse = |field: &str, message: &str| {
        push(faults, place, field, message);
        is_valid = false;
    };
    if fields.connector_id.is_some() {
        refuse("connector_id", "This service has no connectors; name a server by its label");
    }
    if fields.tunnel_id.is_some() {
        refuse("tunnel_id", "This service has no tunnels; name a server by its label");
    }
    if fields.defer_loading == Some(true) {
        refuse("defer_loading", "Tools of MCP servers are offered from the start; leave it out");
    }
    let Some(label) = fields.server_label.as_deref() else {
        refuse("server_label", "Required");
        return None;
    };
    let wish = ServerWish {
        label,
        url: fields.server_url.as_deref(),
        authorization: fields.authorization.as_ref(),
        headers: fields.headers.as_ref(),
        filter: to_allowed_filter(fields.allowed_tools.as_ref()),
        approval: to_policy(fields.require_approval.as_ref()),
    };
    match McpServerChoice::choose(call, wish) {
        Ok(server) => is_valid.then_some(server),
        Err(wrong) => {
            for fault in wrong {
                let field = match fault.field {
                    WishField::Label => "server_label",
                    WishField::Url => "server_url",
                    WishField::Authorization => "authorization",
                    WishField::Headers => "headers",
                };
                push(faults, place, field, &fault.message);
            }
            None
        }
    }
}

fn push(faults: &mut ValidationFaults, place: &[PathStep], field: &str, message: &str) {
    faults.at(place.iter().cloned().chain([field.into()])).push(message);
}

fn to_allowed_filter(allowed: Option<&McpAllowedTools>) -> McpToolFilter {
    match allowed {
        None => McpToolFilter::default(),
        Some(McpAllowedTools::Names(names)) => {
            McpToolFilter { names: Some(names.clone()), ..McpToolFilter::default() }
        }
        Some(McpAllowedTools::Filter(filter)) => to_filter(filter),
    }
}

fn to_filter(filter: &McpToolsFilter) -> McpToolFilter {
    McpToolFilter {
        names: filter.tool_names.clone(),
        read_only: filter.read_only,
        ..McpToolFilter::default()
    }
}

fn to_policy(setting: Option<&McpApprovalSetting>) -> ApprovalPolicy {
    match setting {
        None | Some(McpApprovalSetting::Mode(McpApprovalMode::Always)) => ApprovalPolicy::ALWAYS,
        Some(McpApprovalSetting::Mode(McpApprovalMode::Never)) => ApprovalPolicy::NEVER,
        Some(McpApprovalSetting::Filters(filters)) => ApprovalPolicy {
            by_default: true,
            always: filters.always.as_ref().map(to_filter),
            never: filters.never.as_ref().map(to_filter),
        },
    }
}
