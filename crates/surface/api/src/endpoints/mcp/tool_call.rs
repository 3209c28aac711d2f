//! Runs `tools/call`: checks the arguments, takes a payment that came with them, and calls the
//! endpoint of the tool.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http_frame::inner_call::{InnerCaller, InnerRequest};
use http_frame::input::run_blocking;
use http_frame::refusal::Refusal;
use serde_json::{Map, Value};
use wire::mcp::McpError;

use super::McpContext;
use super::message::{refuse_params, shorten};
use super::multipart_body;
use super::tool_payment::{self, PAYMENT, PAYMENT_RESPONSE, ToolPayer};
use super::tool_result::{self, ToolOutcome};
use super::tools::{self, McpTool, ToolWork};

/// A call of a tool, read from the parameters.
struct McpToolCall {
    tool: &'static McpTool,
    arguments: Map<String, Value>,
    /// A signed x402 payment.
    payment: Option<Value>,
}

impl McpToolCall {
    fn parse(mut params: Map<String, Value>) -> Result<McpToolCall, McpError> {
        let Some(Value::String(name)) = params.get("name") else {
            return Err(refuse_params("`name` must be the name of a tool."));
        };
        let tool = tools::find_tool(name);
        let tool = tool.ok_or_else(|| refuse_params(format!("Unknown tool: {}", shorten(name))))?;
        let arguments = match params.remove("arguments") {
            None => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err(refuse_params("`arguments` must be an object.")),
        };
        let payment = params.get_mut("_meta").and_then(|meta| meta.get_mut(PAYMENT));
        let payment = payment.map(Value::take);
        if payment.as_ref().is_some_and(|payment| !payment.is_object()) {
            return Err(refuse_params(format!("`_meta[\"{PAYMENT}\"]` must be an object.")));
        }
        Ok(McpToolCall { tool, arguments, payment })
    }

    /// Checks the arguments against the published schema, before a payment is taken. Off the event
    /// loop, because they may be large.
    async fn check_arguments(&mut self) -> Result<(), Refusal> {
        let arguments = Value::Object(std::mem::take(&mut self.arguments));
        let rules = Arc::clone(&self.tool.rules);
        let check = move || (rules.check(&arguments), arguments);
        let (checked, arguments) = run_blocking(check).await?;
        if let Value::Object(arguments) = arguments {
            self.arguments = arguments;
        }
        checked.map_err(|faults| Refusal::invalid_request(&faults))
    }
}

/// Calls a tool. Failures of the tool are results; only a call that names none is an error.
pub(super) async fn call_tool(
    context: &McpContext,
    params: Map<String, Value>,
) -> Result<ToolOutcome, McpError> {
    let mut call = McpToolCall::parse(params)?;
    if call.payment.is_none() && context.holder.is_none() {
        return Ok(tool_payment::ask_to_authenticate(context, call.tool));
    }
    if let Err(refusal) = call.check_arguments().await {
        return Ok(read_refusal(call.tool, refusal).await);
    }
    let McpToolCall { tool, arguments, payment } = call;
    if tool.work == ToolWork::TopUp {
        return Ok(tool_payment::top_up(context, tool, payment).await);
    }
    let payer = match payment {
        None => None,
        Some(payment) => match tool_payment::take_payment(context, tool, &payment).await {
            Ok(payer) => Some(payer),
            Err(outcome) => return Ok(outcome),
        },
    };
    let outcome = run_tool(context, tool, arguments, payer.as_ref()).await;
    Ok(match payer {
        Some(payer) => outcome.with_meta(PAYMENT_RESPONSE, payer.settlement),
        None => outcome,
    })
}

async fn run_tool(
    context: &McpContext,
    tool: &McpTool,
    arguments: Map<String, Value>,
    payer: Option<&ToolPayer>,
) -> ToolOutcome {
    let holder = context.holder.as_deref();
    let caller = match (payer, holder) {
        (Some(payer), _) => InnerCaller::Payer(payer.wallet),
        (None, Some(holder)) => InnerCaller::Holder(holder),
        (None, None) => InnerCaller::Nobody,
    };
    // The balance of a wallet and that of a key's account are shown by different endpoints.
    let wallet = match (payer, holder) {
        (Some(payer), _) => Some(payer.wallet),
        (None, holder) => holder.and_then(|holder| holder.wallet()),
    };
    let (endpoint, path) = match wallet.filter(|_| tool.work == ToolWork::Balance) {
        Some(wallet) => (tools::wallet_balance(), format!("/x402/balance/{wallet}")),
        None => (&tool.endpoint, tool.path.to_owned()),
    };
    let request = match build_request(context, tool, path, &arguments) {
        Ok(request) => request,
        Err(refusal) => return read_refusal(tool, refusal).await,
    };
    let response = endpoint.run(&context.app, &context.outer, request, caller).await;
    let response = response.unwrap_or_else(IntoResponse::into_response);
    if let Some(message) = tool_payment::find_shortfall(&response) {
        let asked = tool_payment::ask_for_payment(context, tool, message);
        if let Some(asked) = asked {
            return asked;
        }
    }
    tool_result::read_response(tool.work, &arguments, response).await
}

/// The request of the endpoint behind a tool.
fn build_request(
    context: &McpContext,
    tool: &McpTool,
    path: String,
    arguments: &Map<String, Value>,
) -> Result<InnerRequest, Refusal> {
    let bare = |path| InnerRequest { path, content_type: None, body: Vec::new(), payment: None };
    Ok(match tool.work {
        ToolWork::Balance | ToolWork::TopUp => bare(path),
        ToolWork::Models => {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            for (name, value) in arguments {
                query.append_pair(name, value.as_str().unwrap_or_default());
            }
            bare(format!("{path}?{}", query.finish()))
        }
        ToolWork::Transcription => {
            let file = multipart_body::decode_file(arguments)
                .map_err(|faults| Refusal::invalid_request(&faults))?;
            let entropy = context.app.entropy.as_ref();
            let form = multipart_body::build_form(arguments, &file, entropy);
            let content_type = Some(form.content_type);
            InnerRequest { path, content_type, body: form.bytes, payment: None }
        }
        ToolWork::Chat
        | ToolWork::Image
        | ToolWork::Speech
        | ToolWork::Search
        | ToolWork::Scrape => InnerRequest {
            path,
            content_type: Some("application/json".to_owned()),
            body: serde_json::to_vec(arguments).map_err(Refusal::internal)?,
            payment: None,
        },
    })
}

async fn read_refusal(tool: &McpTool, refusal: Refusal) -> ToolOutcome {
    let response: Response = refusal.into_response();
    tool_result::read_response(tool.work, &Map::new(), response).await
}
