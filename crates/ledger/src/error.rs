//! Why the ledger did not do what it was asked.

use credits::{Rejection, Violation};
use store::error::StoreError;

/// Why no money could be set aside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HoldRefused {
    /// The balance or a limit of the key says no.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// Charges cannot be written at the moment, so no work is taken on.
    #[error("charging is paused because it cannot be recorded: try again in a moment")]
    Unavailable,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// Nothing was charged or credited, or it is not known whether it was; sending the same
    /// command again is safe.
    #[error("charging is paused because it cannot be recorded: try again in a moment")]
    Unavailable,
    /// A question to the store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is on disk breaks a rule of the books.
    #[error("the books are damaged, and nothing is charged until they are mended: {0}")]
    Damaged(#[from] Violation),
}

impl From<HoldRefused> for LedgerError {
    fn from(refused: HoldRefused) -> LedgerError {
        match refused {
            HoldRefused::Rejected(rejection) => LedgerError::Rejected(rejection),
            HoldRefused::Unavailable => LedgerError::Unavailable,
        }
    }
}
