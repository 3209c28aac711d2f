//! Lets a page have a wallet pay: the terms, and on Solana a transaction to sign.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::entropy::request_id;
use http_frame::app::{AppState, SharedApp};
use http_frame::discovery::X402_VERSION;
use http_frame::refusal::Refusal;
use http_frame::session;
use payments::UnsignedPaymentFault;
use serde::Deserialize;
use serde_json::{Value, json};
use wallet::{SolanaAddress, TokenAmount};

use crate::console::sign_in::uncached_json;
use crate::console::small_body::read_small_body;

const BODY_BYTES_MAX: usize = 1024;
/// Error reason; the page shows the message unchanged.
const CANNOT_PAY: &str = "Cannot be paid";

/// The terms of a top-up, as `POST /x402/top-up` returns them, but with status 200: browsers log a
/// 402 as an error.
pub(super) async fn show_terms(State(app): State<SharedApp>) -> Response {
    uncached_json(&json!({ "x402Version": X402_VERSION, "accepts": app.wallets.accepts() }))
}

/// An unsigned Solana transaction for the wallet to sign. The page has no chain node and builds
/// nothing itself; the signed transaction is checked like any other payment.
pub(super) async fn solana_payment(State(app): State<SharedApp>, request: Request) -> Response {
    compose_payment(&app, request)
        .await
        .map_or_else(IntoResponse::into_response, |it| uncached_json(&it))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SolanaPaymentRequest {
    payer: String,
    /// In base units of the token, as in the terms.
    amount: String,
}

async fn compose_payment(app: &AppState, request: Request) -> Result<Value, Refusal> {
    let (parts, body) = request.into_parts();
    session::authenticate_session(app, &parts.headers, app.clock.now()).await?;
    let body = read_small_body(app, &parts, body, BODY_BYTES_MAX).await?;
    let wanted: SolanaPaymentRequest =
        serde_json::from_slice(&body).map_err(|_| Refusal::not_json())?;
    let payer = SolanaAddress::parse(&wanted.payer);
    let payer = payer.ok_or_else(|| cannot_pay("`payer` is no address of Solana's."))?;
    let amount = wanted.amount.parse().ok().and_then(TokenAmount::from_units);
    let amount = amount.ok_or_else(|| cannot_pay("`amount` is no number of base units."))?;
    let payments = app.wallets.payments.as_ref();
    let payments =
        payments.ok_or_else(|| cannot_pay(UnsignedPaymentFault::NotTaken.to_string()))?;
    let memo = request_id(app.entropy.as_ref());
    match payments.unsigned_on_solana(payer, amount, &memo).await {
        Ok(transaction) => Ok(json!({ "transaction": STANDARD.encode(transaction) })),
        Err(UnsignedPaymentFault::Setback(cause)) => Err(Refusal::unavailable(cause)),
        Err(fault) => Err(cannot_pay(fault.to_string())),
    }
}

fn cannot_pay(message: impl Into<String>) -> Refusal {
    Refusal::bad_request(CANNOT_PAY, message)
}
