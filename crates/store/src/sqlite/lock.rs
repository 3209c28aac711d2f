//! One process owns a database: a lock file beside it says so, and dies with the process.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// The lock is held for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take(database: &Path) -> Result<Lock, StoreError> {
        let path = beside(database);
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
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::InUse { path: database.display().to_string() })
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}
