//! Errors of the ledger.

use ledger_core::{CommandRejection, InvariantViolation};
use store::error::StoreError;

/// The reason why no money could be held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HoldRefused {
    /// The balance or a limit of the key does not allow it.
    #[error(transparent)]
    Rejected(#[from] CommandRejection),
    /// Charges cannot be written at the moment, so no new work is accepted.
    #[error("charging is paused because it cannot be recorded: try again in a moment")]
    Unavailable,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    #[error(transparent)]
    Rejected(#[from] CommandRejection),
    /// Nothing was charged or credited, or the outcome is unknown; repeating the same command is
    /// safe.
    #[error("charging is paused because it cannot be recorded: try again in a moment")]
    Unavailable,
    /// A query of the store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The data on disk violates an invariant of the books.
    #[error("the books are damaged, and nothing is charged until they are mended: {0}")]
    Damaged(#[from] InvariantViolation),
}

impl From<HoldRefused> for LedgerError {
    fn from(refused: HoldRefused) -> LedgerError {
        match refused {
            HoldRefused::Rejected(rejection) => LedgerError::Rejected(rejection),
            HoldRefused::Unavailable => LedgerError::Unavailable,
        }
    }
}
