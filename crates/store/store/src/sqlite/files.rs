//! Reads and writes the rows of callers' files.

use ledger_core::OwnerId;
use moment::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::file::{FILES_MAX, FileFilter, FileId, FilePurpose, FileTotals, FileWrite, StoredFile};
use crate::sqlite::columns::{read_id, read_parsed, read_time};
use crate::sqlite::write_error::WriteError;

const COLUMNS: &str = "id, owner, name, purpose, bytes, created_ms, expires_ms";

pub(crate) fn post_file(connection: &Connection, write: &FileWrite) -> Result<(), WriteError> {
    match write {
        FileWrite::Add(file) => {
            let sql = "INSERT INTO file (id, owner, name, purpose, bytes, created_ms, expires_ms) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            connection.prepare_cached(sql)?.execute(params![
                file.id.0.as_bytes(),
                file.owner.0.as_bytes(),
                file.name,
                file.purpose.name(),
                file.bytes,
                file.created.ms(),
                file.expires.ms()
            ])?;
            Ok(())
        }
        FileWrite::KeepUntil { file, until } => keep_until(connection, *file, *until),
        FileWrite::Delete(file) => {
            let sql = "UPDATE file SET is_deleted = 1 WHERE id = ?1";
            connection.prepare_cached(sql)?.execute([file.0.as_bytes()])?;
            let sql = "UPDATE media SET state = 'DELETING', key = NULL \
                       WHERE id = ?1 AND state = 'STORED'";
            connection.prepare_cached(sql)?.execute([file.0.as_bytes()])?;
            Ok(())
        }
        FileWrite::DropGone { rows_max } => drop_gone(connection, *rows_max),
    }
}

fn keep_until(connection: &Connection, file: FileId, until: Timestamp) -> Result<(), WriteError> {
    let sql = "UPDATE file SET expires_ms = max(expires_ms, ?2) WHERE id = ?1 AND is_deleted = 0 \
               AND EXISTS (SELECT 1 FROM media WHERE media.id = ?1 AND media.state = 'STORED')";
    let values = params![file.0.as_bytes(), until.ms()];
    if connection.prepare_cached(sql)?.execute(values)? != 1 {
        return Err(WriteError::Refused(StoreError::Missing("the file was deleted")));
    }
    let sql = "UPDATE media SET expires_ms = max(expires_ms, ?2) WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn drop_gone(connection: &Connection, rows_max: usize) -> Result<(), WriteError> {
    let gone = "SELECT file.id FROM file JOIN media ON media.id = file.id \
                WHERE media.state = 'DELETED' LIMIT ?1";
    let mut statement = connection.prepare_cached(gone)?;
    let rows = statement.query_map([rows_max], |row| read_id(row, 0))?;
    let gone: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    for id in gone {
        for sql in ["DELETE FROM file WHERE id = ?1", "DELETE FROM media WHERE id = ?1"] {
            connection.prepare_cached(sql)?.execute([id.as_bytes()])?;
        }
    }
    Ok(())
}

pub(crate) fn read_file(
    connection: &Connection,
    id: FileId,
) -> rusqlite::Result<Option<StoredFile>> {
    let sql = format!("SELECT {COLUMNS} FROM file WHERE id = ?1 AND is_deleted = 0");
    connection.prepare_cached(&sql)?.query_row([id.0.as_bytes()], file_at).optional()
}

pub(crate) fn list_files(
    connection: &Connection,
    filter: &FileFilter,
) -> rusqlite::Result<Vec<StoredFile>> {
    let (comparison, order) = if filter.is_ascending { (">", "ASC") } else { ("<", "DESC") };
    let sql = format!(
        "SELECT {COLUMNS} FROM file WHERE owner = ?1 AND is_deleted = 0 AND ?2 < expires_ms \
         AND (?3 IS NULL OR purpose = ?3) AND (?4 IS NULL OR id {comparison} ?4) \
         ORDER BY id {order} LIMIT ?5"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = params![
        filter.owner.0.as_bytes(),
        filter.now.ms(),
        filter.purpose.map(FilePurpose::name),
        filter.after.as_ref().map(|file| file.0.as_bytes()),
        filter.limit.min(FILES_MAX)
    ];
    statement.query_map(values, file_at)?.collect()
}

pub(crate) fn sum_files(
    connection: &Connection,
    owner: OwnerId,
    now: Timestamp,
) -> rusqlite::Result<FileTotals> {
    let sql = "SELECT count(*), coalesce(sum(bytes), 0) FROM file \
               WHERE owner = ?1 AND is_deleted = 0 AND ?2 < expires_ms";
    connection.prepare_cached(sql)?.query_row(params![owner.0.as_bytes(), now.ms()], |row| {
        Ok(FileTotals { files: row.get(0)?, bytes: row.get(1)? })
    })
}

fn file_at(row: &Row<'_>) -> rusqlite::Result<StoredFile> {
    Ok(StoredFile {
        id: read_id(row, 0).map(FileId)?,
        owner: read_id(row, 1).map(OwnerId)?,
        name: row.get(2)?,
        purpose: read_parsed(row, 3, FilePurpose::parse)?,
        bytes: row.get(4)?,
        created: read_time(row, 5)?,
        expires: read_time(row, 6)?,
    })
}
