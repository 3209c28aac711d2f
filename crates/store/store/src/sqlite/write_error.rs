//! The error of a write to SQLite.

use crate::error::StoreError;

/// The error of a group or a batch.
#[derive(Debug)]
pub(crate) enum WriteError {
    Sqlite(rusqlite::Error),
    Refused(StoreError),
    /// The tables refuse a charge that was acknowledged.
    Unpostable(StoreError),
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> WriteError {
        WriteError::Sqlite(error)
    }
}

impl From<StoreError> for WriteError {
    fn from(error: StoreError) -> WriteError {
        WriteError::Refused(error)
    }
}
