//! The standing of a payment: what an order is worth, given everything that Stripe says now.

use money::Nano;
use thiserror::Error;

use crate::amount::UsdCents;
use crate::facts::PaymentFacts;
use crate::objects::{CheckoutSession, DisputeStatus, IntentStatus, RefundStatus};
use crate::order::CardOrder;
use crate::refund_request::OpenRefund;

/// The state of a payment: a function of the order and the facts alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentStanding {
    /// Not paid yet: the customer has something to do.
    Awaiting,
    /// The money is on its way, for days with some methods.
    Processing,
    /// It will not be paid.
    Canceled,
    /// It does not fit its order. Nothing is moved, and the operator is shown the payment.
    Mismatched(OrderMismatch),
    Paid(PaidStanding),
}

/// A payment that has arrived. Amounts in cents are the payer's, with tax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaidStanding {
    pub received: UsdCents,
    /// The part that was given back or withdrawn, or that a refund of ours is about to give back.
    pub taken: UsdCents,
    /// The credit that the owner should have for it in all, without tax.
    pub credit: Nano,
    pub dispute: PaymentDispute,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaymentDispute {
    /// None, or none that counts: inquiries, and disputes that were won.
    None,
    Lost,
    Open,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum OrderMismatch {
    #[error("the payment names another order")]
    Order,
    #[error("the order was paid by another payment already")]
    SecondPayment,
    #[error("the payment is not in US dollars")]
    Currency,
    #[error("the payment is test data for a live order, or the other way around")]
    Mode,
    #[error("the page was for another amount than the order")]
    OtherAmount,
    #[error("less was received than was ordered")]
    TooLittle,
}

/// Judges a payment. `open_refunds` are refunds of ours that were taken from the owner already; they
/// count once, before Stripe knows of them and after.
pub fn judge_payment(
    order: &CardOrder,
    facts: &PaymentFacts,
    open_refunds: &[OpenRefund],
) -> PaymentStanding {
    let intent = &facts.intent;
    match intent.status {
        IntentStatus::Succeeded => {}
        IntentStatus::Processing => return PaymentStanding::Processing,
        IntentStatus::Canceled => return PaymentStanding::Canceled,
        IntentStatus::NeedsCustomer | IntentStatus::NeedsPaymentMethod | IntentStatus::Unknown => {
            return PaymentStanding::Awaiting;
        }
    }
    if let Some(mismatch) = find_mismatch(order, facts) {
        return PaymentStanding::Mismatched(mismatch);
    }
    let received = intent.amount_received;
    let taken = sum_taken(facts, open_refunds).min(received);
    PaymentStanding::Paid(PaidStanding {
        received,
        taken,
        credit: compute_credit(order.amount, received, taken),
        dispute: find_dispute(facts),
    })
}

/// The reason why a Checkout session's PaymentIntent must not become its order's.
pub fn find_session_mismatch(
    order: &CardOrder,
    session: &CheckoutSession,
) -> Option<OrderMismatch> {
    if session.order != Some(order.id) {
        Some(OrderMismatch::Order)
    } else if session.amount_subtotal.is_some_and(|subtotal| subtotal != order.amount) {
        Some(OrderMismatch::OtherAmount)
    } else {
        None
    }
}

fn find_mismatch(order: &CardOrder, facts: &PaymentFacts) -> Option<OrderMismatch> {
    let intent = &facts.intent;
    if intent.order != Some(order.id) {
        Some(OrderMismatch::Order)
    } else if order.intent.as_ref().is_some_and(|first| *first != intent.id) {
        Some(OrderMismatch::SecondPayment)
    } else if intent.currency != "usd" {
        Some(OrderMismatch::Currency)
    } else if intent.mode != order.mode {
        Some(OrderMismatch::Mode)
    } else if intent.amount_received < order.amount || order.amount == UsdCents::ZERO {
        Some(OrderMismatch::TooLittle)
    } else {
        None
    }
}

fn sum_taken(facts: &PaymentFacts, open_refunds: &[OpenRefund]) -> UsdCents {
    let returned = facts.refunds.iter().filter(|it| it.status == RefundStatus::Returned);
    let is_known = |open: &OpenRefund| facts.refunds.iter().any(|it| it.request == Some(open.id));
    let open = open_refunds.iter().filter(|it| !is_known(it));
    let amounts = returned
        .map(|it| it.amount)
        .chain(open.map(|it| it.payment))
        .chain(facts.disputes.iter().map(|it| it.withdrawn));
    amounts.fold(UsdCents::ZERO, UsdCents::saturating_add)
}

/// The order's amount without the share of what was taken, rounded down to a nano. Tax on top is
/// taken in the same proportion, so a payment that is taken as a whole leaves nothing.
fn compute_credit(amount: UsdCents, received: UsdCents, taken: UsdCents) -> Nano {
    let whole = i128::from(amount.to_nano().nanos());
    let share = whole * i128::from(taken.cents());
    let Some(share) = share.checked_div(i128::from(received.cents())) else { return Nano::ZERO };
    // At most the whole, as `taken` is at most `received`.
    Nano::from_nanos(i64::try_from(whole - share).unwrap_or(0))
}

fn find_dispute(facts: &PaymentFacts) -> PaymentDispute {
    let states = facts.disputes.iter().map(|it| match it.status {
        DisputeStatus::Inquiry | DisputeStatus::Won => PaymentDispute::None,
        DisputeStatus::Lost => PaymentDispute::Lost,
        DisputeStatus::Open => PaymentDispute::Open,
    });
    states.max().unwrap_or(PaymentDispute::None)
}
