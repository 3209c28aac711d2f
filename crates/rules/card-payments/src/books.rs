//! Brings the books of a payment to its standing.
//!
//! ```text
//!            Credit                TakeBack (refund, dispute)
//! nothing ───────────► credited ─────────────────────────────► partly or wholly taken back
//!                         ▲                                          │
//!                         └──────────────────────────────────────────┘
//!                            GiveBack (failed refund, won dispute)
//! ```
//!
//! Each step moves the difference between what the books have and what the standing says, so the last
//! look decides, whatever was seen before it.

use ledger_core::EntryId;
use money::Nano;

use crate::entry::derive_entry;
use crate::standing::PaymentStanding;
use crate::stripe_id::StripeId;

/// The columns of a payment's row that movements change. They are written, in the transaction of the
/// movement, only if the revision is still the one that was read before Stripe was asked: an answer
/// that is older than the last movement then moves nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PaymentBooks {
    /// The number of movements.
    pub revision: u32,
    /// The credit that the owner has for this payment in all: given and not taken back.
    pub net: Nano,
}

/// A movement of money for a payment. The ledger decides which part of it is the owner's debt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardMovement {
    /// The same for the same step of the same payment, so the journal accepts it once.
    pub entry: EntryId,
    pub kind: MovementKind,
    /// Above zero.
    pub amount: Nano,
    /// The books after it.
    pub books: PaymentBooks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MovementKind {
    /// Cash in for the first time: to the debt, then to the lot.
    Credit,
    /// Cash out: from the lot, and the rest becomes debt.
    TakeBack,
    /// Cash that comes back: to the debt, then to the lot.
    GiveBack,
}

/// The movement that follows, if any. A payment that is not paid, or does not fit its order, moves
/// nothing in either direction.
pub fn decide_movement(
    intent: &StripeId,
    books: PaymentBooks,
    standing: &PaymentStanding,
) -> Option<CardMovement> {
    let PaymentStanding::Paid(paid) = standing else { return None };
    let difference = paid.credit.checked_sub(books.net)?;
    if difference == Nano::ZERO {
        return None;
    }
    let revision = books.revision.checked_add(1)?;
    let amount = if difference.is_negative() { difference.checked_neg()? } else { difference };
    let kind = if difference.is_negative() {
        MovementKind::TakeBack
    } else if books.revision == 0 {
        MovementKind::Credit
    } else {
        MovementKind::GiveBack
    };
    let entry = derive_movement_entry(intent, books.revision);
    Some(CardMovement { entry, kind, amount, books: PaymentBooks { revision, net: paid.credit } })
}

/// The first movement's entry follows from the PaymentIntent alone.
fn derive_movement_entry(intent: &StripeId, revision: u32) -> EntryId {
    derive_entry("card payment", &[intent.as_str().as_bytes(), &revision.to_be_bytes()])
}
