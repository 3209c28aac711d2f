//! Payments: whatever Stripe says, no more than the order moves, and repeating a look moves nothing.

use card_payments::{
    CardOrder, CardOrderId, PaymentBooks, PaymentFacts, PaymentIntent, PaymentStanding, StripeList,
    StripeMode, UsdCents, decide_freezes, decide_movement, judge_attempt_answer, judge_payment,
};
use money::Nano;
use serde_json::{Value, json};

/// Takes the input as a PaymentIntent with its `refunds`, `disputes` and `warnings`.
pub(crate) fn stripe_payment(bytes: &[u8]) -> bool {
    let _ = judge_attempt_answer(200, bytes);
    let _ = judge_attempt_answer(402, bytes);
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return false };
    let list = |field: &str| {
        let items = value.get(field).cloned().unwrap_or(json!([]));
        json!({"object": "list", "data": items, "has_more": false}).to_string()
    };
    let (Ok(intent), Ok(refunds), Ok(disputes), Ok(warnings)) = (
        PaymentIntent::parse(bytes),
        StripeList::parse_refunds(list("refunds").as_bytes()),
        StripeList::parse_disputes(list("disputes").as_bytes()),
        StripeList::parse_warnings(list("warnings").as_bytes()),
    ) else {
        return false;
    };
    let Ok(facts) = PaymentFacts::new(intent, refunds, disputes, warnings) else { return false };
    let amount = UsdCents::from_cents(1000);
    let id = CardOrderId::parse("00000000-0000-0000-0000-000000000001").expect("an id");
    let order = CardOrder { id, amount, mode: StripeMode::Test, intent: None };
    let standing = judge_payment(&order, &facts, &[]);
    let _ = decide_freezes(&[], &facts);
    for net in [0, 700, 1000] {
        let net = Nano::from_nanos(net * 10_000_000);
        let books = PaymentBooks { revision: u32::from(net != Nano::ZERO), net };
        let Some(movement) = decide_movement(&facts.intent().id, books, &standing) else {
            continue;
        };
        assert!(movement.amount.is_positive() && movement.amount <= amount.to_nano());
        assert!(!movement.books.net.is_negative() && movement.books.net <= amount.to_nano());
        let again = decide_movement(&facts.intent().id, movement.books, &standing);
        assert_eq!(again, None, "a second look");
    }
    matches!(standing, PaymentStanding::Paid(_))
}
