//! Ensures that one process owns a database, by a lock on a file next to it, which ends with the
//! process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// Holds the lock until dropped.
#[derive(Debug)]
pub(crate) struct DatabaseLock {
    _file: File,
}

impl DatabaseLock {
    pub(crate) fn take(database: &Path) -> Result<DatabaseLock, StoreError> {
        let path = lock_path(database);
        let failed = |error: std::io::Error| {
            StoreError::Failed(format!("cannot open the lock file {}: {error}", path.display()))
        };
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(DatabaseLock { _file: file }),
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::InUse { path: database.display().to_string() })
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// Longer than the path of any directory.
const HOLDER_BYTES_MAX: u64 = 16 * 1024;

/// Writes the holder's data directory into the lock file, for the error message of the next process
/// that tries.
pub fn note_holder(database: &Path, data_dir: &Path) -> std::io::Result<()> {
    std::fs::write(lock_path(database), data_dir.as_os_str().as_encoded_bytes())
}

/// The data directory of the process that last wrote it into the lock file, if any.
pub fn read_lock_holder(database: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    let file = File::open(lock_path(database)).ok()?;
    file.take(HOLDER_BYTES_MAX).read_to_string(&mut text).ok()?;
    (!text.is_empty()).then(|| PathBuf::from(text))
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}
