//! Our row of a payment by card, stored before Stripe is asked for anything.

use std::fmt;

use uuid::Uuid;

use crate::amount::UsdCents;
use crate::stripe_id::StripeId;

/// The id of an order. Stripe keeps it as `client_reference_id` and in the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardOrderId(pub Uuid);

impl CardOrderId {
    pub fn parse(text: &str) -> Option<CardOrderId> {
        Uuid::try_parse(text).ok().map(CardOrderId)
    }
}

impl fmt::Display for CardOrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The order of a payment: the credit that is owed to the owner for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardOrder {
    pub id: CardOrderId,
    /// The credit, without tax.
    pub amount: UsdCents,
    pub mode: StripeMode,
    /// The PaymentIntent that the order was first seen with. A second one for the same order is not
    /// credited.
    pub intent: Option<StripeId>,
}

/// Real money, or Stripe's test data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StripeMode {
    Live,
    Test,
}

impl StripeMode {
    /// The mode of a secret or restricted key. None for another text.
    pub fn of_secret_key(key: &str) -> Option<StripeMode> {
        let rest = key.strip_prefix("sk_").or_else(|| key.strip_prefix("rk_"))?;
        match rest.split_once('_')? {
            ("live", secret) if !secret.is_empty() => Some(StripeMode::Live),
            ("test", secret) if !secret.is_empty() => Some(StripeMode::Test),
            _ => None,
        }
    }

    pub fn from_livemode(is_live: bool) -> StripeMode {
        if is_live { StripeMode::Live } else { StripeMode::Test }
    }
}
