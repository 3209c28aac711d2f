//! The reasons why a command was not carried out. Nothing has changed then.

use moment::Timestamp;
use money::Nano;

use crate::command::AMOUNT_MAX;
use crate::limit::{LimitClass, LimitPeriod};
use crate::outcome::CommandOutcome;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandRejection {
    #[error("{wanted} is needed and {available} is available: add credits")]
    Insufficient { available: Nano, wanted: Nano },
    #[error(
        "the key has used {used} of its {} limit of {limit} per {}: raise the limit or wait",
        class.name(),
        period.name()
    )]
    KeyLimit {
        class: LimitClass,
        limit: Nano,
        /// Spent and reserved in the period.
        used: Nano,
        period: LimitPeriod,
        resets_at: Option<Timestamp>,
    },
    /// The command was carried out before. `earlier` is its outcome while it is in memory, which it
    /// is not after a restart.
    #[error("this command was already executed")]
    Duplicate { earlier: Option<Box<CommandOutcome>> },
    #[error("there is no such hold: it was settled or released, or it ended with a restart")]
    NoSuchHold,
    #[error("the charge is not a recent paid charge: read it from the journal")]
    NoSuchCharge,
    #[error("the charge was already refunded")]
    AlreadyRefunded { earlier: Option<Box<CommandOutcome>> },
    #[error("use an amount from 0 to {AMOUNT_MAX}, above 0 for a credit")]
    InvalidAmount,
    #[error("{left} of the granted credit is unspent, and {wanted} was to be removed")]
    BeyondGiven { left: Nano, wanted: Nano },
    #[error("{left} of the paid credit is left, and {wanted} was to be returned")]
    BeyondPaid { left: Nano, wanted: Nano },
    #[error("give an expiry in the future")]
    ExpiryPassed,
    #[error("the balance would exceed the maximum of one owner: spend some first")]
    BalanceTooLarge,
    #[error("the owner has too many grants with an expiry: wait until some expire")]
    TooManyLots,
    #[error("there are too many open holds: wait until some end")]
    TooManyHolds,
}
