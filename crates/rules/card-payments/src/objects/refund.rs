//! A refund, by us, by the operator in Stripe's dashboard, or by Stripe.

use serde_json::Value;

use super::STRIPE_ANSWER_BYTES_MAX;
use crate::amount::UsdCents;
use crate::lenient::{StripeFault, StripeObject, parse_json};
use crate::refund_request::RefundRequestId;
use crate::stripe_id::StripeId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeRefund {
    pub id: StripeId,
    pub intent: Option<StripeId>,
    pub amount: UsdCents,
    pub status: RefundStatus,
    /// Our request, if the refund follows from one.
    pub request: Option<RefundRequestId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefundStatus {
    /// On its way, or paid out: the money counts as returned from the beginning.
    Returned,
    /// It failed or was cancelled, possibly after it had succeeded: the money is with us again.
    Failed,
}

impl StripeRefund {
    pub fn parse(bytes: &[u8]) -> Result<StripeRefund, StripeFault> {
        StripeRefund::read(&parse_json(bytes, STRIPE_ANSWER_BYTES_MAX)?)
    }

    pub(crate) fn read(value: &Value) -> Result<StripeRefund, StripeFault> {
        let object = StripeObject::new("refund", value)?;
        let status = match object.text("status") {
            Some("failed" | "canceled") => RefundStatus::Failed,
            _ => RefundStatus::Returned,
        };
        Ok(StripeRefund {
            id: object.require_id()?,
            intent: object.reference("payment_intent"),
            amount: object.require_amount("amount")?,
            status,
            request: object.metadata("tollgate_refund").and_then(RefundRequestId::parse),
        })
    }
}
