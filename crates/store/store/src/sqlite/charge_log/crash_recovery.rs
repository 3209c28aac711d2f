//! Posts the charges that a crash left in the charge log, once, before anything else is read or
//! written.

use std::io;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;
use crate::sqlite::SqliteOptions;
use crate::sqlite::audit;
use crate::sqlite::charge_log::codec::{decode_groups, decode_readable_entries};
use crate::sqlite::charge_log::file::{LogFile, area_of, path_beside, read_all};
use crate::sqlite::charge_log::record::{ChargeLogError, IncompleteRecord};
use crate::sqlite::charge_log::{is_no_room, raise_generation, record};
use crate::sqlite::errors::to_store_error;
use crate::sqlite::posting::{SqliteCaches, SqlitePosting};
use crate::sqlite::writer::WriteError;
use crate::write::WriteGroup;

/// Posts the charges in the log's file, and opens it for a new generation.
pub(crate) fn recover_and_open(
    connection: &mut Connection,
    options: &SqliteOptions,
) -> Result<LogFile, StoreError> {
    let path = path_beside(&options.path);
    let generation = post_unposted_charges(connection, &path)?;
    LogFile::open(&path, options.durability, generation).map_err(|error| open_error(&path, &error))
}

/// Posts all or nothing, in one transaction. Returns the next generation.
fn post_unposted_charges(connection: &mut Connection, path: &Path) -> Result<i64, StoreError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(to_store_error)?;
    let sql = "SELECT generation FROM charge_log_generation";
    let generation = transaction.query_row(sql, [], |row| row.get(0)).map_err(to_store_error)?;
    let unposted = read_unposted_charges(path, generation)?;
    if unposted.groups.is_empty() && unposted.torn.is_none() {
        return Ok(generation);
    }
    let charges = unposted.groups.len();
    post_groups(&transaction, generation, &unposted).map_err(|error| match error {
        WriteError::Sqlite(error) | WriteError::Meanwhile(error) => {
            posting_error(path, charges, &to_store_error(error))
        }
        WriteError::Refused(error) | WriteError::Unpostable(error) => {
            posting_error(path, charges, &error)
        }
    })?;
    if let Some(told) = &unposted.torn {
        let subject = path.display().to_string();
        audit::record_own_action(&transaction, "charge log torn", &subject, told)
            .map_err(to_store_error)?;
        tracing::warn!("{told}");
    }
    transaction.commit().map_err(to_store_error)?;
    if 0 < charges {
        tracing::info!(charges, "posted {charges} charges that the last run had not got to");
    }
    Ok(unposted.next)
}

/// The contents of the log after a crash.
struct UnpostedCharges {
    groups: Vec<WriteGroup>,
    /// The generation after them.
    next: i64,
    /// The description of an incomplete record, if there is one.
    torn: Option<String>,
}

/// Reads the charges that are not posted. There are two generations if the process ended while the
/// first was being posted, or after that had failed.
fn read_unposted_charges(path: &Path, generation: i64) -> Result<UnpostedCharges, StoreError> {
    let file = read_all(path).map_err(|error| open_error(path, &error))?;
    let unusable = |told: &dyn std::fmt::Display| {
        StoreError::Unsuitable(format!("the charge log {} cannot be used: {told}", path.display()))
    };
    let records = |generation| {
        let records = record::read_records(area_of(&file, generation), generation);
        records.map_err(|error| unusable(&error))
    };
    let (first, second) = (records(generation)?, records(generation + 1)?);
    if record::has_any(area_of(&file, generation + 1), generation) {
        return Err(unusable(&ChargeLogError::Misplaced));
    }
    if first.is_empty() && !second.is_empty() {
        return Err(unusable(&ChargeLogError::Later));
    }
    let torn = [generation, generation + 1].into_iter().find_map(|it| {
        record::find_incomplete_record(area_of(&file, it), it)
            .map(|torn| describe_incomplete_record(it, &torn))
    });
    let next = generation + if second.is_empty() && torn.is_none() { 1 } else { 2 };
    let mut groups = Vec::new();
    for (number, charges) in first.into_iter().chain(second).enumerate() {
        let decoded = decode_groups(charges);
        groups
            .extend(decoded.map_err(|error| unusable(&format_args!("record {number}: {error}")))?);
    }
    Ok(UnpostedCharges { groups, next, torn })
}

/// Describes an incomplete record as far as it can be decoded.
fn describe_incomplete_record(generation: i64, torn: &IncompleteRecord<'_>) -> String {
    let IncompleteRecord { number, charges } = torn;
    let entries: Vec<String> =
        decode_readable_entries(charges).iter().map(|entry| entry.0.to_string()).collect();
    let which = match entries.len() {
        0 => "no charge in it can be read".to_owned(),
        count => format!("{count} charges in it can be read, {}", entries.join(" ")),
    };
    format!(
        "record {number} of generation {generation} of the charge log is not whole and was left \
         out: it was being written when the process ended, and then nobody was told of it, or the \
         disk has damaged it since; {which}"
    )
}

fn post_groups(
    connection: &Connection,
    generation: i64,
    unposted: &UnpostedCharges,
) -> Result<(), WriteError> {
    let mut memory = SqliteCaches::default();
    let mut posting = SqlitePosting::new(connection, &mut memory)?;
    raise_generation(connection, generation, unposted.next)?;
    for group in &unposted.groups {
        posting.add(group)?;
    }
    posting.finish()
}

fn open_error(path: &Path, error: &io::Error) -> StoreError {
    if is_no_room(error) {
        return StoreError::Full;
    }
    StoreError::Failed(format!("cannot open the charge log {}: {error}", path.display()))
}

fn posting_error(path: &Path, charges: usize, error: &StoreError) -> StoreError {
    match error {
        StoreError::Full => StoreError::Full,
        error => StoreError::Unsuitable(format!(
            "the charge log {} holds {charges} charges that were acknowledged and cannot be \
             posted; they were left there, so keep a copy of it and of the database and ask for \
             help: {error}",
            path.display()
        )),
    }
}
