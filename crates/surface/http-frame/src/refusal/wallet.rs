//! Refusals of wallets: an invalid sign-in, too little money, or an unexpected payment.

use std::time::Duration;

use axum::http::StatusCode;
use wallet::SignInRefusal;
use wire::wallets::TopUpNeeded;

use crate::refusal::{Refusal, to_value};

impl Refusal {
    /// 401: the sign-in is not valid, with the reason.
    pub fn invalid_sign_in(refusal: SignInRefusal) -> Refusal {
        let (reason, code) = ("Sign-in-with-X authentication failed", Some(refusal.code()));
        Refusal::standard(StatusCode::UNAUTHORIZED, reason, refusal.to_string(), code)
    }

    /// 401 for endpoints on which a wallet reads its own data: without the reason.
    pub fn sign_in_to_read() -> Refusal {
        let message = "Invalid Sign-in-with-x signature";
        Refusal::standard(StatusCode::UNAUTHORIZED, message, message, None)
    }

    /// 403: the wallet that signed in is not the one in the path.
    pub fn wallet_mismatch() -> Refusal {
        let message = "You can only access resources for your own wallet";
        let code = Some("X402_WALLET_MISMATCH");
        Refusal::standard(StatusCode::FORBIDDEN, "Unauthorized access", message, code)
    }

    /// 400: a payment was sent to an endpoint that takes none. The payment was not used.
    pub(crate) fn payment_not_taken_here() -> Refusal {
        let message = "Payments are taken by POST /api/v1/x402/top-up only; this one was not used. \
                       Top up there, then send this request with SIGN-IN-WITH-X.";
        let code = Some("PAYMENT_HEADER_NOT_ACCEPTED");
        Refusal::standard(StatusCode::BAD_REQUEST, "Payment not accepted here", message, code)
    }

    /// 402 for a wallet with too little money.
    pub(crate) fn top_up_needed(body: &TopUpNeeded, header: &str) -> Refusal {
        let status = StatusCode::PAYMENT_REQUIRED;
        Refusal::with_body(status, "Payment required", to_value(body))
            .header("payment-required", header)
    }

    /// 429: the wallet has the maximum number of requests in progress, `most`.
    pub(crate) fn too_many_wallet_requests(most: usize) -> Refusal {
        let message = format!(
            "Too many concurrent requests: a wallet may have {most} in progress. Wait for one to \
             end."
        );
        let code = Some("X402_CONCURRENCY_LIMIT");
        Refusal::standard(StatusCode::TOO_MANY_REQUESTS, "Rate limit exceeded", message, code)
            .retry_after(Duration::from_secs(1))
    }
}
