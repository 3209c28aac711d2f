//! A Checkout session: Stripe's page on which a person pays.

use serde_json::Value;

use super::STRIPE_ANSWER_BYTES_MAX;
use crate::amount::UsdCents;
use crate::lenient::{StripeFault, StripeObject, parse_json};
use crate::order::CardOrderId;
use crate::stripe_id::StripeId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutSession {
    pub id: StripeId,
    pub payment: SessionPayment,
    /// Our order, if the session is one of ours.
    pub order: Option<CardOrderId>,
    pub intent: Option<StripeId>,
    pub customer: Option<StripeId>,
    /// The sum without tax and discounts.
    pub amount_subtotal: Option<UsdCents>,
    /// The page, while the session is open.
    pub url: Option<String>,
}

/// The state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionPayment {
    /// The person has not finished.
    Open,
    /// The person has finished, and the money comes later: bank debits and the like.
    Processing,
    /// The money is there, as far as the session knows: the PaymentIntent decides.
    Paid,
    /// Nothing will be paid.
    Expired,
}

impl CheckoutSession {
    pub fn parse(bytes: &[u8]) -> Result<CheckoutSession, StripeFault> {
        CheckoutSession::read(&parse_json(bytes, STRIPE_ANSWER_BYTES_MAX)?)
    }

    pub(crate) fn read(value: &Value) -> Result<CheckoutSession, StripeFault> {
        let object = StripeObject::new("checkout.session", value)?;
        let payment = match (object.text("status"), object.text("payment_status")) {
            (Some("expired"), _) => SessionPayment::Expired,
            (Some("open"), _) => SessionPayment::Open,
            (_, Some("paid")) => SessionPayment::Paid,
            (Some("complete"), _) => SessionPayment::Processing,
            _ => SessionPayment::Open,
        };
        let order = object.text("client_reference_id").or(object.metadata("tollgate_order"));
        Ok(CheckoutSession {
            id: object.require_id()?,
            payment,
            order: order.and_then(CardOrderId::parse),
            intent: object.reference("payment_intent"),
            customer: object.reference("customer"),
            amount_subtotal: object.amount("amount_subtotal")?,
            url: object.text("url").filter(|url| url.starts_with("http")).map(str::to_owned),
        })
    }
}
