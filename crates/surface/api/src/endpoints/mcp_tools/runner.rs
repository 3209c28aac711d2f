//! Makes the calls of a model to tools of MCP servers, between its turns.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use engine::{AssistantTurn, ChatContent, ChatMessage, FinishReason, ToolCall};
use futures_util::future::BoxFuture;
use http_frame::input::BodyReservation;
use http_frame::mcp_access::McpBounds;
use http_frame::paid_chat::{
    ConversationEdit, ModelTurn, NextTurn, ToolDesk, ToolEvent, ToolResultText, ToolRunner,
    TurnCall,
};
use http_frame::request_id::RequestId;
use mcp_client::{McpConnection, McpFault, McpTool};
use tokio::time::timeout;

use super::listing::{ListedServer, fault_name};
use super::pins::{McpPins, PinnedCall};

const NO_MEMORY: &str = "The service has no room for another result at the moment.";
const NO_FUNDS: &str = "The balance, or the limit of the key, does not cover the call.";
const FORBIDDEN: &str = "No further calls are possible in this response.";

/// The tool behind the name of a function.
#[derive(Debug, Clone)]
pub(crate) struct CallableTool {
    /// Index of the server.
    pub(crate) server: usize,
    /// Index of the tool among those of the server.
    pub(crate) tool: usize,
    pub(crate) needs_approval: bool,
}

/// A call of an earlier response that the caller has approved.
#[derive(Debug, Clone)]
pub(crate) struct ApprovedCall {
    /// The id of the call in the conversation, which has an empty result for it.
    pub(crate) call_id: String,
    /// The name of the function.
    pub(crate) name: String,
    pub(crate) arguments: String,
    pub(crate) approval_id: String,
}

/// The servers and tools of one response.
pub(crate) struct McpRunner {
    pub(crate) servers: Vec<ListedServer>,
    /// By the name of the function. Calls of other functions are for the client.
    pub(crate) tools: HashMap<String, CallableTool>,
    pub(crate) approved: Vec<ApprovedCall>,
    /// True if the caller must approve something before the model goes on.
    pub(crate) waits: bool,
    pub(crate) bounds: McpBounds,
    pub(crate) calls_max: u64,
    pub(crate) pins: McpPins,
    pub(crate) request_id: RequestId,
    /// The memory of the request, which results are counted in.
    pub(crate) room: Arc<BodyReservation>,
    pub(crate) progress: RunnerProgress,
}

/// The calls so far.
#[derive(Debug, Default)]
pub(crate) struct RunnerProgress {
    calls: u64,
    /// True if the model was told to call nothing.
    forbids_calls: bool,
    /// Ids of calls that the conversation has.
    used_ids: HashSet<String>,
    /// Requests for approval so far, those before the first turn included.
    pub(crate) approvals: usize,
}

/// The result of one call.
enum CallStep {
    Ended(Result<String, String>),
    /// The balance cannot pay for it.
    FundsUsedUp,
}

impl ToolRunner for McpRunner {
    fn begin<'a>(&'a mut self, desk: ToolDesk<'a>) -> BoxFuture<'a, NextTurn> {
        Box::pin(self.run_approved(desk))
    }

    fn follow_up<'a>(&'a mut self, turn: ModelTurn, desk: ToolDesk<'a>) -> BoxFuture<'a, NextTurn> {
        Box::pin(self.run_turn(turn, desk))
    }
}

impl McpRunner {
    async fn run_approved(&mut self, mut desk: ToolDesk<'_>) -> NextTurn {
        let mut edit = ConversationEdit::default();
        let approved = std::mem::take(&mut self.approved);
        let has_calls = !approved.is_empty();
        for (number, call) in (0_u32..).zip(approved) {
            let ApprovedCall { call_id, name, arguments, approval_id } = call;
            let resumed = ToolEvent::Resumed {
                number,
                name: name.clone(),
                arguments: arguments.clone(),
                approval_id,
            };
            desk.report(resumed).await;
            let step = self.run_call(&name, &arguments, &mut desk).await;
            let Some(outcome) = report_step(step, number, &mut desk).await else {
                return NextTurn::FundsUsedUp;
            };
            edit.results.push(ToolResultText { call_id, text: to_model_text(outcome) });
            if !desk.has_caller() {
                return NextTurn::Stop;
            }
        }
        if self.waits {
            return NextTurn::Stop;
        }
        if has_calls {
            desk.report(ToolEvent::NextTurn).await;
        }
        NextTurn::Ask(edit)
    }

    async fn run_turn(&mut self, turn: ModelTurn, mut desk: ToolDesk<'_>) -> NextTurn {
        let ModelTurn { message, calls, finish } = turn;
        let is_cut = matches!(finish, FinishReason::Length | FinishReason::ContentFilter);
        if calls.is_empty() || is_cut {
            return NextTurn::Stop;
        }
        let was_forbidden = self.progress.forbids_calls;
        let mut waits = false;
        let mut results = Vec::new();
        let mut made = Vec::new();
        for TurnCall { number, mut call } in calls {
            match self.tools.get(&call.name).cloned() {
                None => waits = true,
                Some(tool) if tool.needs_approval => {
                    self.ask_for_approval(number, &tool, &call, &mut desk).await;
                    waits = true;
                }
                Some(_) => {
                    let step = if was_forbidden {
                        CallStep::Ended(Err(FORBIDDEN.to_owned()))
                    } else {
                        desk.report(ToolEvent::Started { number }).await;
                        self.run_call(&call.name, &call.arguments, &mut desk).await
                    };
                    let Some(outcome) = report_step(step, number, &mut desk).await else {
                        return NextTurn::FundsUsedUp;
                    };
                    call.id = self.choose_call_id(call.id);
                    let content = ChatContent::Text(to_model_text(outcome));
                    results.push(ChatMessage::Tool { call_id: call.id.clone(), content });
                    made.push(call);
                    if !desk.has_caller() {
                        return NextTurn::Stop;
                    }
                }
            }
        }
        if waits || was_forbidden {
            return NextTurn::Stop;
        }
        let message = AssistantTurn { tool_calls: made, ..message };
        let added = std::iter::once(ChatMessage::Assistant(message)).chain(results).collect();
        self.progress.forbids_calls = self.calls_max <= self.progress.calls;
        let forbids_calls = self.progress.forbids_calls;
        desk.report(ToolEvent::NextTurn).await;
        NextTurn::Ask(ConversationEdit { results: Vec::new(), added, forbids_calls })
    }

