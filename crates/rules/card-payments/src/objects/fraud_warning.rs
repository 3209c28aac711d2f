//! An early fraud warning: the card's network expects a dispute.

use serde_json::Value;

use super::STRIPE_ANSWER_BYTES_MAX;
use crate::lenient::{StripeFault, StripeObject, parse_json};
use crate::stripe_id::StripeId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyFraudWarning {
    pub id: StripeId,
    pub intent: Option<StripeId>,
    pub charge: Option<StripeId>,
}

impl EarlyFraudWarning {
    pub fn parse(bytes: &[u8]) -> Result<EarlyFraudWarning, StripeFault> {
        EarlyFraudWarning::read(&parse_json(bytes, STRIPE_ANSWER_BYTES_MAX)?)
    }

    pub(crate) fn read(value: &Value) -> Result<EarlyFraudWarning, StripeFault> {
        let object = StripeObject::new("radar.early_fraud_warning", value)?;
        Ok(EarlyFraudWarning {
            id: object.require_id()?,
            intent: object.reference("payment_intent"),
            charge: object.reference("charge"),
        })
    }
}
