//! Converts columns of a row.

use rusqlite::Row;
use uuid::Uuid;

pub(crate) fn read_id(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    row.get(column).map(Uuid::from_bytes)
}

pub(crate) fn read_optional_id(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Uuid>> {
    let bytes: Option<[u8; 16]> = row.get(column)?;
    Ok(bytes.map(Uuid::from_bytes))
}
