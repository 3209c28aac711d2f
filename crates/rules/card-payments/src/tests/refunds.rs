//! Refunds that are asked for here.

use money::Nano;
use proptest::prelude::*;

use super::world::{StripePayment, cents, order, request_id, usd};
use crate::*;

fn decide(
    payment: &StripePayment,
    left: Nano,
    wanted: Option<u32>,
) -> Result<UsdCents, RefundRefusal> {
    let standing = judge_payment(&order(1000), &payment.facts(), &[]);
    let refund = decide_refund(&order(1000), &standing, left, wanted.map(cents), request_id(1));
    refund.map(|refund| refund.payment)
}

#[test]
fn at_most_what_is_left_of_the_payment_is_refunded() {
    let payment = StripePayment::paid(1000);
    assert_eq!(decide(&payment, usd(1000), None), Ok(cents(1000)));
    assert_eq!(decide(&payment, usd(5000), None), Ok(cents(1000)), "not another payment's");
    assert_eq!(decide(&payment, usd(250), None), Ok(cents(250)));
    assert_eq!(decide(&payment, usd(250), Some(200)), Ok(cents(200)));
    let too_much = Err(RefundRefusal::TooMuch { most: usd(250) });
    assert_eq!(decide(&payment, usd(250), Some(251)), too_much);
    assert_eq!(decide(&payment, usd(0), None), Err(RefundRefusal::TooSmall));
    assert_eq!(decide(&payment, Nano::from_nanos(9_999_999), None), Err(RefundRefusal::TooSmall));
    assert_eq!(decide(&payment, usd(5), Some(0)), Err(RefundRefusal::TooSmall));
}

#[test]
fn tax_is_refunded_with_its_credit() {
    let mut payment = StripePayment::paid(1190);
    assert_eq!(decide(&payment, usd(1000), None), Ok(cents(1190)));
    assert_eq!(decide(&payment, usd(1000), Some(500)), Ok(cents(595)));
    payment.refund(595, "succeeded");
    assert_eq!(decide(&payment, usd(1000), None), Ok(cents(595)));
}

#[test]
fn disputed_and_unpaid_payments_are_not_refunded() {
    let mut payment = StripePayment::paid(1000);
    payment.dispute(100, "needs_response", &[-100]);
    assert_eq!(decide(&payment, usd(1000), None), Err(RefundRefusal::Disputed));
    let awaiting = PaymentStanding::Awaiting;
    let refused = decide_refund(&order(1000), &awaiting, usd(1000), None, request_id(1));
    assert_eq!(refused, Err(RefundRefusal::NotPaid));
}

proptest! {
    #[test]
    fn a_refund_never_takes_more_credit_than_was_asked_for(
        amount in 1_u32..100_000, tax in 0_u32..30_000, left in 0_i64..100_000, wanted in 1_u32..100_000,
    ) {
        let order = order(amount);
        let payment = StripePayment::paid(amount + tax);
        let standing = judge_payment(&order, &payment.facts(), &[]);
        let left = usd(left);
        if let Ok(refund) = decide_refund(&order, &standing, left, Some(cents(wanted)), request_id(1)) {
            let after = judge_payment(&order, &payment.facts(), &[refund]);
            let (PaymentStanding::Paid(before), PaymentStanding::Paid(after)) = (standing, after) else {
                panic!("paid before and after");
            };
            let taken = before.credit.checked_sub(after.credit).unwrap();
            prop_assert!(taken <= cents(wanted).to_nano() && taken <= left);
            prop_assert!(refund.payment.cents() <= amount + tax);
        }
    }
}
