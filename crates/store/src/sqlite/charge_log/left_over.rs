//! Posts the charges that a crash left in the charge log, once, before anything else is read or
//! written.

use std::io;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;
use crate::sqlite::Options;
use crate::sqlite::audit;
use crate::sqlite::charge_log::codec::{decode, readable};
use crate::sqlite::charge_log::file::{LogFile, area_of, path_beside, read_all};
use crate::sqlite::charge_log::record::{Torn, Unusable};
use crate::sqlite::charge_log::{is_no_room, raise_generation, record};
use crate::sqlite::errors::refusal;
use crate::sqlite::posting::{Memory, Posting};
use crate::sqlite::writer::WriteError;
use crate::write::Group;

/// Posts the charges in the log's file, and opens it for a new generation.
pub(crate) fn open_posted(
    connection: &mut Connection,
    options: &Options,
) -> Result<LogFile, StoreError> {
    let path = path_beside(&options.path);
    let generation = post_left_over(connection, &path)?;
    LogFile::open(&path, options.durability, generation).map_err(|error| unopened(&path, &error))
}

/// Posts all or nothing, in one transaction. Returns the next generation.
fn post_left_over(connection: &mut Connection, path: &Path) -> Result<i64, StoreError> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(refusal)?;
    let sql = "SELECT generation FROM charge_log_generation";
    let generation = transaction.query_row(sql, [], |row| row.get(0)).map_err(refusal)?;
    let LeftOver { groups, next, torn } = read(path, generation)?;
    if groups.is_empty() && torn.is_none() {
        return Ok(generation);
    }
    let charges = groups.len();
    post(&transaction, (generation, next), &groups).map_err(|error| match error {
        WriteError::Sqlite(error) | WriteError::Meanwhile(error) => {
            unposted(path, charges, &refusal(error))
        }
        WriteError::Refused(error) | WriteError::Unpostable(error) => {
            unposted(path, charges, &error)
        }
    })?;
    if let Some(told) = &torn {
        let subject = path.display().to_string();
        audit::record(&transaction, "charge log torn", &subject, told).map_err(refusal)?;
        tracing::warn!("{told}");
    }
    transaction.commit().map_err(refusal)?;
    if 0 < charges {
        tracing::info!(charges, "posted {charges} charges that the last run had not got to");
    }
    Ok(next)
}

/// The contents of the log after a crash.
struct LeftOver {
    groups: Vec<Group>,
    /// The generation after them.
    next: i64,
    /// The description of an incomplete record, if there is one.
    torn: Option<String>,
}

/// Reads the charges that are not posted. There are two generations if the process ended while the
/// first was being posted, or after that had failed.
fn read(path: &Path, generation: i64) -> Result<LeftOver, StoreError> {
    let file = read_all(path).map_err(|error| unopened(path, &error))?;
    let unusable = |told: &dyn std::fmt::Display| {
        StoreError::Unsuitable(format!("the charge log {} cannot be used: {told}", path.display()))
    };
    let records = |generation| {
        let records = record::read(area_of(&file, generation), generation);
        records.map_err(|error| unusable(&error))
    };
    let (first, second) = (records(generation)?, records(generation + 1)?);
    if record::has_any(area_of(&file, generation + 1), generation) {
        return Err(unusable(&Unusable::Misplaced));
    }
    if first.is_empty() && !second.is_empty() {
        return Err(unusable(&Unusable::Later));
    }
    let torn = [generation, generation + 1]
        .into_iter()
        .find_map(|it| record::torn(area_of(&file, it), it).map(|torn| describe(it, &torn)));
    let next = generation + if second.is_empty() && torn.is_none() { 1 } else { 2 };
    let mut groups = Vec::new();
    for (number, charges) in first.into_iter().chain(second).enumerate() {
        let decoded = decode(charges);
        groups
            .extend(decoded.map_err(|error| unusable(&format_args!("record {number}: {error}")))?);
    }
    Ok(LeftOver { groups, next, torn })
}

/// Describes an incomplete record as far as it can be decoded.
fn describe(generation: i64, torn: &Torn<'_>) -> String {
    let Torn { number, charges } = torn;
    let entries: Vec<String> = readable(charges).iter().map(|entry| entry.0.to_string()).collect();
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

fn post(
    connection: &Connection,
    (first, next): (i64, i64),
    groups: &[Group],
) -> Result<(), WriteError> {
    let mut memory = Memory::default();
    let mut posting = Posting::new(connection, &mut memory)?;
    raise_generation(connection, first, next)?;
    for group in groups {
        posting.add(group)?;
    }
    posting.finish()
}

fn unopened(path: &Path, error: &io::Error) -> StoreError {
    if is_no_room(error) {
        return StoreError::Full;
    }
    StoreError::Failed(format!("cannot open the charge log {}: {error}", path.display()))
}

fn unposted(path: &Path, charges: usize, error: &StoreError) -> StoreError {
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
