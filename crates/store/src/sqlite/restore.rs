//! Restores a backup or an export: written to a temporary path, verified there, and only then moved
//! to its final path.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use moment::Timestamp;
use rusqlite::Connection;

use crate::error::StoreError;
use crate::sqlite::backup::{Kind, failed, kind_of, sync, sync_directory, with_ending};
use crate::sqlite::charge_log::file::path_beside;
use crate::sqlite::create_private;
use crate::sqlite::errors::refusal;
use crate::sqlite::lock::Lock;

/// The setting of a restored database with the time its backup was made.
pub const RESTORED_FROM: &str = "restored_from_backup_of";

/// A database in a temporary place. The final path is locked meanwhile.
#[derive(Debug)]
pub struct Staged {
    database: PathBuf,
    folder: PathBuf,
    copy: PathBuf,
    _lock: Lock,
}

impl Staged {
    /// Copies a backup to the file system that it will be used on.
    pub fn copy(backup: &Path, database: &Path) -> Result<Staged, StoreError> {
        match kind_of(backup)? {
            Kind::Backup => {}
            Kind::Nothing => {
                let message = format!("there is no file {}", backup.display());
                return Err(StoreError::Unsuitable(message));
            }
            Kind::Other => {
                return Err(StoreError::Unsuitable(format!(
                    "{} was not written by `tollgate backup`",
                    backup.display()
                )));
            }
        }
        let staged = Staged::beside(database)?;
        create_private(&staged.copy)?;
        fs::copy(backup, &staged.copy).map_err(|error| failed(&staged.copy, &error))?;
        sync(&staged.copy)?;
        Ok(staged)
    }

    /// A place for a new database, next to its final path. Refused if a database exists there.
    pub fn empty(database: &Path) -> Result<Staged, StoreError> {
        if database.exists() {
            return Err(is_there(database, "import to another directory, or move it away"));
        }
        Staged::beside(database)
    }

    fn beside(database: &Path) -> Result<Staged, StoreError> {
        if let Some(parent) = database.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
            made.map_err(|error| failed(parent, &error))?;
        }
        let lock = Lock::take(database)?;
        let folder = with_ending(database, ".restoring");
        let _ = fs::remove_dir_all(&folder);
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| failed(&folder, &error))?;
        let copy = folder.join("database");
        Ok(Staged { database: database.to_owned(), folder, copy, _lock: lock })
    }

    /// The path at which the copy can be opened as a database and verified.
    pub fn path(&self) -> &Path {
        &self.copy
    }

    /// Moves the copy to the final path. Existing files are refused, or with `replace` renamed; the
    /// new names are returned. The copy must be closed.
    pub fn put_in_place(self, replace: bool, now: Timestamp) -> Result<Vec<PathBuf>, StoreError> {
        make_one_file(&self.copy).map_err(refusal)?;
        let before = format!(".before-{}", now.ms());
        let mut kept = Vec::new();
        let database = &self.database;
        for old in [database.clone(), with_ending(database, "-wal"), path_beside(database)] {
            if !old.exists() {
                continue;
            }
            if !replace {
                let advice = "restore to another directory, or say --replace to keep it under \
                              another name";
                return Err(is_there(&old, advice));
            }
            let name = with_ending(&old, &before);
            fs::rename(&old, &name).map_err(|error| failed(&old, &error))?;
            kept.push(name);
        }
        // SQLite recreates it.
        let _ = fs::remove_file(with_ending(database, "-shm"));
        sync(&self.copy)?;
        fs::rename(&self.copy, database).map_err(|error| failed(database, &error))?;
        sync_directory(database)?;
        Ok(kept)
    }
}

fn is_there(path: &Path, advice: &str) -> StoreError {
    StoreError::Unsuitable(format!("{} is there already; {advice}", path.display()))
}

/// Moves the write-ahead log of the verified copy into the copy itself. Fails while another
/// connection has it open.
fn make_one_file(copy: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(copy)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_mode", "DELETE")
}

impl Drop for Staged {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
