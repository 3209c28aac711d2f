//! What a way to settle must do: look before it sends, send, and look again.

use std::fmt;
use std::pin::Pin;

use store::claim::{Claim, SentPayment};
use thiserror::Error;
use wallet::{ContractCheck, Payment, Requirement, TokenAmount, VerifiedPayment};

/// The future of one operation of a [`Settler`].
pub type SettlerFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Setback>> + Send + 'a>>;

/// Puts payments on their chains, itself or through a service.
///
/// Only [`Settler::send`] may move money. Claims are enough to go on from at any later time, so
/// nothing is remembered here that a restart would lose.
pub trait Settler: Send + Sync {
    /// Asks whether the payment would go through, and makes what will be sent.
    fn prepare<'a>(&'a self, order: &'a Order) -> SettlerFuture<'a, Preparation>;

    /// Sends what the claim holds. Sending it again does no harm: the chain takes it once. Any
    /// [`Setback`] means that it may have been sent.
    fn send<'a>(&'a self, claim: &'a Claim) -> SettlerFuture<'a, Sighting>;

    /// What has become of a claim that was sent, or may have been.
    fn look<'a>(&'a self, claim: &'a Claim) -> SettlerFuture<'a, Sighting>;

    /// What to send instead of what a claim holds, because it has waited too long to be mined; none
    /// if there is nothing better.
    fn replacement<'a>(&'a self, _claim: &'a Claim) -> SettlerFuture<'a, Option<SentPayment>> {
        Box::pin(async { Ok(None) })
    }

    /// Clears away what holds payments up and belongs to none of the claims that are unfinished.
    /// What was credited lately is sent once more if it holds them up, for its chain has taken it
    /// back.
    fn clear_the_way<'a>(
        &'a self,
        _unfinished: &'a [Claim],
        _credited: &'a [Claim],
    ) -> SettlerFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Asks every node which chain it serves: an error if one serves another than was configured,
    /// or does not answer.
    fn identify(&self) -> SettlerFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// A block of Solana's for a transaction to name, so that it lands soon or never; none where
    /// payments on Solana are not settled.
    fn recent_blockhash(&self) -> SettlerFuture<'_, Option<[u8; 32]>> {
        Box::pin(async { Ok(None) })
    }

    /// Whether the contract at an address says that a signature is its own.
    fn confirms<'a>(&'a self, check: &'a ContractCheck) -> SettlerFuture<'a, bool>;
}

/// A payment to settle: what was verified, what its client sent, and what we asked for.
#[derive(Debug, Clone)]
pub struct Order {
    pub verified: VerifiedPayment,
    pub payment: Payment,
    /// With the amount that was signed.
    pub requirement: Requirement,
}

#[derive(Debug)]
pub enum Preparation {
    Ready(Prepared),
    /// Somebody else has put the payment on the chain: authorizations are public once seen.
    Moved(Moved),
}

#[derive(Debug, Default)]
pub struct Prepared {
    pub sent: SentPayment,
    /// Kept until the payment was sent, so that the next one is numbered after it.
    pub turn: Option<SendSlot>,
}

/// A place in a row of which only the first may move. Letting it go lets the next one in.
pub struct SendSlot(#[expect(dead_code, reason = "it is only ever let go")] Box<dyn Send + Sync>);

/// What the chain says about a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sighting {
    /// The money is ours, as surely as the operator wants it.
    Moved(Moved),
    /// It has not moved, and what was sent cannot move it any more.
    Never(Decline),
    /// The node turned down what was sent just now, so it is nowhere.
    Unsent(String),
    /// Neither is known yet.
    Waiting { transaction: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// What arrived, whatever was promised.
    pub amount: TokenAmount,
    pub transaction: String,
}

/// Why a step could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Setback {
    /// The payment would not go through, and that is its payer's affair.
    #[error(transparent)]
    Declined(Decline),
    /// Something on our side: a node that does not answer, or no funds for fees.
    #[error("{0}")]
    Unable(String),
    /// A node is not one of the chain that was configured.
    #[error("the node serves {served} and not {expected}")]
    WrongChain { served: String, expected: String },
}

/// A payment that the chain will not carry out: the protocol's word, and words for people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Decline {
    pub reason: String,
    pub message: String,
}

impl Decline {
    pub fn new(reason: impl Into<String>, message: impl Into<String>) -> Decline {
        Decline { reason: reason.into(), message: message.into() }
    }
}

impl From<Decline> for Setback {
    fn from(decline: Decline) -> Setback {
        Setback::Declined(decline)
    }
}

impl Setback {
    pub(crate) fn unable(cause: impl fmt::Display) -> Setback {
        Setback::Unable(cause.to_string())
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
