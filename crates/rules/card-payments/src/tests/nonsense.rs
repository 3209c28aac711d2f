//! No answer of Stripe's, or of anyone in its place, causes a panic or moves more than an order.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use super::world::{StripePayment, id, order, usd};
use crate::*;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0_u32..3000).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        prop::sample::select(vec!["won", "lost", "succeeded", "failed", "usd", "pi_1", "charge"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| vec(inner, 0..4).prop_map(Value::from))
}

fn read_all(bytes: &[u8]) {
    let _ = StripeEvent::parse(bytes);
    let _ = CheckoutSession::parse(bytes);
    let _ = PaymentIntent::parse(bytes);
    let _ = StripeCharge::parse(bytes);
    let _ = StripeRefund::parse(bytes);
    let _ = StripeDispute::parse(bytes);
    let _ = EarlyFraudWarning::parse(bytes);
    let _ = StripeError::parse(bytes);
    let _ = StripeList::parse_refunds(bytes);
    let _ = StripeList::parse_events(bytes);
    let _ = judge_attempt_answer(200, bytes);
    let _ = judge_attempt_answer(402, bytes);
}

/// Replaces one value anywhere within another.
fn replace_anywhere(value: &mut Value, at: Index, with: &Value) {
    fn places(value: &Value, here: &str, found: &mut Vec<String>) {
        found.push(here.to_owned());
        match value {
            Value::Object(fields) => {
                for (name, inner) in fields {
                    places(inner, &format!("{here}/{name}"), found);
                }
            }
            Value::Array(items) => {
                for (index, inner) in items.iter().enumerate() {
                    places(inner, &format!("{here}/{index}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    places(value, "", &mut found);
    *value.pointer_mut(&found[at.index(found.len())]).unwrap() = with.clone();
}

#[test]
fn deep_nesting_is_refused() {
    let nested = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    read_all(nested.as_bytes());
    read_all(format!("{{\"id\":\"evt_1\",\"type\":\"x\",\"data\":{nested}}}").as_bytes());
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_survived(bytes in vec(any::<u8>(), 0..300), text in "(?s).{0,100}") {
        read_all(&bytes);
        let secret = WebhookSecret::parse("whsec_x").unwrap();
        prop_assert!(verify_webhook(&secret, &text, &bytes, super::world::now()).is_err());
        let _ = ReturnUrl::parse("https://api.example.com", &text);
        let _ = StripeId::parse(&text);
    }

    #[test]
    fn no_answer_moves_more_than_the_order(
        at in any::<Index>(), with in any_json(), net in 0_i64..1000,
    ) {
        let mut payment = StripePayment::paid(1000);
        payment.refund(300, "succeeded");
        payment.dispute(200, "needs_response", &[-200]);
        payment.warn();
        let mut whole = serde_json::json!({
            "intent": payment.intent, "refunds": payment.refunds, "disputes": payment.disputes,
        });
        replace_anywhere(&mut whole, at, &with);
        read_all(whole["intent"].to_string().as_bytes());
        read_all(whole["disputes"].to_string().as_bytes());
        let list = |field: &str| {
            serde_json::json!({"object": "list", "data": whole[field], "has_more": false}).to_string()
        };
        let (Ok(intent), Ok(refunds), Ok(disputes)) = (
            PaymentIntent::parse(whole["intent"].to_string().as_bytes()),
            StripeList::parse_refunds(list("refunds").as_bytes()),
            StripeList::parse_disputes(list("disputes").as_bytes()),
        ) else { return Ok(()) };
        let Ok(facts) = PaymentFacts::new(intent, refunds, disputes, StripeList::empty()) else {
            return Ok(());
        };
        let standing = judge_payment(&order(1000), &facts, &[]);
        let books = PaymentBooks { revision: 3, net: usd(net) };
        if let Some(movement) = decide_movement(&id("pi_1"), books, &standing) {
            prop_assert!(movement.amount.is_positive() && movement.amount <= usd(1000));
            prop_assert!(!movement.books.net.is_negative() && movement.books.net <= usd(1000));
        }
        let _ = decide_freezes(&[], &facts);
    }
}
