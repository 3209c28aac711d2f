//! What a conversation says about MCP servers: lists, calls, and decisions about calls.

use std::collections::{HashMap, HashSet};

use mcp_client::McpTool;
use schema_check::{PathStep, ValidationFaults};
use wire::responses::{
    Input, InputItem, McpApprovalResponse, McpListedTool, PastItem, PastMcpApprovalRequest,
};

/// A list of tools that an earlier response may have returned.
#[derive(Debug, Clone)]
pub(super) struct PastList {
    pub(super) id: String,
    pub(super) tools: Vec<McpTool>,
}

/// A call that the caller has approved and that was not made yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResumedCall {
    /// Index of the decision in the input.
    pub(super) index: usize,
    pub(super) label: String,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) approval_id: String,
}

/// The state of a call that needed approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallDecision {
    /// It was made: another item has it.
    Made,
    Approved,
    Refused {
        reason: Option<String>,
    },
    None,
}

#[derive(Debug, Default)]
pub(super) struct McpHistory {
    /// The last list of each server.
    lists: HashMap<String, PastList>,
    decisions: HashMap<String, CallDecision>,
    /// The approved calls, in order.
    pub(super) resumed: Vec<ResumedCall>,
}

impl McpHistory {
    /// Reads the items about MCP servers. Faults are decisions about nothing.
    pub(super) fn collect(input: &Input, faults: &mut ValidationFaults) -> McpHistory {
        let Input::Items(items) = input else { return McpHistory::default() };
        let mut history = McpHistory::default();
        let (mut requests, mut made) = (HashMap::new(), HashSet::new());
        for item in items {
            match item {
                InputItem::Past(PastItem::McpListTools(list)) => {
                    let id = list.id.clone().unwrap_or_default();
                    let tools = list.tools.iter().cloned().map(to_tool).collect();
                    history.lists.insert(list.server_label.clone(), PastList { id, tools });
                }
                InputItem::Past(PastItem::McpCall(call)) => {
                    made.extend(call.approval_request_id.clone());
                }
                InputItem::Past(PastItem::McpApprovalRequest(request)) => {
                    requests.insert(request.id.clone(), request);
                }
                _ => {}
            }
        }
        for (index, item) in items.iter().enumerate() {
            if let InputItem::Past(PastItem::McpApprovalResponse(response)) = item {
                history.add_decision(index, response, &requests, faults);
            }
        }
        for id in made {
            history.resumed.retain(|call| call.approval_id != id);
            history.decisions.insert(id, CallDecision::Made);
        }
        history
    }

    fn add_decision(
        &mut self,
        index: usize,
        response: &McpApprovalResponse,
        requests: &HashMap<String, &PastMcpApprovalRequest>,
        faults: &mut ValidationFaults,
    ) {
        let id = &response.approval_request_id;
        let Some(request) = requests.get(id) else {
            let path = [PathStep::from("input"), index.into(), "approval_request_id".into()];
            let message = "`input` has no mcp_approval_request with this id; send it along";
            faults.at(path).push(message);
            return;
        };
        // Of several decisions about a call the last one counts.
        self.resumed.retain(|call| call.approval_id != *id);
        let decision = if response.approve {
            self.resumed.push(ResumedCall {
                index,
                label: request.server_label.clone(),
                name: request.name.clone(),
                arguments: request.arguments.clone(),
                approval_id: id.clone(),
            });
            CallDecision::Approved
        } else {
            CallDecision::Refused { reason: response.reason.clone() }
        };
        self.decisions.insert(id.clone(), decision);
    }

    pub(super) fn find_decision(&self, approval_id: &str) -> CallDecision {
        self.decisions.get(approval_id).cloned().unwrap_or(CallDecision::None)
    }

    pub(super) fn find_list(&self, label: &str) -> Option<&PastList> {
        self.lists.get(label)
    }
}

fn to_tool(tool: McpListedTool) -> McpTool {
    let McpListedTool { name, description, input_schema, annotations } = tool;
    McpTool { name, description, input_schema, annotations }
}

pub(super) fn to_listed_tool(tool: &McpTool) -> McpListedTool {
    let McpTool { name, description, input_schema, annotations } = tool.clone();
    McpListedTool { name, description, input_schema, annotations }
}
