//! Restores a backup or an export: written to a temporary path, verified there, and only then moved
//! to its final path.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use moment::Timestamp;
use rusqlite::Connection;

use crate::error::StoreError;
use crate::sqlite::backup::{
    BackupFileKind, file_error, kind_of, sync_directory, sync_file, with_ending,
};
use crate::sqlite::charge_log::old_file;
use crate::sqlite::create_private;
use crate::sqlite::errors::to_store_error;
use crate::sqlite::lock::DatabaseLock;

/// The setting of a restored database with the time its backup was made.
pub const RESTORED_FROM: &str = "restored_from_backup_of";

/// A database in a temporary place. The final path is locked meanwhile.
#[derive(Debug)]
pub struct StagedDatabase {
    database: PathBuf,
    folder: PathBuf,
    copy: PathBuf,
    _lock: DatabaseLock,
}

impl StagedDatabase {
    /// Copies a backup to the file system that it will be used on.
    pub fn copy(backup: &Path, database: &Path) -> Result<StagedDatabase, StoreError> {
        match kind_of(backup)? {
            BackupFileKind::Backup => {}
            BackupFileKind::Nothing => {
                let message = format!("there is no file {}", backup.display());
                return Err(StoreError::Unsuitable(message));
            }
            BackupFileKind::Other => {
                return Err(StoreError::Unsuitable(format!(
                    "{} was not written by `tollgate backup`",
                    backup.display()
                )));
            }
        }
        let staged = StagedDatabase::create_folder(database)?;
        create_private(&staged.copy)?;
        fs::copy(backup, &staged.copy).map_err(|error| file_error(&staged.copy, &error))?;
        sync_file(&staged.copy)?;
        Ok(staged)
    }

    /// A place for a new database, next to its final path. Refused if a database exists there.
    pub fn empty(database: &Path) -> Result<StagedDatabase, StoreError> {
        if database.exists() {
            return Err(already_exists_error(
                database,
                "import to another directory, or move it away",
            ));
        }
        StagedDatabase::create_folder(database)
    }

    fn create_folder(database: &Path) -> Result<StagedDatabase, StoreError> {
        if let Some(parent) = database.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
            made.map_err(|error| file_error(parent, &error))?;
        }
        let lock = DatabaseLock::take(database)?;
        let folder = with_ending(database, ".restoring");
        let _ = fs::remove_dir_all(&folder);
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| file_error(&folder, &error))?;
        let copy = folder.join("database");
        Ok(StagedDatabase { database: database.to_owned(), folder, copy, _lock: lock })
    }

    /// The path at which the copy can be opened as a database and verified.
    pub fn path(&self) -> &Path {
        &self.copy
    }

    /// Moves the copy to the final path. Existing files are refused, or with `replace` renamed; the
    /// new names are returned. The copy must be closed.
    pub fn move_to_final_path(
        self,
        replace: bool,
        now: Timestamp,
    ) -> Result<Vec<PathBuf>, StoreError> {
        fold_in_log(&self.copy).map_err(to_store_error)?;
        let before = format!(".before-{}", now.ms());
        let mut kept = Vec::new();
        let database = &self.database;
        let beside = [with_ending(database, "-wal"), old_file::path_beside(database)];
        for old in std::iter::once(database.clone()).chain(beside) {
            if !old.exists() {
                continue;
            }
            if !replace {
                let advice = "restore to another directory, or say --replace to keep it under \
                              another name";
                return Err(already_exists_error(&old, advice));
            }
            let name = with_ending(&old, &before);
            fs::rename(&old, &name).map_err(|error| file_error(&old, &error))?;
            kept.push(name);
        }
        // SQLite recreates it.
        let _ = fs::remove_file(with_ending(database, "-shm"));
        sync_file(&self.copy)?;
        fs::rename(&self.copy, database).map_err(|error| file_error(database, &error))?;
        sync_directory(database)?;
        Ok(kept)
    }
}

fn already_exists_error(path: &Path, advice: &str) -> StoreError {
    StoreError::Unsuitable(format!("{} is there already; {advice}", path.display()))
}

/// Moves the write-ahead log of the verified copy into the copy itself. Fails while another
/// connection has it open.
fn fold_in_log(copy: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(copy)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_mode", "DELETE")
}

impl Drop for StagedDatabase {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
