//! Classifies errors of SQLite: a bad group, a full disk, or a file that can no longer be trusted.

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};

use crate::error::StoreError;

/// Converts an error for callers.
pub(crate) fn to_store_error(error: rusqlite::Error) -> StoreError {
    let rusqlite::Error::SqliteFailure(failure, message) = &error else {
        return StoreError::Failed(error.to_string());
    };
    let text = message.clone().unwrap_or_else(|| error.to_string());
    let is_duplicate =
        [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE].contains(&failure.extended_code);
    match failure.code {
        ErrorCode::ConstraintViolation if is_duplicate => StoreError::Duplicate(text),
        ErrorCode::ConstraintViolation => StoreError::Refused(text),
        ErrorCode::DiskFull => StoreError::Full,
        _ => StoreError::Failed(text),
    }
}

/// True if the file can no longer be trusted. After a failed fsync the kernel may have dropped the
/// unwritten pages, and a later fsync would still report success; the only safe continuation is a
/// restart from the state on disk.
pub(crate) fn is_fatal(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::SystemIoFailure
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::FileLockingProtocolFailed
        )
    )
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn failure(extended_code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(extended_code), None)
    }

    #[test]
    fn a_failed_fsync_and_a_damaged_file_are_fatal_and_nothing_else_is() {
        for code in [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_CORRUPT] {
            assert!(is_fatal(&failure(code)), "{code}");
        }
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_CONSTRAINT_CHECK, ffi::SQLITE_BUSY] {
            assert!(!is_fatal(&failure(code)), "{code}");
        }
        assert!(!is_fatal(&rusqlite::Error::QueryReturnedNoRows));
    }

    #[test]
    fn callers_can_tell_a_repeated_group_from_a_refused_one_and_from_a_full_disk() {
        assert!(matches!(
            to_store_error(failure(SQLITE_CONSTRAINT_UNIQUE)),
            StoreError::Duplicate(_)
        ));
        assert!(matches!(
            to_store_error(failure(SQLITE_CONSTRAINT_PRIMARYKEY)),
            StoreError::Duplicate(_)
        ));
        assert!(matches!(
            to_store_error(failure(ffi::SQLITE_CONSTRAINT_CHECK)),
            StoreError::Refused(_)
        ));
        assert!(matches!(to_store_error(failure(ffi::SQLITE_FULL)), StoreError::Full));
        assert!(matches!(to_store_error(failure(ffi::SQLITE_BUSY)), StoreError::Failed(_)));
    }
}
