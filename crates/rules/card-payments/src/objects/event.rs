//! An event: the notice that something has changed. It says where to look, and nothing else.

use moment::Timestamp;
use serde_json::Value;

use crate::lenient::{StripeFault, StripeObject, parse_json};
use crate::order::StripeMode;
use crate::stripe_id::StripeId;
use crate::webhook::WEBHOOK_BYTES_MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeEvent {
    pub id: StripeId,
    /// The name of what happened, such as `checkout.session.completed`, cut to 100 characters.
    pub kind: String,
    pub mode: StripeMode,
    pub created: Timestamp,
    pub target: EventTarget,
}

/// The object to fetch from Stripe.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventTarget {
    Session(StripeId),
    Intent(StripeId),
    /// A charge whose PaymentIntent the event does not name: fetch it to learn that.
    Charge(StripeId),
    /// Nothing of ours.
    Nothing,
}

impl StripeEvent {
    /// Reads an event whose signature is verified.
    pub fn parse(bytes: &[u8]) -> Result<StripeEvent, StripeFault> {
        StripeEvent::read(&parse_json(bytes, WEBHOOK_BYTES_MAX)?)
    }

    pub(crate) fn read(value: &Value) -> Result<StripeEvent, StripeFault> {
        let event = StripeObject::new("event", value)?;
        let created = event.get("created").and_then(Value::as_i64).unwrap_or_default();
        let target = event.get("data").and_then(|data| data.get("object")).map(find_target);
        Ok(StripeEvent {
            id: event.require_id()?,
            kind: event.require_text("type")?.chars().take(100).collect(),
            mode: StripeMode::from_livemode(event.is_true("livemode")),
            created: Timestamp::from_ms(created.saturating_mul(1000)),
            target: target.unwrap_or(EventTarget::Nothing),
        })
    }
}

/// The object's kind decides, not the event's name: kinds are few, and names are added.
fn find_target(value: &Value) -> EventTarget {
    let kind = value.get("object").and_then(Value::as_str).unwrap_or_default();
    let known = match kind {
        "checkout.session" => "checkout.session",
        "payment_intent" => "payment_intent",
        "charge" => "charge",
        "refund" => "refund",
        "dispute" => "dispute",
        "radar.early_fraud_warning" => "radar.early_fraud_warning",
        _ => return EventTarget::Nothing,
    };
    let Ok(object) = StripeObject::new(known, value) else { return EventTarget::Nothing };
    let own = object.require_id().ok();
    let found = match known {
        "checkout.session" => own.map(EventTarget::Session),
        "payment_intent" => own.map(EventTarget::Intent),
        "charge" => {
            let intent = object.reference("payment_intent").map(EventTarget::Intent);
            intent.or(own.map(EventTarget::Charge))
        }
        _ => {
            let intent = object.reference("payment_intent").map(EventTarget::Intent);
            intent.or_else(|| object.reference("charge").map(EventTarget::Charge))
        }
    };
    found.unwrap_or(EventTarget::Nothing)
}
