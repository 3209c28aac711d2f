//! Payments in the metadata of a call, as x402's transport for MCP defines them.
//!
//! A payment is credited to the wallet that signed it, by the endpoint that takes payments; then the
//! call is charged to that wallet. A payment identifies its payer only until it is on its chain:
//! from then on anyone can read it and send it again, so a repeated one buys nothing.

use std::time::Duration;

use access::wallets::{self, NonceRefusal};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_frame::discovery::{build_requirements, encode_base64};
use http_frame::inner_call::{InnerCaller, InnerRequest};
use http_frame::refusal::Refusal;
use http_frame::wallet_challenge::CalledResource;
use serde_json::{Map, Value, json};
use wallet::WalletAddress;

use super::McpContext;
use super::tool_result::{self, ToolOutcome};
use super::tools::{self, McpTool, ToolWork};
use crate::endpoints::x402::top_up::NEW_PAYMENT;

/// Metadata of a call with a payment, and of its result.
pub(super) const PAYMENT: &str = "x402/payment";
pub(super) const PAYMENT_RESPONSE: &str = "x402/payment-response";

/// Time for which it is recorded that a payment has bought its call. Only requests that waited for
/// the same settlement can compete for it, and they end within minutes.
const RECORD_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

const ALREADY_CREDITED: &str = "This payment was credited before and buys no further call. Sign in \
    with the wallet to spend its balance, or send a new payment.";

/// A wallet that has just paid.
pub(super) struct ToolPayer {
    pub(super) wallet: WalletAddress,
    /// The settlement, in the words of x402.
    pub(super) settlement: Value,
}

/// The result of a call without a credential: how to pay, or that a key is needed.
pub(super) fn ask_to_authenticate(context: &McpContext, tool: &McpTool) -> ToolOutcome {
    let asked = ask_for_payment(context, tool, "Payment required".to_owned());
    asked.unwrap_or_else(|| {
        ToolOutcome::from_failure(
            "Authentication required. Send the header Authorization: Bearer <API_KEY>.",
        )
    })
}

/// The result that asks for a payment. None if payments are not accepted.
pub(super) fn ask_for_payment(
    context: &McpContext,
    tool: &McpTool,
    message: String,
) -> Option<ToolOutcome> {
    let accepts = context.app.wallets.accepts();
    if accepts.is_empty() {
        return None;
    }
    let uri = format!("mcp://tool/{}", tool.name);
    let place = CalledResource { domain: String::new(), uri };
    Some(ToolOutcome::from_structure(build_requirements(&message, &place, &accepts, None)))
}

/// The message of a response that asks a wallet for money.
pub(super) fn find_shortfall(response: &Response) -> Option<String> {
    let is_asking = response.status() == StatusCode::PAYMENT_REQUIRED;
    let required = decode_header(response.headers(), "payment-required").filter(|_| is_asking)?;
    Some(required["error"].as_str().unwrap_or("Payment required").to_owned())
}

/// The tool `top_up`: credits a payment, or returns the ways to pay.
pub(super) async fn top_up(
    context: &McpContext,
    tool: &McpTool,
    payment: Option<Value>,
) -> ToolOutcome {
    let Some(payment) = payment else {
        let asked = ask_for_payment(context, tool, "Payment required".to_owned());
        return asked.unwrap_or_else(|| {
            ToolOutcome::from_failure("This service takes no wallet payments. Use an API key.")
        });
    };
    let response = send_payment(context, tool, &payment).await;
    match read_failure(context, tool, response).await {
        Err(outcome) => outcome,
        Ok(response) => {
            let settlement = decode_header(response.headers(), "payment-response");
            let result = tool_result::read_response(ToolWork::TopUp, &Map::new(), response).await;
            result.with_meta(PAYMENT_RESPONSE, settlement.unwrap_or_default())
        }
    }
}

/// Credits the payment of a call. The error is the call's result.
pub(super) async fn take_payment(
    context: &McpContext,
    tool: &McpTool,
    payment: &Value,
) -> Result<ToolPayer, ToolOutcome> {
    let Some(payments) = tools::payment_tool() else {
        return Err(fail(Refusal::internal("no tool takes payments")).await);
    };
    let response = send_payment(context, payments, payment).await;
    let response = read_failure(context, tool, response).await?;
    let settlement = decode_header(response.headers(), "payment-response").unwrap_or_default();
    let is_new = response.headers().contains_key(NEW_PAYMENT);
    let body = tool_result::read_json(response).await;
    let wallet = body["data"]["walletAddress"].as_str().and_then(WalletAddress::parse);
    let (Some(wallet), Some(id)) = (wallet, body["data"]["paymentId"].as_str()) else {
        return Err(fail(Refusal::internal("a payment was credited without its payer")).await);
    };
    let refuse_used = |settlement: Value| {
        let asked = ask_for_payment(context, tool, ALREADY_CREDITED.to_owned());
        let asked = asked.unwrap_or_else(|| ToolOutcome::from_failure(ALREADY_CREDITED));
        asked.with_meta(PAYMENT_RESPONSE, settlement)
    };
    if !is_new {
        return Err(refuse_used(settlement));
    }
    let app = &context.app;
    let until = app.clock.now().plus(RECORD_KEPT);
    match wallets::use_nonce(app.store.as_ref(), wallet, format!("mcp {id}"), until).await {
        Ok(()) => Ok(ToolPayer { wallet, settlement }),
        Err(NonceRefusal::Reused) => Err(refuse_used(settlement)),
        Err(NonceRefusal::Unknowable(error)) => {
            let failed = fail(Refusal::unavailable(error)).await;
            Err(failed.with_meta(PAYMENT_RESPONSE, settlement))
        }
    }
}

async fn send_payment(context: &McpContext, payments: &McpTool, payment: &Value) -> Response {
    let Ok(header) = HeaderValue::try_from(encode_base64(payment)) else {
        return Refusal::internal("base64 is no header value").into_response();
    };
    let request = InnerRequest {
        path: payments.path.to_owned(),
        content_type: None,
        body: Vec::new(),
        payment: Some(header),
    };
    let sent = payments.endpoint.run(&context.app, &context.outer, request, InnerCaller::Nobody);
    sent.await.unwrap_or_else(IntoResponse::into_response)
}

/// Returns the response of a credited payment. A payment that was refused may be replaced by
/// another; one whose outcome is unknown must not be, so its result names no way to pay.
async fn read_failure(
    context: &McpContext,
    tool: &McpTool,
    response: Response,
) -> Result<Response, ToolOutcome> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let settlement = decode_header(response.headers(), "payment-response");
    let failed = tool_result::read_response(ToolWork::TopUp, &Map::new(), response).await;
    let asked = match status {
        StatusCode::BAD_REQUEST => ask_for_payment(context, tool, failed.first_text()),
        _ => None,
    };
    let outcome = asked.unwrap_or(failed);
    Err(match settlement {
        Some(settlement) => outcome.with_meta(PAYMENT_RESPONSE, settlement),
        None => outcome,
    })
}

/// The result of a fault of ours, whose cause is logged.
async fn fail(refusal: Refusal) -> ToolOutcome {
    tool_result::read_response(ToolWork::TopUp, &Map::new(), refusal.into_response()).await
}

/// The JSON of a header in base64.
fn decode_header(headers: &HeaderMap, name: &str) -> Option<Value> {
    let bytes = STANDARD.decode(headers.get(name)?.as_bytes()).ok()?;
    serde_json::from_slice::<Value>(&bytes).ok().filter(|it| *it != json!(null))
}