    async fn ask_for_approval(
        &mut self,
        number: u32,
        tool: &CallableTool,
        call: &ToolCall,
        desk: &mut ToolDesk<'_>,
    ) {
        let Some((server, described)) = self.find_tool(tool) else { return };
        let stem = format!("{}_{}", self.request_id.as_str(), self.progress.approvals);
        let pinned =
            PinnedCall { server: &server.choice, tool: described, arguments: &call.arguments };
        let approval_id = self.pins.build_approval_id(&stem, pinned);
        self.progress.approvals += 1;
        desk.report(ToolEvent::AwaitsApproval { number, approval_id }).await;
    }

    fn find_tool(&self, tool: &CallableTool) -> Option<(&ListedServer, &McpTool)> {
        let server = self.servers.get(tool.server)?;
        Some((server, server.tools.get(tool.tool)?))
    }

    /// Makes one call, within the bounds of calls and money, and adds it to the charge.
    async fn run_call(&mut self, name: &str, arguments: &str, desk: &mut ToolDesk<'_>) -> CallStep {
        let refuse = |message: &str| CallStep::Ended(Err(message.to_owned()));
        let Some(place) = self.tools.get(name).cloned() else {
            return refuse("There is no such tool.");
        };
        if self.calls_max <= self.progress.calls {
            let max = self.calls_max;
            return CallStep::Ended(Err(format!("A response may make at most {max} calls.")));
        }
        self.progress.calls += 1;
        let call_time_max = self.bounds.call_time_max;
        let Some(server) = self.servers.get_mut(place.server) else {
            return refuse("There is no such server.");
        };
        let Some(tool) = server.tools.get(place.tool).cloned() else {
            return refuse("There is no such tool.");
        };
        let (cost, line) = (server.choice.call_cost(), server.choice.charge_line());
        if !desk.hold_call(cost) {
            return CallStep::FundsUsedUp;
        }
        let called = timeout(call_time_max, call_server(server, &tool, arguments)).await;
        let called = called.unwrap_or(Err(McpFault::TimedOut));
        note_call(&server.choice.label, &tool.name, arguments.len(), &called);
        let outcome = match called {
            Ok(outcome) => outcome,
            Err(fault) => {
                // A session may have ended; the next call begins another one.
                server.connection = None;
                return CallStep::Ended(Err(fault.to_string()));
            }
        };
        if outcome.is_error {
            return CallStep::Ended(Err(outcome.text));
        }
        if self.room.take_more(outcome.text.len()).is_err() {
            return refuse(NO_MEMORY);
        }
        if let Some(line) = line {
            desk.charge_call(line, cost);
        }
        CallStep::Ended(Ok(outcome.text))
    }

    /// The engine's id of a call, unless it has none or gives the same one again.
    fn choose_call_id(&mut self, id: String) -> String {
        let used = &mut self.progress.used_ids;
        let id = if id.is_empty() || used.contains(&id) {
            format!("call_{}_{}", self.progress.calls, used.len())
        } else {
            id
        };
        used.insert(id.clone());
        id
    }
}

async fn call_server(
    server: &mut ListedServer,
    tool: &McpTool,
    arguments: &str,
) -> Result<mcp_client::McpCallOutcome, McpFault> {
    let mut connection = match server.connection.take() {
        Some(connection) => connection,
        None => McpConnection::open(Arc::clone(&server.choice.connector)).await?,
    };
    let outcome = connection.call_tool(tool, arguments).await;
    server.connection = Some(connection);
    outcome
}

/// Reports the end of a call. None if the balance could not pay for it.
async fn report_step(
    step: CallStep,
    number: u32,
    desk: &mut ToolDesk<'_>,
) -> Option<Result<String, String>> {
    let (outcome, is_paid) = match step {
        CallStep::Ended(outcome) => (outcome, true),
        CallStep::FundsUsedUp => (Err(NO_FUNDS.to_owned()), false),
    };
    desk.report(ToolEvent::Ended { number, outcome: outcome.clone() }).await;
    is_paid.then_some(outcome)
}

fn to_model_text(outcome: Result<String, String>) -> String {
    outcome.unwrap_or_else(|error| format!("Error: {error}"))
}

/// Logs a call, without what was sent and returned.
fn note_call(
    server: &str,
    tool: &str,
    argument_bytes: usize,
    called: &Result<mcp_client::McpCallOutcome, McpFault>,
) {
    match called {
        Ok(outcome) => tracing::info!(
            server,
            tool,
            argument_bytes,
            result_bytes = outcome.text.len(),
            is_error = outcome.is_error,
            "a tool of an MCP server was called"
        ),
        Err(fault) => tracing::info!(
            server,
            tool,
            argument_bytes,
            error = fault_name(fault),
            "a call of a tool of an MCP server failed"
        ),
    }
}
