//! What a crash left in the charge log: posted once, before anything else is done or read.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;
use crate::sqlite::charge_log::codec::decode;
use crate::sqlite::charge_log::delete_rows;
use crate::sqlite::fault::refusal;
use crate::sqlite::posting::{Memory, Posting};
use crate::sqlite::writer::Fault;
use crate::write::Group;

/// All of it or nothing, in one transaction.
pub(crate) fn post_left_over(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(refusal)?;
    let (rows, groups) = read(&transaction)?;
    if rows == 0 {
        return Ok(());
    }
    post(&transaction, rows, &groups).map_err(|fault| match fault {
        Fault::Sqlite(error) => unposted(rows, &refusal(error)),
        Fault::Refused(error) | Fault::Unpostable(error) => unposted(rows, &error),
    })?;
    transaction.commit().map_err(refusal)?;
    let charges = groups.len();
    tracing::info!(charges, "posted {charges} charges that the last run had not got to");
    Ok(())
}

fn read(connection: &Connection) -> Result<(usize, Vec<Group>), StoreError> {
    let sql = "SELECT seq, charges FROM charge_log ORDER BY seq";
    let mut statement = connection.prepare(sql).map_err(refusal)?;
    let mut rows = statement.query([]).map_err(refusal)?;
    let (mut count, mut groups) = (0, Vec::new());
    while let Some(row) = rows.next().map_err(refusal)? {
        let seq: i64 = row.get(0).map_err(refusal)?;
        let charges: Vec<u8> = row.get(1).map_err(refusal)?;
        let decoded = decode(&charges).map_err(|unreadable| {
            let told = format!("row {seq} of the table charge_log cannot be read: {unreadable}");
            StoreError::Unsuitable(told)
        })?;
        groups.extend(decoded);
        count += 1;
    }
    Ok((count, groups))
}

fn post(connection: &Connection, rows: usize, groups: &[Group]) -> Result<(), Fault> {
    let mut memory = Memory::default();
    let mut posting = Posting::new(connection, &mut memory)?;
    delete_rows(connection, rows)?;
    for group in groups {
        posting.add(group)?;
    }
    posting.finish()
}

fn unposted(rows: usize, error: &StoreError) -> StoreError {
    match error {
        StoreError::Full => StoreError::Full,
        error => StoreError::Unsuitable(format!(
            "{rows} rows of the table charge_log hold charges that were acknowledged and cannot be \
             posted; they were left there, so keep a copy of the database and ask for help: {error}"
        )),
    }
}
