//! The interfaces to Stripe, the store and the ledger.

use std::pin::Pin;

use bytes::Bytes;
use card_payments::{CardMovement, CardOrderId, FreezeRow, StripeCall, StripeId};
use ledger_core::OwnerId;
use moment::Timestamp;
use thiserror::Error;

use crate::rows::{CardOrderRow, CardWrite, LookTarget, OrderCursor, PendingLook};

pub type CardFuture<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// Stripe's API.
pub trait StripeApi: Send + Sync {
    /// Sends a request once. An error means that it may have been carried out.
    fn send<'a>(&'a self, call: &'a StripeCall) -> CardFuture<'a, StripeAnswer, StripeUnreached>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeAnswer {
    pub status: u16,
    pub body: Bytes,
}

/// No answer came.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("Stripe gave no answer: {0}")]
pub struct StripeUnreached(pub String);

/// The store or the ledger is not available. What was asked for may have been carried out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct CardStoreFault(pub String);

/// The rows of card payments.
pub trait CardStore: Send + Sync {
    /// Writes changes in one transaction. Durable when it returns.
    fn commit(&self, writes: Vec<CardWrite>) -> CardFuture<'_, (), CardStoreFault>;

    fn find_order(
        &self,
        order: CardOrderId,
    ) -> CardFuture<'_, Option<CardOrderRow>, CardStoreFault>;

    /// The order that has a PaymentIntent.
    fn find_order_of_intent<'a>(
        &'a self,
        intent: &'a StripeId,
    ) -> CardFuture<'a, Option<CardOrderRow>, CardStoreFault>;

    /// Orders with a session that were made since `since` and are awaiting or processing, oldest
    /// first, after `after`.
    fn list_unfinished(
        &self,
        since: Timestamp,
        after: Option<OrderCursor>,
    ) -> CardFuture<'_, Vec<CardOrderRow>, CardStoreFault>;

    /// Orders with a PaymentIntent that were made since `since`, oldest first, after `after`.
    fn list_payments_since(
        &self,
        since: Timestamp,
        after: Option<OrderCursor>,
    ) -> CardFuture<'_, Vec<CardOrderRow>, CardStoreFault>;

    /// The causes for which the payment of an order has frozen its owner.
    fn list_freezes(&self, order: CardOrderId) -> CardFuture<'_, Vec<FreezeRow>, CardStoreFault>;

    /// The oldest targets to look at, a bounded number of them.
    fn list_pending_looks(&self) -> CardFuture<'_, Vec<PendingLook>, CardStoreFault>;

    /// The notes of a target; None if it was looked at since.
    fn find_pending_look<'a>(
        &'a self,
        target: &'a LookTarget,
    ) -> CardFuture<'a, Option<PendingLook>, CardStoreFault>;

    /// The creation of the newest event that was read.
    fn events_cursor(&self) -> CardFuture<'_, Option<Timestamp>, CardStoreFault>;
}

/// The books of owners.
pub trait CardLedger: Send + Sync {
    /// Moves money, and writes the books of the movement to the row of its order in the same
    /// transaction. A movement whose entry is in the journal changes nothing.
    fn move_money(&self, order: MoneyMove) -> CardFuture<'_, (), CardStoreFault>;

    /// Repays debts from paid credit that has become free.
    fn collect_debts(&self) -> CardFuture<'_, (), CardStoreFault>;
}

/// A movement of an order's payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoneyMove {
    pub order: CardOrderId,
    pub owner: OwnerId,
    pub movement: CardMovement,
}
