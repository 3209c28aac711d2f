//! A PaymentIntent: the one object that says if a payment was made. Credit is per PaymentIntent.

use serde_json::Value;

use super::STRIPE_ANSWER_BYTES_MAX;
use crate::amount::UsdCents;
use crate::lenient::{StripeFault, StripeObject, parse_json};
use crate::order::{CardOrderId, StripeMode};
use crate::stripe_id::StripeId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentIntent {
    pub id: StripeId,
    pub status: IntentStatus,
    /// Our order, if the payment is one of ours.
    pub order: Option<CardOrderId>,
    /// The amount that has arrived, with tax.
    pub amount_received: UsdCents,
    /// In lower case.
    pub currency: String,
    pub mode: StripeMode,
    pub customer: Option<StripeId>,
    pub payment_method: Option<StripeId>,
    pub latest_charge: Option<StripeId>,
    /// The code of the last failure, such as `card_declined`.
    pub failure: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntentStatus {
    /// Something is needed from the customer: a card, or its confirmation.
    NeedsCustomer,
    /// The card was declined, or none was given yet.
    NeedsPaymentMethod,
    /// The money is on its way, for days with some methods.
    Processing,
    Succeeded,
    Canceled,
    /// A state that we do not know: nothing follows from it.
    Unknown,
}

impl IntentStatus {
    fn parse(name: &str) -> IntentStatus {
        match name {
            "requires_action" | "requires_confirmation" => IntentStatus::NeedsCustomer,
            "requires_payment_method" => IntentStatus::NeedsPaymentMethod,
            "processing" => IntentStatus::Processing,
            "succeeded" => IntentStatus::Succeeded,
            "canceled" => IntentStatus::Canceled,
            _ => IntentStatus::Unknown,
        }
    }
}

impl PaymentIntent {
    pub fn parse(bytes: &[u8]) -> Result<PaymentIntent, StripeFault> {
        PaymentIntent::read(&parse_json(bytes, STRIPE_ANSWER_BYTES_MAX)?)
    }

    pub(crate) fn read(value: &Value) -> Result<PaymentIntent, StripeFault> {
        let object = StripeObject::new("payment_intent", value)?;
        let failure =
            object.get("last_payment_error").and_then(|error| error.get("code")?.as_str());
        Ok(PaymentIntent {
            id: object.require_id()?,
            status: IntentStatus::parse(object.require_text("status")?),
            order: object.metadata("tollgate_order").and_then(CardOrderId::parse),
            amount_received: object.amount("amount_received")?.unwrap_or_default(),
            currency: object.require_text("currency")?.to_ascii_lowercase(),
            mode: StripeMode::from_livemode(object.require_flag("livemode")?),
            customer: object.reference("customer"),
            payment_method: object.reference("payment_method"),
            latest_charge: object.reference("latest_charge"),
            failure: failure.map(|code| code.chars().take(64).collect()),
        })
    }
}
