//! The interface for settling payments: check before sending, send, and look up.

use std::fmt;
use std::pin::Pin;

use store::claim::{PaymentClaim, SentPayment};
use thiserror::Error;
use wallet::{ContractCheck, PaymentRequirement, TokenAmount, UnverifiedPayment, VerifiedPayment};

/// The future of one operation of a [`PaymentSettler`].
pub type SettlerFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, SettleFailure>> + Send + 'a>>;

/// Sends payments to their chains, itself or through a service.
///
/// Only [`PaymentSettler::send`] may move money. A claim holds all that is needed to continue at any later
/// time, so an implementation keeps no state that a restart would lose.
pub trait PaymentSettler: Send + Sync {
    /// Checks that the payment would succeed, and builds the transaction to send.
    fn prepare<'a>(&'a self, order: &'a SettlementOrder) -> SettlerFuture<'a, PaymentPreparation>;

    /// Sends the transaction of a claim. Repeating it is harmless: the chain accepts it once. Any
    /// [`SettleFailure`] means that it may have been sent.
    fn send<'a>(&'a self, claim: &'a PaymentClaim) -> SettlerFuture<'a, ChainSighting>;

    /// Looks up a claim that was sent, or may have been.
    fn look_up<'a>(&'a self, claim: &'a PaymentClaim) -> SettlerFuture<'a, ChainSighting>;

    /// A transaction with a higher fee to replace that of a claim, which has waited too long to be
    /// mined; None if that would not help.
    fn build_replacement<'a>(
        &'a self,
        _claim: &'a PaymentClaim,
    ) -> SettlerFuture<'a, Option<SentPayment>> {
        Box::pin(async { Ok(None) })
    }

    /// Clears transactions that block payments and belong to no unfinished claim. A recently
    /// credited payment that blocks them is sent again, because its chain has reorganised it away.
    fn clear_blocking_transactions<'a>(
        &'a self,
        _unfinished: &'a [PaymentClaim],
        _credited: &'a [PaymentClaim],
    ) -> SettlerFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Checks which chain each node serves: an error if one serves another chain than configured,
    /// or does not answer.
    fn check_nodes(&self) -> SettlerFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// A recent Solana blockhash, which makes a transaction expire soon; None if Solana payments
    /// are not settled.
    fn recent_blockhash(&self) -> SettlerFuture<'_, Option<[u8; 32]>> {
        Box::pin(async { Ok(None) })
    }

    /// True if the contract at an address confirms a signature as its own.
    fn confirms_signature<'a>(&'a self, check: &'a ContractCheck) -> SettlerFuture<'a, bool>;
}

/// A payment to settle: the verified payment, the client's original, and our requirement.
#[derive(Debug, Clone)]
pub struct SettlementOrder {
    pub verified: VerifiedPayment,
    pub payment: UnverifiedPayment,
    /// The requirement, with the amount that was signed.
    pub requirement: PaymentRequirement,
}

#[derive(Debug)]
pub enum PaymentPreparation {
    Ready(PreparedPayment),
    /// Another account has sent the payment to the chain: authorizations are public once seen.
    Moved(ConfirmedTransfer),
}

#[derive(Debug, Default)]
pub struct PreparedPayment {
    pub sent: SentPayment,
    /// Held until the payment was sent, so that the next one gets the next nonce.
    pub turn: Option<SendSlot>,
}

/// The exclusive right to send. Dropping it lets the next payment proceed.
pub struct SendSlot(#[expect(dead_code, reason = "it is only ever let go")] Box<dyn Send + Sync>);

/// The state of a claim on its chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainSighting {
    /// The money has arrived, with the required confirmations.
    Moved(ConfirmedTransfer),
    /// The money has not moved, and the transactions that were sent can no longer move it.
    Never(PaymentDecline),
    /// The transaction is not on its way: the node rejected it or was unreachable, or another one
    /// took its nonce.
    Unsent(String),
    /// Not known yet.
    Waiting { transaction: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmedTransfer {
    /// The amount that arrived, which may differ from the amount promised.
    pub amount: TokenAmount,
    pub transaction: String,
}

/// The reason why a step failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettleFailure {
    /// The payment would fail, for a reason on the payer's side.
    #[error(transparent)]
    Declined(PaymentDecline),
    /// A cause on our side: a node that does not answer, or no funds for fees.
    #[error("{0}")]
    Unable(String),
    /// A node serves another chain than configured.
    #[error("the node serves {served} and not {expected}")]
    WrongChain { served: String, expected: String },
}

/// A payment that the chain will not execute: the protocol's reason, and a message for people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct PaymentDecline {
    pub reason: String,
    pub message: String,
}

impl PaymentDecline {
    pub fn new(reason: impl Into<String>, message: impl Into<String>) -> PaymentDecline {
        PaymentDecline { reason: reason.into(), message: message.into() }
    }
}

impl From<PaymentDecline> for SettleFailure {
    fn from(decline: PaymentDecline) -> SettleFailure {
        SettleFailure::Declined(decline)
    }
}

impl SettleFailure {
    pub(crate) fn unable(cause: impl fmt::Display) -> SettleFailure {
        SettleFailure::Unable(cause.to_string())
    }
}

impl SendSlot {
    pub fn new(guard: impl Send + Sync + 'static) -> SendSlot {
        SendSlot(Box::new(guard))
    }
}

impl fmt::Debug for SendSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendSlot")
    }
}
