//! Backups: a copy of all tables as of one moment, made while the service runs.
//!
//! The copy is made by `VACUUM INTO`, which reads one snapshot of the database however long it
//! takes; writers continue, and their writes stay in the write-ahead log until it is done. A backup
//! is marked in its header, so that it is never opened as a live database: the write-ahead log of
//! another database in the same directory would be applied to it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use moment::Timestamp;
use rusqlite::{Connection, params};

use crate::backup::BackupSummary;
use crate::error::StoreError;
use crate::sqlite::charge_log::old_file;
use crate::sqlite::errors::to_store_error;
use crate::sqlite::partial_backup::PartialBackup;
use crate::sqlite::restore::RESTORED_FROM;
use crate::sqlite::schema::APPLICATION_ID;
use crate::sqlite::{audit, create_private};

/// The application id of a backup ("TolB"); a live database has "Toll".
const BACKUP_ID: i32 = 0x546F_6C42;
/// The offset of SQLite's application id in the file, and the length of the header.
const APPLICATION_ID_AT: usize = 68;
const HEADER_BYTES: usize = 100;
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// The setting in a backup with the time it was made.
const MADE_AT: &str = "backup_made_at";

/// The kind of a file, by its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BackupFileKind {
    Nothing,
    Backup,
    Other,
}

pub(crate) fn kind_of(path: &Path) -> Result<BackupFileKind, StoreError> {
    let mut header = [0; HEADER_BYTES];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BackupFileKind::Nothing),
        // Shorter than any database.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(BackupFileKind::Other),
        Err(error) => return Err(file_error(path, &error)),
        Ok(()) => {}
    }
    let id = &header[APPLICATION_ID_AT..APPLICATION_ID_AT + 4];
    let is_backup = header.starts_with(SQLITE_MAGIC) && id == BACKUP_ID.to_be_bytes();
    Ok(if is_backup { BackupFileKind::Backup } else { BackupFileKind::Other })
}

/// Writes a backup of a database that this process owns. Charges that are not posted are copied as
/// rows of the charge log, and missing in `last_seq`.
pub(crate) fn write_backup(
    database: &Path,
    to: &Path,
    at: Timestamp,
) -> Result<BackupSummary, StoreError> {
    if kind_of(to)? != BackupFileKind::Nothing {
        return Err(StoreError::Unsuitable(format!(
            "{} is there already; a backup replaces nothing",
            to.display()
        )));
    }
    let partial = PartialBackup::begin(database, to)?;
    let last_seq = copy_database(database, partial.path(), at)?;
    let bytes = sync_file(partial.path())?;
    std::fs::rename(partial.path(), to).map_err(|error| file_error(to, &error))?;
    sync_directory(to)?;
    Ok(BackupSummary { bytes, last_seq })
}

fn copy_database(database: &Path, partial: &Path, at: Timestamp) -> Result<i64, StoreError> {
    create_private(partial)?;
    let name = partial.to_str().ok_or_else(|| {
        StoreError::Unsuitable(format!("{} is no name in UTF-8", partial.display()))
    })?;
    let source = Connection::open(database).map_err(to_store_error)?;
    source.pragma_update(None, "synchronous", "FULL").map_err(to_store_error)?;
    source.pragma_update(None, "mmap_size", 0).map_err(to_store_error)?;
    source.execute("VACUUM INTO ?1", [name]).map_err(to_store_error)?;
    drop(source);
    mark_as_backup(partial, at).map_err(to_store_error)
}

fn mark_as_backup(partial: &Path, at: Timestamp) -> rusqlite::Result<i64> {
    let mut copy = Connection::open(partial)?;
    let transaction = copy.transaction()?;
    let put = "INSERT INTO setting (name, value) VALUES (?1, ?2) \
               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    transaction.execute(put, params![MADE_AT, at.to_string().into_bytes()])?;
    transaction.pragma_update(None, "application_id", BACKUP_ID)?;
    let last = "SELECT coalesce(max(seq), 0) FROM transfer";
    let last_seq = transaction.query_row(last, [], |row| row.get(0))?;
    transaction.commit()?;
    Ok(last_seq)
}

/// Turns a backup that was put at the database's path into a live database. Refused if files of
/// another database are next to it.
pub(crate) fn activate_backup(path: &Path) -> Result<(), StoreError> {
    if kind_of(path)? != BackupFileKind::Backup {
        return Ok(());
    }
    for other in [with_ending(path, "-wal"), old_file::path_beside(path)] {
        if holds_anything(&other)? {
            return Err(StoreError::Unsuitable(format!(
                "{} is a backup, and {} beside it belongs to another database: its charges and \
                 changes are not those of the backup. Move both away, or use `tollgate restore`, \
                 which does",
                path.display(),
                other.display()
            )));
        }
    }
    mark_as_database(path).map_err(to_store_error)
}

/// Runs in one transaction, so that the file is always either a backup or a database.
fn mark_as_database(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction()?;
    let made_at: Vec<u8> =
        transaction
            .query_row("SELECT value FROM setting WHERE name = ?1", [MADE_AT], |row| row.get(0))?;
    let rename = "UPDATE OR REPLACE setting SET name = ?2 WHERE name = ?1";
    transaction.execute(rename, [MADE_AT, RESTORED_FROM])?;
    let detail = format!("from a backup of {}", String::from_utf8_lossy(&made_at));
    audit::record_own_action(&transaction, "restored", &path.display().to_string(), &detail)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()
}

/// True if a file has content that would be taken for part of a database.
fn holds_anything(path: &Path) -> Result<bool, StoreError> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        found => Ok(0 < found.map_err(|error| file_error(path, &error))?.len()),
    }
}

pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Syncs a file to disk, and returns its length.
pub(crate) fn sync_file(path: &Path) -> Result<u64, StoreError> {
    let synced = File::open(path).and_then(|file| {
        file.sync_all()?;
        Ok(file.metadata()?.len())
    });
    synced.map_err(|error| file_error(path, &error))
}

/// Syncs the directory entry of a file to disk.
pub(crate) fn sync_directory(of: &Path) -> Result<(), StoreError> {
    let directory = of.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|error| file_error(directory, &error))
}

pub(crate) fn file_error(path: &Path, error: &std::io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full,
        _ => StoreError::Failed(format!("{}: {error}", path.display())),
    }
}
