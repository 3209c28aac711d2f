//! The schema and its history: numbered migrations, embedded, applied forward only.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::StoreError;
use crate::schema::{PendingMigration, SchemaStatus};
use crate::sqlite::errors::to_store_error;

/// The name of a migration, and its statements.
macro_rules! step {
    ($number:literal, $name:literal) => {
        ($name, include_str!(concat!("../../migrations/", $number, "_", $name, ".sql")))
    };
}

/// Migration `n` of this list brings a database from version `n` to `n + 1`. Released ones are
/// never edited: a change is a new migration.
const MIGRATIONS: [(&str, &str); 27] = [
    step!("0001", "create_owners"),
    step!("0002", "create_journal"),
    step!("0003", "create_usage"),
    step!("0004", "create_rpc"),
    step!("0005", "create_claims"),
    step!("0006", "create_wallets"),
    step!("0007", "note_limit_changes"),
    step!("0008", "index_unnamed_transactions"),
    step!("0009", "replace_sent_transactions"),
    step!("0010", "note_missing_payments"),
    step!("0011", "create_charge_log"),
    step!("0012", "find_constants_without_a_table"),
    step!("0013", "log_charges_in_a_file"),
    step!("0014", "sum_rpc_credits"),
    step!("0015", "audit_operators"),
    step!("0016", "keep_model_privacy"),
    step!("0017", "freeze_owners"),
    step!("0018", "create_jobs"),
    step!("0019", "create_characters"),
    step!("0020", "count_audit_rows"),
    step!("0021", "mark_operator_keys"),
    step!("0022", "digest_usage_rows"),
    step!("0023", "sum_sessions"),
    step!("0024", "log_charges_in_rows"),
    step!("0025", "store_responses"),
    step!("0026", "create_batches"),
    step!("0027", "admit_debts"),
];

/// Marks the file as ours ("Toll"), so that another program's database is never migrated.
pub(crate) const APPLICATION_ID: i32 = 0x546F_6C6C;

/// Migrates the database to the newest version, in one transaction.
pub(crate) fn apply_migrations(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(to_store_error)?;
    let version: usize = read_pragma(&transaction, "user_version")?;
    let application: i32 = read_pragma(&transaction, "application_id")?;
    let tables: i64 = transaction
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(to_store_error)?;
    let is_empty = tables == 0;
    if !is_empty && application != APPLICATION_ID {
        return Err(StoreError::Unsuitable(
            "the database belongs to another program; point `store.url` at another file".into(),
        ));
    }
    if MIGRATIONS.len() < version {
        return Err(StoreError::Unsuitable(format!(
            "the database has schema version {version} and this program knows only up to {}; \
             run the release that wrote it, or a later one",
            MIGRATIONS.len()
        )));
    }
    for (_, step) in &MIGRATIONS[version..] {
        transaction.execute_batch(step).map_err(to_store_error)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(to_store_error)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len()).map_err(to_store_error)?;
    transaction.commit().map_err(to_store_error)
}

/// The schema status of a database file. Changes nothing; a missing file counts as version 0.
pub fn read_status(path: &Path) -> Result<SchemaStatus, StoreError> {
    let version: usize = if path.exists() {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(to_store_error)?;
        read_pragma(&connection, "user_version")?
    } else {
        0
    };
    let pending = MIGRATIONS.iter().zip(1..).skip(version);
    // One process at a time uses the file, and only a release that knows all of its migrations.
    let pending = pending.map(|((name, _), step)| PendingMigration {
        version: step,
        name,
        usable_from: step,
    });
    let version = i64::try_from(version).unwrap_or(i64::MAX);
    Ok(SchemaStatus {
        version,
        usable_from: version,
        known: i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX),
        pending: pending.collect(),
        nodes: Vec::new(),
    })
}

/// Descriptions of the tables, indexes and triggers that differ from those of the migrations.
pub(crate) fn find_differences(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let fresh = Connection::open_in_memory()?;
    for (_, step) in MIGRATIONS {
        fresh.execute_batch(step)?;
    }
    let (mut expected, found) = (read_definitions(&fresh)?, read_definitions(connection)?);
    let mut differences = Vec::new();
    for (name, definition) in found {
        match expected.remove(&name) {
            Some(right) if right == definition => {}
            Some(_) => differences.push(format!("{name} is not defined as this release does")),
            None => differences.push(format!("{name} is not one of ours")),
        }
    }
    differences.extend(expected.into_keys().map(|name| format!("{name} is missing")));
    Ok(differences)
}

fn read_definitions(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let sql = "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL \
               AND name NOT LIKE 'sqlite_%'";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn read_pragma<T: rusqlite::types::FromSql>(
    connection: &Connection,
    name: &str,
) -> Result<T, StoreError> {
    connection.pragma_query_value(None, name, |row| row.get(0)).map_err(to_store_error)
}

/// The steps of SQLite's plan for a query on an empty database.
#[cfg(test)]
pub(crate) fn explain_query(sql: &str) -> Vec<String> {
    let mut connection = Connection::open_in_memory().unwrap();
    apply_migrations(&mut connection).unwrap();
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get(3).unwrap());
    }
    steps
}
