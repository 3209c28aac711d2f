//! `POST /x402/top-up`: returns the ways to pay, or credits a payment.

use axum::http::StatusCode;
use axum::response::Response;
use domain::limits::tiers::LimitClass;
use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::discovery::{self, X402_VERSION, encode_base64};
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::home::HomeOwner;
use http_frame::input::{HostHeader, PaymentHeader};
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use http_frame::refusal::x402::X402Refusal;
use http_frame::reply::{HandlerReply, WithHeaders};
use http_frame::wallet_challenge::CalledResource;
use payments::{SettledPayment, TopUpRefusal};
use schemars::SchemaGenerator;
use serde_json::{Value, json};
use wallet::UnverifiedPayment;
use wire::errors::X402Error;
use wire::wallets::{TopUpReply, TopUpRequired, ToppedUp};

const PATH: &str = "/x402/top-up";

/// Response header of a payment that this request sent to its chain. See `SettledPayment::is_new`.
pub(crate) const NEW_PAYMENT: &str = "x-service-new-payment";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post(PATH, top_up_wallet)
        .tag("x402")
        .summary("Top up a wallet's balance with a signed USDC payment")
        .limit(LimitClass::TopUp)
        .home(HomeOwner::OfPayments)
        .build()
}

async fn top_up_wallet(
    app: SharedApp,
    call: ApiCall<AnyCaller, (HostHeader, PaymentHeader)>,
) -> Result<TopUpAnswer, X402Refusal> {
    let (HostHeader(host), PaymentHeader(payment)) = call.input;
    let payments = app.wallets.payments.as_ref().ok_or_else(not_configured)?;
    let Some(payment) = payment else { return Err(require_payment(&app, host.as_deref())) };
    match payments.top_up(&payment).await {
        Ok(settled) => Ok(TopUpAnswer::from_settled(&settled)),
        Err(refused) => Err(refuse_top_up(&payment, &refused)),
    }
}

/// 402 with the body of the specification; the header has all details.
fn require_payment(app: &AppState, host: Option<&str>) -> X402Refusal {
    let place = CalledResource::at_path(app, host, PATH);
    let body = TopUpRequired { x402_version: X402_VERSION, accepts: app.wallets.accepts() };
    let header = discovery::encode_requirements("Payment required", &place, &body.accepts, None);
    X402Refusal::payment_required(&body, &header)
}

fn not_configured() -> X402Refusal {
    X402Refusal::Payment {
        status: StatusCode::SERVICE_UNAVAILABLE,
        code: "X402_NOT_CONFIGURED",
        message: "This service does not accept wallet payments. Use an API key.".to_owned(),
        details: None,
        cause: None,
    }
}

/// The refusal of a payment that was not credited. A payment that was sent must not be reported as
/// unsent: its client would sign another and pay twice.
fn refuse_top_up(payment: &[u8], refused: &TopUpRefusal) -> X402Refusal {
    let status = match refused {
        TopUpRefusal::Payment(_) | TopUpRefusal::Declined(_) => StatusCode::BAD_REQUEST,
        TopUpRefusal::Pending { .. } => StatusCode::GATEWAY_TIMEOUT,
        TopUpRefusal::Failed | TopUpRefusal::Busy | TopUpRefusal::Unavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
    };
    let mut details = json!({ "reason": refused.reason() });
    if let Some(transaction) = refused.transaction() {
        details["transaction"] = json!(transaction);
    }
    let network = UnverifiedPayment::decode(payment).map(|payment| payment.network.to_string());
    let result = json!({
        "success": false,
        "errorReason": refused.reason(),
        "errorMessage": refused.to_string(),
        "transaction": refused.transaction().unwrap_or_default(),
        "network": network.unwrap_or_default(),
    });
    X402Refusal::Settlement {
        status,
        code: refused.code(),
        message: refused.to_string(),
        details,
        result: encode_base64(&result),
    }
}

/// A credited top-up, with the x402 settlement result in a header.
struct TopUpAnswer(WithHeaders<TopUpReply>);

impl TopUpAnswer {
    fn from_settled(settled: &SettledPayment) -> TopUpAnswer {
        let data = ToppedUp {
            wallet_address: settled.payer.clone(),
            amount_credited: settled.amount.as_f64(),
            new_balance: settled.balance.as_f64(),
            payment_id: settled.payment_id.clone(),
        };
        let result = encode_base64(&encode_settlement(settled));
        // The second name is from version 1 of the protocol.
        let answer = WithHeaders::new(TopUpReply { success: true, data })
            .header("payment-response", &result)
            .header("x-payment-response", &result);
        TopUpAnswer(if settled.is_new { answer.header(NEW_PAYMENT, true) } else { answer })
    }
}

fn encode_settlement(settled: &SettledPayment) -> Value {
    json!({
        "success": true,
        "network": settled.network,
        "payer": settled.payer,
        "transaction": settled.transaction,
    })
}

impl HandlerReply for TopUpAnswer {
    fn into_response(self) -> Result<Response, Refusal> {
        self.0.into_response()
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        WithHeaders::<TopUpReply>::describe(operation, generator);
        operation.refusal::<TopUpRequired>(402, "The payment terms", generator);
        let refusals = [
            (400, "The payment is invalid, or its chain would reject it"),
            (
                503,
                "Payments are not accepted, or this one could not be settled now; no money moved",
            ),
            (504, "The payment was sent and is not confirmed yet; send the same one again"),
        ];
        for (status, meaning) in refusals {
            operation.refusal::<X402Error>(status, meaning, generator);
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use payments::PaymentDecline;
    use wallet::PaymentRefusal;

    use super::*;

    #[test]
    fn a_payment_that_is_not_settled_is_never_answered_as_a_fault_of_the_server() {
        let pending = TopUpRefusal::Pending {
            network: "eip155:8453".to_owned(),
            payer: "0x1".to_owned(),
            transaction: None,
        };
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        for (refused, expected) in [
            (TopUpRefusal::Payment(PaymentRefusal::Network), StatusCode::BAD_REQUEST),
            (TopUpRefusal::Declined(PaymentDecline::new("no", "No")), StatusCode::BAD_REQUEST),
            (pending, StatusCode::GATEWAY_TIMEOUT),
            (TopUpRefusal::Failed, unavailable),
            (TopUpRefusal::Busy, unavailable),
            (TopUpRefusal::Unavailable, unavailable),
        ] {
            let response = refuse_top_up(b"", &refused).into_response();
            assert_eq!(response.status(), expected, "{refused}");
        }
    }

    #[test]
    fn the_cause_of_a_fault_reaches_the_log() {
        let refusal = X402Refusal::from(Refusal::internal("the cause"));
        let X402Refusal::Payment { cause, .. } = refusal else { panic!("{refusal:?}") };
        assert_eq!(cause.map(|cause| cause.to_string()).as_deref(), Some("the cause"));
    }
}
