//! The durable rows of card payments, and the writes that change them.

use card_payments::{
    CardOrder, CardOrderId, EventTarget, OrderMismatch, PaymentBooks, StripeId, StripeMode,
    UsdCents,
};
use ledger_core::OwnerId;
use moment::Timestamp;

/// An order: one payment page, and at most one payment that is credited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardOrderRow {
    pub id: CardOrderId,
    pub owner: OwnerId,
    /// The credit, without tax.
    pub amount: UsdCents,
    pub mode: StripeMode,
    pub created: Timestamp,
    /// The Checkout session; None if Stripe's answer, and the URL of its page in it, was lost.
    pub session: Option<StripeId>,
    /// The PaymentIntent that the order was first seen with.
    pub intent: Option<StripeId>,
    pub state: CardOrderState,
    pub books: PaymentBooks,
}

/// The state of an order at the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CardOrderState {
    /// Not paid yet.
    Awaiting,
    /// The money is on its way.
    Processing,
    /// Paid, possibly taken back since: the books say what is left.
    Paid,
    /// Nothing will be paid.
    Canceled,
    /// Paid, and does not fit the order: the operator decides.
    Mismatched,
}

/// An object of Stripe from which a payment is looked up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LookTarget {
    Session(StripeId),
    Intent(StripeId),
    Charge(StripeId),
}

/// A target that is stored until it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingLook {
    pub target: LookTarget,
    /// The number of notes so far. A note that comes during a look keeps the target stored.
    pub notes: u64,
}

/// The position of an order in a list by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderCursor {
    pub created: Timestamp,
    pub order: CardOrderId,
}

/// A change of rows. Those of one commit are written together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardWrite {
    AddOrder(CardOrderRow),
    NoteSession {
        order: CardOrderId,
        session: StripeId,
    },
    /// Changes nothing if the order has a PaymentIntent.
    BindIntent {
        order: CardOrderId,
        intent: StripeId,
    },
    NoteState {
        order: CardOrderId,
        state: CardOrderState,
    },
    /// A payment that does not fit its order, for the operator. Replaces an earlier note of it.
    NoteMismatch {
        order: CardOrderId,
        intent: StripeId,
        mismatch: OrderMismatch,
    },
    DropMismatch {
        intent: StripeId,
    },
    /// Adds a target to look at, or one to its notes.
    NoteLook(LookTarget),
    /// Removes a target, unless it was noted again.
    DropLook(PendingLook),
    /// The creation of the newest event that was read.
    SetEventsCursor(Timestamp),
    /// Freezes the owner. It stays frozen as long as a cause is active; a freeze by the operator is
    /// apart from that.
    AddFreeze {
        order: CardOrderId,
        owner: OwnerId,
        cause: StripeId,
    },
    EndFreezeByWin {
        cause: StripeId,
    },
}

impl CardOrderRow {
    pub(crate) fn to_order(&self) -> CardOrder {
        let CardOrderRow { id, amount, mode, intent, .. } = self;
        CardOrder { id: *id, amount: *amount, mode: *mode, intent: intent.clone() }
    }

    pub fn cursor(&self) -> OrderCursor {
        OrderCursor { created: self.created, order: self.id }
    }
}

impl LookTarget {
    /// None if the event is about nothing of ours.
    pub(crate) fn of_event(target: EventTarget) -> Option<LookTarget> {
        match target {
            EventTarget::Session(session) => Some(LookTarget::Session(session)),
            EventTarget::Intent(intent) => Some(LookTarget::Intent(intent)),
            EventTarget::Charge(charge) => Some(LookTarget::Charge(charge)),
            EventTarget::Nothing => None,
        }
    }
}
