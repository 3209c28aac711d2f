//! Everything that Stripe says about a payment at one time.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::objects::{EarlyFraudWarning, PaymentIntent, StripeDispute, StripeList, StripeRefund};
use crate::stripe_id::StripeId;

/// The most refunds, disputes or warnings of one payment.
pub const FACTS_ITEMS_MAX: usize = 1000;

/// A PaymentIntent with all its refunds, disputes and warnings, each fetched after the payment's row
/// was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentFacts {
    pub(crate) intent: PaymentIntent,
    pub(crate) refunds: Vec<StripeRefund>,
    pub(crate) disputes: Vec<StripeDispute>,
    pub(crate) warnings: Vec<EarlyFraudWarning>,
}

/// The answers do not describe one payment as a whole. Nothing may follow from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FactsFault {
    #[error("a page of the list is missing")]
    Incomplete,
    #[error("the payment has too many refunds, disputes or warnings")]
    TooMany,
    #[error("an item of the list belongs to another payment")]
    OtherPayment,
}

impl PaymentFacts {
    pub fn new(
        intent: PaymentIntent,
        refunds: StripeList<StripeRefund>,
        disputes: StripeList<StripeDispute>,
        warnings: StripeList<EarlyFraudWarning>,
    ) -> Result<PaymentFacts, FactsFault> {
        let id = &intent.id;
        let refunds = check_list(id, refunds, |it| (&it.id, it.intent.as_ref()))?;
        let disputes = check_list(id, disputes, |it| (&it.id, it.intent.as_ref()))?;
        let warnings = check_list(id, warnings, |it| (&it.id, it.intent.as_ref()))?;
        Ok(PaymentFacts { intent, refunds, disputes, warnings })
    }

    pub fn intent(&self) -> &PaymentIntent {
        &self.intent
    }

    pub fn refunds(&self) -> &[StripeRefund] {
        &self.refunds
    }
}

/// The items without repetitions, which two pages can have if the list grows in between.
fn check_list<T>(
    payment: &StripeId,
    list: StripeList<T>,
    ids: impl Fn(&T) -> (&StripeId, Option<&StripeId>),
) -> Result<Vec<T>, FactsFault> {
    if list.has_more {
        return Err(FactsFault::Incomplete);
    }
    if FACTS_ITEMS_MAX < list.items.len() {
        return Err(FactsFault::TooMany);
    }
    if list.items.iter().any(|item| ids(item).1.is_some_and(|named| named != payment)) {
        return Err(FactsFault::OtherPayment);
    }
    let mut seen = BTreeSet::new();
    let items = list.items.into_iter();
    Ok(items.filter(|item| seen.insert(ids(item).0.clone())).collect())
}
