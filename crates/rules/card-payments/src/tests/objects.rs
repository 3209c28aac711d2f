//! Stripe's objects are read leniently, and what counts is never guessed.

use serde_json::{Value, json};

use super::world::{StripePayment, cents, id, order, order_id};
use crate::*;

fn dispute(status: &str, moved: Value) -> StripeDispute {
    let value = json!({
        "id": "dp_1", "object": "dispute", "amount": 1000, "status": status, "currency": "usd",
        "payment_intent": "pi_1", "balance_transactions": moved,
    });
    StripeDispute::parse(value.to_string().as_bytes()).unwrap()
}

fn event(object: Value) -> EventTarget {
    let value = json!({
        "id": "evt_1", "object": "event", "type": "x", "created": 1_795_000_000,
        "livemode": true, "data": {"object": object},
    });
    StripeEvent::parse(value.to_string().as_bytes()).unwrap().target
}

#[test]
fn events_say_where_to_look() {
    let intent = || EventTarget::Intent(id("pi_1"));
    let session = json!({"object": "checkout.session", "id": "cs_1", "payment_intent": null});
    assert_eq!(event(session), EventTarget::Session(id("cs_1")));
    assert_eq!(event(json!({"object": "payment_intent", "id": "pi_1"})), intent());
    let charge = json!({"object": "charge", "id": "ch_1", "payment_intent": {"id": "pi_1"}});
    assert_eq!(event(charge), intent());
    let charge = json!({"object": "charge", "id": "ch_1"});
    assert_eq!(event(charge), EventTarget::Charge(id("ch_1")));
    let refund = json!({"object": "refund", "id": "re_1", "payment_intent": "pi_1"});
    assert_eq!(event(refund), intent());
    let dispute = json!({"object": "dispute", "id": "dp_1", "charge": "ch_1"});
    assert_eq!(event(dispute), EventTarget::Charge(id("ch_1")));
    let warning = json!({"object": "radar.early_fraud_warning", "payment_intent": "pi_1"});
    assert_eq!(event(warning), intent());
    for other in [
        json!({"object": "customer", "id": "cus_1"}),
        json!({"object": "payment_intent", "id": "../pi_1"}),
        json!(null),
        json!({}),
        json!([]),
    ] {
        assert_eq!(event(other), EventTarget::Nothing);
    }
    let list = json!({"object": "list", "has_more": true, "data": [
        {"id": "evt_2", "type": "a.new.kind", "data": {"object": {"object": "novelty"}}},
    ]});
    let events = StripeList::parse_events(list.to_string().as_bytes()).unwrap();
    assert!(events.has_more && events.items[0].target == EventTarget::Nothing);
    assert!(StripeEvent::parse(b"{\"id\":\"evt_1\"}").is_err());
}

#[test]
fn sessions_are_paid_when_they_say_so() {
    let read = |status: &str, payment: &str| {
        let value = json!({
            "id": "cs_1", "object": "checkout.session", "status": status,
            "payment_status": payment, "amount_subtotal": 1000, "amount_total": 1190,
            "client_reference_id": order_id(1).to_string(), "payment_intent": "pi_1",
            "url": "https://checkout.stripe.com/c/pay/cs_1", "novelty": {"a": 1},
        });
        CheckoutSession::parse(value.to_string().as_bytes()).unwrap()
    };
    assert_eq!(read("complete", "paid").payment, SessionPayment::Paid);
    assert_eq!(read("complete", "unpaid").payment, SessionPayment::Processing);
    assert_eq!(read("open", "unpaid").payment, SessionPayment::Open);
    assert_eq!(read("expired", "unpaid").payment, SessionPayment::Expired);
    assert_eq!(read("novel", "unpaid").payment, SessionPayment::Open);
    let session = read("complete", "paid");
    assert_eq!(session.amount_subtotal, Some(cents(1000)), "without tax");
    assert_eq!(find_session_mismatch(&order(1000), &session), None);
    let other = find_session_mismatch(&order(2000), &session);
    assert_eq!(other, Some(OrderMismatch::OtherAmount));
    let other = CardOrder { id: order_id(2), ..order(1000) };
    assert_eq!(find_session_mismatch(&other, &session), Some(OrderMismatch::Order));
}

