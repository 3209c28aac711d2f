//! What an order is worth.

use serde_json::json;

use super::world::{StripePayment, cents, id, order, order_id, request_id, usd};
use crate::*;

fn judge(order: &CardOrder, payment: &StripePayment) -> PaymentStanding {
    judge_payment(order, &payment.facts(), &[])
}

#[track_caller]
fn credit(amount: u32, payment: &StripePayment) -> money::Nano {
    match judge(&order(amount), payment) {
        PaymentStanding::Paid(paid) => paid.credit,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_payment_is_worth_its_order_once_it_has_succeeded() {
    let mut payment = StripePayment::paid(1000);
    assert_eq!(credit(1000, &payment), usd(1000));
    for (status, standing) in [
        ("requires_payment_method", PaymentStanding::Awaiting),
        ("requires_action", PaymentStanding::Awaiting),
        ("requires_capture", PaymentStanding::Awaiting),
        ("a_new_state", PaymentStanding::Awaiting),
        ("processing", PaymentStanding::Processing),
        ("canceled", PaymentStanding::Canceled),
    ] {
        payment.intent["status"] = json!(status);
        assert_eq!(judge(&order(1000), &payment), standing, "{status}");
    }
}

#[test]
fn tax_on_top_is_not_credited_and_is_returned_in_proportion() {
    let mut payment = StripePayment::paid(1190);
    assert_eq!(credit(1000, &payment), usd(1000));
    payment.refund(595, "succeeded");
    assert_eq!(credit(1000, &payment), usd(500));
    payment.refund(595, "pending");
    assert_eq!(credit(1000, &payment), usd(0));
    let mut payment = StripePayment::paid(1190);
    payment.refund(1, "succeeded");
    assert_eq!(credit(1000, &payment).nanos(), 9_991_596_639, "rounded once");
}

#[test]
fn a_payment_that_does_not_fit_its_order_gives_no_credit() {
    let order = order(1000);
    let with = |field: &str, value| {
        let mut payment = StripePayment::paid(1000);
        payment.intent[field] = value;
        judge(&order, &payment)
    };
    let mismatch = PaymentStanding::Mismatched;
    assert_eq!(with("currency", json!("eur")), mismatch(OrderMismatch::Currency));
    assert_eq!(with("livemode", json!(true)), mismatch(OrderMismatch::Mode));
    assert_eq!(with("amount_received", json!(999)), mismatch(OrderMismatch::TooLittle));
    assert_eq!(with("amount_received", json!(null)), mismatch(OrderMismatch::TooLittle));
    assert_eq!(with("metadata", json!({})), mismatch(OrderMismatch::Order));
    let other = json!({"tollgate_order": order_id(2).to_string()});
    assert_eq!(with("metadata", other), mismatch(OrderMismatch::Order));
    let paid_before = CardOrder { intent: Some(id("pi_0")), ..order.clone() };
    let second = judge(&paid_before, &StripePayment::paid(1000));
    assert_eq!(second, mismatch(OrderMismatch::SecondPayment));
    let free = CardOrder { amount: cents(0), ..order };
    assert_eq!(judge(&free, &StripePayment::paid(0)), mismatch(OrderMismatch::TooLittle));
}

#[test]
fn refunds_add_up_and_failed_ones_come_back() {
    let mut payment = StripePayment::paid(1000);
    payment.refund(300, "succeeded");
    payment.refund(200, "pending");
    assert_eq!(credit(1000, &payment), usd(500));
    payment.refunds[0]["status"] = json!("failed");
    assert_eq!(credit(1000, &payment), usd(800));
}

#[test]
fn disputes_take_wins_return_and_inquiries_move_nothing() {
    let mut payment = StripePayment::paid(1000);
    payment.dispute(1000, "warning_needs_response", &[]);
    assert_eq!(credit(1000, &payment), usd(1000));
    payment.dispute(400, "needs_response", &[-400]);
    assert_eq!(credit(1000, &payment), usd(600));
    payment.disputes[1]["status"] = json!("won");
    let moved = &mut payment.disputes[1]["balance_transactions"];
    moved.as_array_mut().unwrap().push(json!({"amount": 400, "currency": "usd"}));
    assert_eq!(credit(1000, &payment), usd(1000));
}

#[test]
fn a_refund_and_a_dispute_of_the_same_money_take_it_once() {
    let mut payment = StripePayment::paid(1000);
    payment.refund(1000, "succeeded");
    payment.dispute(1000, "lost", &[-1000]);
    assert_eq!(credit(1000, &payment), usd(0));
}

#[test]
fn refunds_of_ours_count_once_before_and_after_stripe_knows_them() {
    let mut payment = StripePayment::paid(1000);
    let open = [OpenRefund { id: request_id(5), payment: cents(300) }];
    let worth = |payment: &StripePayment| match judge_payment(&order(1000), &payment.facts(), &open)
    {
        PaymentStanding::Paid(paid) => paid.credit,
        other => panic!("{other:?}"),
    };
    assert_eq!(worth(&payment), usd(700));
    assert_eq!(find_refund(&open[0], &payment.facts()), None);
    payment.refund(300, "pending");
    payment.refunds[0]["metadata"] = json!({"tollgate_refund": request_id(5).to_string()});
    assert_eq!(worth(&payment), usd(700));
    assert!(find_refund(&open[0], &payment.facts()).is_some());
    payment.refunds[0]["status"] = json!("failed");
    assert_eq!(worth(&payment), usd(1000), "the failure counts, and not the request");
}
