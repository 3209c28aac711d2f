//! Requests that read.

use moment::Timestamp;

use super::{StripeCall, StripeMethod};
use crate::form::StripeForm;
use crate::stripe_id::StripeId;

/// The items of a page, the most that Stripe gives.
pub const PAGE_ITEMS_MAX: usize = 100;
/// The time that Stripe keeps events, in seconds. A service that was away for longer looks at its
/// open orders and recent payments instead.
pub const EVENTS_KEPT_S: u64 = 30 * 24 * 3600;

/// The events that lead to a look at a payment.
const EVENT_TYPES: [&str; 16] = [
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "payment_intent.succeeded",
    "payment_intent.payment_failed",
    "payment_intent.canceled",
    "charge.refunded",
    "refund.created",
    "refund.updated",
    "refund.failed",
    "charge.dispute.created",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.funds_reinstated",
    "charge.dispute.closed",
    "radar.early_fraud_warning.created",
];

impl StripeCall {
    pub fn retrieve_session(session: &StripeId) -> StripeCall {
        get(&format!("/v1/checkout/sessions/{session}"), StripeForm::new())
    }

    pub fn retrieve_intent(intent: &StripeId) -> StripeCall {
        get(&format!("/v1/payment_intents/{intent}"), StripeForm::new())
    }

    pub fn retrieve_charge(charge: &StripeId) -> StripeCall {
        get(&format!("/v1/charges/{charge}"), StripeForm::new())
    }

    pub fn retrieve_dispute(dispute: &StripeId) -> StripeCall {
        get(&format!("/v1/disputes/{dispute}"), StripeForm::new())
    }

    /// The refunds of a payment, after the last one of the page before.
    pub fn list_refunds(intent: &StripeId, after: Option<&StripeId>) -> StripeCall {
        list("/v1/refunds", of_intent(intent), after)
    }

    pub fn list_disputes(intent: &StripeId, after: Option<&StripeId>) -> StripeCall {
        list("/v1/disputes", of_intent(intent), after)
    }

    pub fn list_warnings(intent: &StripeId, after: Option<&StripeId>) -> StripeCall {
        list("/v1/radar/early_fraud_warnings", of_intent(intent), after)
    }

    /// The PaymentIntents of a customer since a time, newest first: for an attempt whose answer was
    /// lost.
    pub fn list_intents(
        customer: &StripeId,
        since: Timestamp,
        after: Option<&StripeId>,
    ) -> StripeCall {
        let form = StripeForm::new()
            .set(&["customer"], customer.as_str())
            .set(&["created", "gte"], since.seconds().to_string());
        list("/v1/payment_intents", form, after)
    }

    /// The events since a time, newest first: what webhooks may have missed.
    pub fn list_events(since: Timestamp, after: Option<&StripeId>) -> StripeCall {
        let mut form = StripeForm::new().set(&["created", "gte"], since.seconds().to_string());
        for (index, kind) in EVENT_TYPES.iter().enumerate() {
            form = form.set(&["types", &index.to_string()], kind);
        }
        list("/v1/events", form, after)
    }
}

fn of_intent(intent: &StripeId) -> StripeForm {
    StripeForm::new().set(&["payment_intent"], intent.as_str())
}

fn list(path: &str, form: StripeForm, after: Option<&StripeId>) -> StripeCall {
    let form = form.set(&["limit"], PAGE_ITEMS_MAX.to_string());
    get(path, form.set_some(&["starting_after"], after.map(StripeId::as_str)))
}

fn get(path: &str, query: StripeForm) -> StripeCall {
    let query = query.finish();
    let path = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
    StripeCall { method: StripeMethod::Get, path, form: None, idempotency_key: None }
}
