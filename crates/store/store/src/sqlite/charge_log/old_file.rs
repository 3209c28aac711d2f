//! The file in which earlier releases kept charges that were not posted, beside the database.
//!
//! This release does not read its charges: only the release that wrote them posts them. A file
//! without such charges is removed.
//!
//! The file consists of blocks. The first block of each record starts with a mark and has the
//! record's generation; the database has the first generation that is not posted.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension};

use crate::error::StoreError;
use crate::sqlite::backup::{file_error, with_ending};
use crate::sqlite::errors::to_store_error;

const BLOCK_BYTES: usize = 4096;
const MARK: &[u8] = b"Toll";
const GENERATION: std::ops::Range<usize> = 8..16;

/// Generations of a database start at a random number of 62 bits. So other bytes that start with
/// the mark, such as text in the middle of a long record, are not within this distance.
const GENERATIONS_AHEAD_MAX: i64 = 1 << 32;

pub(crate) fn path_beside(database: &Path) -> PathBuf {
    with_ending(database, "-charges")
}

/// Removes the file if its charges are posted. Call it before the migrations, which drop the
/// generation; it is refused if there are charges that are not posted.
pub(crate) fn remove_posted_file(
    connection: &Connection,
    database: &Path,
) -> Result<(), StoreError> {
    let Some(generation) = read_generation(connection).map_err(to_store_error)? else {
        return Ok(());
    };
    let path = path_beside(database);
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => read.map_err(|error| file_error(&path, &error))?,
    };
    if has_unposted_record(&bytes, generation) {
        return Err(StoreError::Unsuitable(format!(
            "{} has charges of an earlier release that are not in the database yet; start and stop \
             that release once, which writes them to the database, and then this one",
            path.display()
        )));
    }
    std::fs::remove_file(&path).map_err(|error| file_error(&path, &error))
}

/// None if the database was never used with such a file, or not any more.
fn read_generation(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    if !connection.table_exists(None, "charge_log_generation")? {
        return Ok(None);
    }
    let sql = "SELECT generation FROM charge_log_generation";
    connection.query_row(sql, [], |row| row.get(0)).optional()
}

/// True also for a record that is incomplete, and for one that is newer than the database.
fn has_unposted_record(file: &[u8], generation: i64) -> bool {
    file.chunks(BLOCK_BYTES).filter(|block| block.starts_with(MARK)).any(|block| {
        let found = block.get(GENERATION).and_then(|bytes| bytes.try_into().ok());
        found.map(i64::from_le_bytes).is_some_and(|found| {
            (0..GENERATIONS_AHEAD_MAX).contains(&found.wrapping_sub(generation))
        })
    })
}
