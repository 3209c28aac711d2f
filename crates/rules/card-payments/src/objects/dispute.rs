//! A dispute: the payer's bank asks for the money back.

use serde_json::Value;

use super::STRIPE_ANSWER_BYTES_MAX;
use crate::amount::UsdCents;
use crate::lenient::{StripeFault, StripeObject, parse_json};
use crate::stripe_id::StripeId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeDispute {
    pub id: StripeId,
    pub intent: Option<StripeId>,
    pub status: DisputeStatus,
    pub amount: UsdCents,
    /// The amount that the dispute has taken from us by now, without fees.
    pub withdrawn: UsdCents,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisputeStatus {
    /// An inquiry, or a dispute that was prevented: no money moves for it.
    Inquiry,
    /// Not decided, or in a state that we do not know.
    Open,
    Lost,
    Won,
}

impl StripeDispute {
    pub fn parse(bytes: &[u8]) -> Result<StripeDispute, StripeFault> {
        StripeDispute::read(&parse_json(bytes, STRIPE_ANSWER_BYTES_MAX)?)
    }

    pub(crate) fn read(value: &Value) -> Result<StripeDispute, StripeFault> {
        let object = StripeObject::new("dispute", value)?;
        let status = match object.require_text("status")? {
            "won" => DisputeStatus::Won,
            "lost" => DisputeStatus::Lost,
            "prevented" => DisputeStatus::Inquiry,
            inquiry if inquiry.starts_with("warning_") => DisputeStatus::Inquiry,
            _ => DisputeStatus::Open,
        };
        let amount = object.require_amount("amount")?;
        let currency = object.text("currency").unwrap_or("usd");
        let withdrawn = match object.get("balance_transactions").and_then(Value::as_array) {
            Some(moved) => sum_withdrawn(moved, currency, amount, status),
            None => withdrawn_by_status(amount, status),
        };
        Ok(StripeDispute {
            id: object.require_id()?,
            intent: object.reference("payment_intent"),
            status,
            amount,
            withdrawn,
        })
    }
}

/// The sum of the movements on our balance at Stripe: one when the money leaves and one when it comes
/// back. In another currency than the payment's the rates differ, so there the state decides whether
/// it came back.
fn sum_withdrawn(
    moved: &[Value],
    currency: &str,
    amount: UsdCents,
    status: DisputeStatus,
) -> UsdCents {
    let is_same_currency = |it: &Value| {
        let named = it.get("currency").and_then(Value::as_str);
        named.is_none_or(|named| named.eq_ignore_ascii_case(currency))
    };
    if moved.is_empty() {
        return UsdCents::ZERO;
    }
    if !moved.iter().all(is_same_currency) {
        return withdrawn_by_status(amount, status);
    }
    let amounts = moved.iter().filter_map(|it| it.get("amount").and_then(Value::as_i64));
    let sum: i128 = amounts.map(i128::from).sum();
    let withdrawn = u32::try_from((-sum).max(0)).unwrap_or(u32::MAX);
    UsdCents::from_cents(withdrawn).min(amount)
}

fn withdrawn_by_status(amount: UsdCents, status: DisputeStatus) -> UsdCents {
    match status {
        DisputeStatus::Open | DisputeStatus::Lost => amount,
        DisputeStatus::Inquiry | DisputeStatus::Won => UsdCents::ZERO,
    }
}
