//! The schema and its history: numbered steps, embedded, applied forward only.

use std::collections::BTreeMap;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;
use crate::sqlite::fault::refusal;

/// Step `n` of this list brings a database from version `n` to `n + 1`. Steps that were released
/// are never edited: a change is a new step.
const MIGRATIONS: [&str; 19] = [
    include_str!("../../migrations/0001_create_owners.sql"),
    include_str!("../../migrations/0002_create_journal.sql"),
    include_str!("../../migrations/0003_create_usage.sql"),
    include_str!("../../migrations/0004_create_rpc.sql"),
    include_str!("../../migrations/0005_create_claims.sql"),
    include_str!("../../migrations/0006_create_wallets.sql"),
    include_str!("../../migrations/0007_note_limit_changes.sql"),
    include_str!("../../migrations/0008_index_unnamed_transactions.sql"),
    include_str!("../../migrations/0009_replace_sent_transactions.sql"),
    include_str!("../../migrations/0010_note_missing_payments.sql"),
    include_str!("../../migrations/0011_create_charge_log.sql"),
    include_str!("../../migrations/0012_find_constants_without_a_table.sql"),
    include_str!("../../migrations/0013_log_charges_in_a_file.sql"),
    include_str!("../../migrations/0014_sum_rpc_credits.sql"),
    include_str!("../../migrations/0015_audit_operators.sql"),
    include_str!("../../migrations/0016_keep_model_privacy.sql"),
    include_str!("../../migrations/0017_freeze_owners.sql"),
    include_str!("../../migrations/0018_create_jobs.sql"),
    include_str!("../../migrations/0019_create_characters.sql"),
];

/// Marks the file as ours ("Toll"), so that another program's database is never migrated.
pub(crate) const APPLICATION_ID: i32 = 0x546F_6C6C;

/// Brings the database to the newest version, all steps in one transaction.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(refusal)?;
    let version: usize = pragma(&transaction, "user_version")?;
    let application: i32 = pragma(&transaction, "application_id")?;
    let tables: i64 = transaction
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(refusal)?;
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
    for step in &MIGRATIONS[version..] {
        transaction.execute_batch(step).map_err(refusal)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(refusal)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len()).map_err(refusal)?;
    transaction.commit().map_err(refusal)
}

/// Where the tables, indexes and triggers of a database are not those that the steps make.
pub(crate) fn differences(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let fresh = Connection::open_in_memory()?;
    for step in MIGRATIONS {
        fresh.execute_batch(step)?;
    }
    let (mut expected, found) = (definitions(&fresh)?, definitions(connection)?);
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

fn definitions(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let sql = "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL \
               AND name NOT LIKE 'sqlite_%'";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn pragma<T: rusqlite::types::FromSql>(
    connection: &Connection,
    name: &str,
) -> Result<T, StoreError> {
    connection.pragma_query_value(None, name, |row| row.get(0)).map_err(refusal)
}
