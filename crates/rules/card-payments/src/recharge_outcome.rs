//! The outcome of charging a kept card.

use crate::objects::{IntentStatus, PaymentIntent, StripeError};
use crate::order::CardOrderId;
use crate::stripe_id::StripeId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The books decide about the credit.
    Paid(StripeId),
    /// The money is on its way. The attempt stays open until the PaymentIntent is decided.
    Processing(StripeId),
    /// The issuer wants the holder to confirm (strong customer authentication). Cancel the
    /// PaymentIntent, and send a link to a Checkout.
    NeedsCustomer { intent: Option<StripeId> },
    /// Nothing was paid, for good.
    Declined { code: String },
    /// It may have been paid, or may still be: the attempt stays open.
    Unknown,
}

/// Judges the answer to [`StripeCall::charge_off_session`](crate::StripeCall::charge_off_session).
pub fn judge_attempt_answer(status: u16, body: &[u8]) -> AttemptOutcome {
    match status {
        200..=299 => match PaymentIntent::parse(body) {
            Ok(intent) => judge_intent(&intent),
            Err(_) => AttemptOutcome::Unknown,
        },
        402 => judge_error(StripeError::parse(body)),
        400 | 404 => {
            let error = StripeError::parse(body);
            // Another request had this key: what that one did is not known here.
            if error.kind == "invalid_request_error" {
                judge_error(error)
            } else {
                AttemptOutcome::Unknown
            }
        }
        // Our key is wrong (401, 403), the same request is running (409), too many requests (429),
        // or Stripe fails: none of them says that nothing was paid by this attempt.
        _ => AttemptOutcome::Unknown,
    }
}

/// Finds an attempt among a customer's PaymentIntents since it was made, all pages of them. Without
/// one, Stripe never saw the attempt.
pub fn find_attempt_outcome(order: CardOrderId, intents: &[PaymentIntent]) -> AttemptOutcome {
    let found = intents.iter().find(|intent| intent.order == Some(order));
    found.map_or(AttemptOutcome::Declined { code: "never_made".to_owned() }, judge_intent)
}

fn judge_intent(intent: &PaymentIntent) -> AttemptOutcome {
    let id = intent.id.clone();
    match intent.status {
        IntentStatus::Succeeded => AttemptOutcome::Paid(id),
        IntentStatus::Processing => AttemptOutcome::Processing(id),
        IntentStatus::NeedsCustomer => AttemptOutcome::NeedsCustomer { intent: Some(id) },
        IntentStatus::NeedsPaymentMethod if is_confirmation(intent.failure.as_deref()) => {
            AttemptOutcome::NeedsCustomer { intent: Some(id) }
        }
        IntentStatus::NeedsPaymentMethod => declined(intent.failure.as_deref()),
        IntentStatus::Canceled => declined(Some("canceled")),
        IntentStatus::Unknown => AttemptOutcome::Unknown,
    }
}

fn judge_error(error: StripeError) -> AttemptOutcome {
    if error.kind.is_empty() {
        return AttemptOutcome::Unknown;
    }
    let is_confirmation =
        is_confirmation(error.code.as_deref()) || is_confirmation(error.decline_code.as_deref());
    if is_confirmation {
        return AttemptOutcome::NeedsCustomer { intent: error.intent };
    }
    declined(error.decline_code.as_deref().or(error.code.as_deref()))
}

fn is_confirmation(code: Option<&str>) -> bool {
    code == Some("authentication_required")
}

fn declined(code: Option<&str>) -> AttemptOutcome {
    AttemptOutcome::Declined { code: code.unwrap_or("declined").to_owned() }
}
