//! The items of a response about MCP servers.

use wire::responses::{ItemStatus, McpListedTool, OutputItem};

/// An item about an MCP server, without its id, arguments and status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum McpItem {
    /// The tools of a server, or the reason why there are none.
    List { label: String, tools: Result<Vec<McpListedTool>, String> },
    /// A request for approval.
    Approval { label: String, name: String },
    /// A call, with its result once it has ended.
    Call {
        label: String,
        name: String,
        approval_id: Option<String>,
        outcome: Option<Result<String, String>>,
    },
}

/// An item that is known before the model is asked.
#[derive(Debug, Clone)]
pub(super) struct McpStartItem {
    pub(super) id: String,
    pub(super) item: McpItem,
    pub(super) arguments: String,
}

impl McpItem {
    pub(super) fn id_prefix(&self) -> &'static str {
        match self {
            McpItem::List { .. } => "mcpl",
            McpItem::Approval { .. } => "mcpr",
            McpItem::Call { .. } => "mcp",
        }
    }

    /// The status of the item once it is known before the model is asked.
    pub(super) fn start_status(&self) -> ItemStatus {
        match self {
            McpItem::List { tools: Err(_), .. } => ItemStatus::Failed,
            McpItem::List { .. } | McpItem::Approval { .. } | McpItem::Call { .. } => {
                ItemStatus::Completed
            }
        }
    }

    pub(super) fn to_output_item(
        &self,
        id: String,
        arguments: &str,
        status: ItemStatus,
    ) -> OutputItem {
        let arguments = arguments.to_owned();
        match self.clone() {
            McpItem::List { label: server_label, tools } => {
                let is_begun = status == ItemStatus::InProgress;
                let (tools, error) = match tools {
                    Ok(tools) if !is_begun => (tools, None),
                    Err(error) if !is_begun => (Vec::new(), Some(error)),
                    _ => (Vec::new(), None),
                };
                OutputItem::McpListTools { id, server_label, tools, error }
            }
            McpItem::Approval { label: server_label, name } => {
                OutputItem::McpApprovalRequest { id, server_label, name, arguments }
            }
            McpItem::Call { label: server_label, name, approval_id, outcome } => {
                let (output, error) = match outcome {
                    None => (None, None),
                    Some(Ok(output)) => (Some(output), None),
                    Some(Err(error)) => (None, Some(error)),
                };
                OutputItem::McpCall {
                    id,
                    server_label,
                    name,
                    arguments,
                    output,
                    error,
                    status,
                    approval_request_id: approval_id,
                }
            }
        }
    }
}
