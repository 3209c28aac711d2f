//! A charge: one try of a PaymentIntent.

use serde_json::Value;

use super::STRIPE_ANSWER_BYTES_MAX;
use crate::amount::UsdCents;
use crate::lenient::{StripeFault, StripeObject, parse_json};
use crate::stripe_id::StripeId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeCharge {
    pub id: StripeId,
    pub intent: Option<StripeId>,
    /// The sum of all refunds so far.
    pub amount_refunded: UsdCents,
    pub is_disputed: bool,
}

impl StripeCharge {
    pub fn parse(bytes: &[u8]) -> Result<StripeCharge, StripeFault> {
        StripeCharge::read(&parse_json(bytes, STRIPE_ANSWER_BYTES_MAX)?)
    }

    pub(crate) fn read(value: &Value) -> Result<StripeCharge, StripeFault> {
        let object = StripeObject::new("charge", value)?;
        Ok(StripeCharge {
            id: object.require_id()?,
            intent: object.reference("payment_intent"),
            amount_refunded: object.amount("amount_refunded")?.unwrap_or_default(),
            is_disputed: object.is_true("disputed"),
        })
    }
}
