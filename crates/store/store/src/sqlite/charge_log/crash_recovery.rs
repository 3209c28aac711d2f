//! Posts the charges that a crash left in the charge log, once, before anything else is read or
//! written.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;
use crate::sqlite::charge_log::codec::decode_groups;
use crate::sqlite::charge_log::delete_rows;
use crate::sqlite::errors::to_store_error;
use crate::sqlite::posting::{SqliteCaches, SqlitePosting};
use crate::sqlite::write_error::WriteError;
use crate::write::WriteGroup;

/// Posts all rows of the log or none, in one transaction.
pub(crate) fn post_left_rows(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(to_store_error)?;
    let batches = read_rows(&transaction)?;
    if batches.is_empty() {
        return Ok(());
    }
    post_batches(&transaction, &batches).map_err(|error| match error {
        WriteError::Sqlite(error) => posting_error(batches.len(), to_store_error(error)),
        WriteError::Refused(error) | WriteError::Unpostable(error) => {
            posting_error(batches.len(), error)
        }
    })?;
    transaction.commit().map_err(to_store_error)?;
    let charges: usize = batches.iter().map(Vec::len).sum();
    tracing::info!(charges, "posted {charges} charges that the last run had not got to");
    Ok(())
}

/// The groups of each row, in order.
fn read_rows(connection: &Connection) -> Result<Vec<Vec<WriteGroup>>, StoreError> {
    let sql = "SELECT seq, charges FROM charge_log ORDER BY seq";
    let mut statement = connection.prepare(sql).map_err(to_store_error)?;
    let mut rows = statement.query([]).map_err(to_store_error)?;
    let mut batches = Vec::new();
    while let Some(row) = rows.next().map_err(to_store_error)? {
        let seq: i64 = row.get(0).map_err(to_store_error)?;
        let charges: Vec<u8> = row.get(1).map_err(to_store_error)?;
        let decoded = decode_groups(&charges).map_err(|error| {
            let told = format!("row {seq} of the table charge_log cannot be read: {error}");
            StoreError::Unsuitable(told)
        })?;
        batches.push(decoded);
    }
    Ok(batches)
}

fn post_batches(connection: &Connection, batches: &[Vec<WriteGroup>]) -> Result<(), WriteError> {
    let mut memory = SqliteCaches::default();
    let mut posting = SqlitePosting::new(connection, &mut memory)?;
    delete_rows(connection, batches.len())?;
    for group in batches.iter().flatten() {
        posting.add(group)?;
    }
    posting.finish()
}

fn posting_error(rows: usize, error: StoreError) -> StoreError {
    match error {
        StoreError::Full => StoreError::Full,
        error => StoreError::Unsuitable(format!(
            "the table charge_log holds charges that were acknowledged and cannot be posted, in \
             {rows} rows; they were left there, so keep a copy of the database and ask for help: \
             {error}"
        )),
    }
}
