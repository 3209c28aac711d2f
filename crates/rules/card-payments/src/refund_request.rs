//! Refunds that the operator or the customer asks for here. The credit is taken from the owner first,
//! then Stripe is asked; if Stripe refuses, it is given back.

use std::fmt;

use money::Nano;
use thiserror::Error;
use uuid::Uuid;

use crate::amount::UsdCents;
use crate::facts::PaymentFacts;
use crate::objects::StripeRefund;
use crate::order::CardOrder;
use crate::standing::{PaidStanding, PaymentDispute, PaymentStanding};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefundRequestId(pub Uuid);

impl RefundRequestId {
    pub fn parse(text: &str) -> Option<RefundRequestId> {
        Uuid::try_parse(text).ok().map(RefundRequestId)
    }
}

impl fmt::Display for RefundRequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A refund that is being asked for. Its row is stored in the transaction that takes the credit, and
/// counts in [`judge_payment`](crate::judge_payment) until it is deleted: when Stripe shows the
/// refund, or has refused it for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenRefund {
    pub id: RefundRequestId,
    /// The amount that the payer gets, with tax.
    pub payment: UsdCents,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RefundRefusal {
    #[error("This payment has not arrived, or does not fit its order")]
    NotPaid,
    #[error("This payment is disputed: the dispute decides")]
    Disputed,
    #[error("At most {most} of this payment's credit is left to refund")]
    TooMuch { most: Nano },
    #[error("Less than a cent would be refunded")]
    TooSmall,
}

/// Decides about a refund of `wanted` credit, or of all that is left of a payment. Never more than
/// `left`, the owner's paid credit: a refund that is asked for makes no debt.
pub fn decide_refund(
    order: &CardOrder,
    standing: &PaymentStanding,
    left: Nano,
    wanted: Option<UsdCents>,
    id: RefundRequestId,
) -> Result<OpenRefund, RefundRefusal> {
    let PaymentStanding::Paid(paid) = standing else { return Err(RefundRefusal::NotPaid) };
    if paid.dispute != PaymentDispute::None {
        return Err(RefundRefusal::Disputed);
    }
    let most = left.min(paid.credit).max(Nano::ZERO);
    let credit = wanted.map_or(most, UsdCents::to_nano);
    if most < credit {
        return Err(RefundRefusal::TooMuch { most });
    }
    let payment = if credit == paid.credit {
        paid.received.saturating_sub(paid.taken)
    } else {
        scale_to_payment(order.amount, paid, credit)
    };
    if payment == UsdCents::ZERO {
        return Err(RefundRefusal::TooSmall);
    }
    Ok(OpenRefund { id, payment })
}

/// The refund of Stripe's that follows from a request, if Stripe shows one.
pub fn find_refund<'a>(request: &OpenRefund, facts: &'a PaymentFacts) -> Option<&'a StripeRefund> {
    facts.refunds.iter().find(|refund| refund.request == Some(request.id))
}

/// The payer's share of a credit, rounded down to a cent.
fn scale_to_payment(amount: UsdCents, paid: &PaidStanding, credit: Nano) -> UsdCents {
    let whole = i128::from(amount.to_nano().nanos());
    let scaled = i128::from(credit.nanos()) * i128::from(paid.received.cents());
    let cents = scaled.checked_div(whole).unwrap_or(0);
    let left = paid.received.saturating_sub(paid.taken);
    UsdCents::from_cents(u32::try_from(cents).unwrap_or(0)).min(left)
}