#[test]
fn a_dispute_takes_what_has_moved() {
    let moved = |amounts: &[i64]| {
        json!(amounts.iter().map(|it| json!({"amount": it, "fee": 1500})).collect::<Vec<_>>())
    };
    let taken = |status, moved| dispute(status, moved).withdrawn;
    assert_eq!(taken("needs_response", moved(&[-1000])), cents(1000));
    assert_eq!(taken("needs_response", moved(&[])), cents(0), "not yet");
    assert_eq!(taken("won", moved(&[-1000, 1000])), cents(0));
    assert_eq!(taken("lost", moved(&[-1000])), cents(1000));
    assert_eq!(taken("won", moved(&[-1000, 400])), cents(600), "a part came back");
    assert_eq!(taken("needs_response", moved(&[-5000])), cents(1000), "never more than disputed");
    assert_eq!(taken("won", moved(&[-1000, 2000])), cents(0));
    assert_eq!(taken("lost", moved(&[i64::MIN, i64::MIN])), cents(1000));
    // Without the movements, the state says it.
    for (status, withdrawn) in [
        ("warning_needs_response", 0),
        ("warning_closed", 0),
        ("prevented", 0),
        ("needs_response", 1000),
        ("under_review", 1000),
        ("appeal_needs_response", 1000),
        ("a_new_state", 1000),
        ("lost", 1000),
        ("won", 0),
    ] {
        assert_eq!(taken(status, Value::Null), cents(withdrawn), "{status}");
    }
    // Settled in another currency, at two rates.
    let euros = json!([{"amount": -930, "currency": "eur"}, {"amount": 915, "currency": "eur"}]);
    assert_eq!(taken("won", euros.clone()), cents(0));
    assert_eq!(taken("lost", euros), cents(1000));
}

#[test]
fn refunds_count_from_the_beginning_until_they_fail() {
    let status = |status: Value| {
        let value = json!({"id": "re_1", "object": "refund", "amount": 5, "status": status});
        StripeRefund::parse(value.to_string().as_bytes()).unwrap().status
    };
    for name in ["pending", "requires_action", "succeeded", "a_new_state"] {
        assert_eq!(status(json!(name)), RefundStatus::Returned, "{name}");
    }
    assert_eq!(status(Value::Null), RefundStatus::Returned);
    for name in ["failed", "canceled"] {
        assert_eq!(status(json!(name)), RefundStatus::Failed, "{name}");
    }
}

#[test]
fn fields_that_count_are_never_guessed() {
    let good = StripePayment::paid(1000).intent;
    let parse = |value: &Value| PaymentIntent::parse(value.to_string().as_bytes());
    assert!(parse(&good).is_ok());
    for (field, value) in [
        ("id", json!(1)),
        ("object", json!("charge")),
        ("status", json!(null)),
        ("currency", json!(null)),
        ("livemode", json!("true")),
        ("amount_received", json!("1000")),
        ("amount_received", json!(-1)),
        ("amount_received", json!(10.5)),
        ("amount_received", json!(4_294_967_296_u64)),
    ] {
        let mut changed = good.clone();
        changed[field] = value;
        let fault = parse(&changed);
        assert_eq!(fault, Err(StripeFault::Field { object: "payment_intent", field }), "{field}");
    }
    let refund = json!({"id": "re_1", "object": "refund", "status": "succeeded"});
    assert!(StripeRefund::parse(refund.to_string().as_bytes()).is_err());
    let list = json!({"object": "list", "data": [refund], "has_more": false}).to_string();
    assert!(StripeList::parse_refunds(list.as_bytes()).is_err(), "one that counts is not skipped");
    let list = json!({"object": "list", "data": []}).to_string();
    assert!(StripeList::parse_refunds(list.as_bytes()).is_err(), "more pages, or not?");
    let charge = json!({"id": "ch_1", "amount_refunded": 7, "disputed": true}).to_string();
    let charge = StripeCharge::parse(charge.as_bytes()).unwrap();
    assert_eq!((charge.amount_refunded, charge.is_disputed), (cents(7), true));
}

#[test]
fn facts_are_of_one_payment_and_whole() {
    let mut payment = StripePayment::paid(1000);
    payment.refund(300, "succeeded");
    let facts = payment.facts();
    let intent = facts.intent().clone();
    let refunds = |has_more| StripeList { items: facts.refunds().to_vec(), has_more };
    let build = |intent, refunds| {
        PaymentFacts::new(intent, refunds, StripeList::empty(), StripeList::empty())
    };
    assert_eq!(build(intent.clone(), refunds(true)), Err(FactsFault::Incomplete));
    let other = PaymentIntent { id: id("pi_2"), ..intent.clone() };
    assert_eq!(build(other, refunds(false)), Err(FactsFault::OtherPayment));
    let mut doubled = refunds(true);
    doubled.append_page(refunds(false));
    let built = build(intent.clone(), doubled).unwrap();
    assert_eq!(built, facts, "pages that overlap count once");
    let many = StripeList { items: vec![facts.refunds()[0].clone(); 1001], has_more: false };
    assert_eq!(build(intent, many), Err(FactsFault::TooMany));
}

#[test]
fn errors_are_read_as_far_as_they_go() {
    let error = StripeError::parse(
        br#"{"error":{"type":"card_error","code":"card_declined","decline_code":"do_not_honor",
            "message":"no","payment_intent":{"id":"pi_1","object":"payment_intent"}}}"#,
    );
    assert_eq!(error.decline_code.as_deref(), Some("do_not_honor"));
    assert_eq!(error.intent, Some(id("pi_1")));
    assert_eq!(StripeError::parse(b"<html>"), StripeError::default());
    assert_eq!(StripeError::parse(br#"{"error":"x"}"#), StripeError::default());
}
