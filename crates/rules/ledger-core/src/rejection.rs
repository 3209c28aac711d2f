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
    #[error("this command was carried out before: treat it as done")]
    Duplicate { earlier: Option<Box<CommandOutcome>> },
    #[error("there is no such hold: it was settled or released, or it ended with a restart")]
    NoSuchHold,
    #[error("there is no such recent charge that anybody paid: read it back from the journal")]
    NoSuchCharge,
    #[error("the charge was refunded before: treat it as done")]
    AlreadyRefunded { earlier: Option<Box<CommandOutcome>> },
    #[error("give an amount from zero to {AMOUNT_MAX}, above zero if it is to be credited")]
    InvalidAmount,
    #[error("{left} is left of what the operator gave, and {wanted} was to be taken back")]
    BeyondGiven { left: Nano, wanted: Nano },
    #[error("give an expiry in the future")]
    ExpiryPassed,
    #[error("the balance would pass what one owner can have: spend some first")]
    BalanceTooLarge,
    #[error("the owner has too many grants with their own expiry: wait until some expire")]
    TooManyLots,
    #[error("there are too many open holds: wait until some end")]
    TooManyHolds,
}
