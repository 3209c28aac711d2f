//! Reads and writes the rows of the audit trail.

use rusqlite::{Connection, params};

use crate::audit::{AUDIT_ROWS_MAX, AuditEntry, AuditRow, ITSELF};
use crate::sqlite::columns::read_time;
use crate::sqlite::write_error::WriteError;

pub(crate) fn add_entry(connection: &Connection, entry: &AuditEntry) -> Result<(), WriteError> {
    let sql = "INSERT INTO audit (at_ms, actor, action, subject, detail) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let AuditEntry { at, actor, action, subject, detail } = entry;
    connection.prepare_cached(sql)?.execute(params![at.ms(), actor, action, subject, detail])?;
    Ok(())
}

/// Records an action of the store itself, with the database's clock, as the store has no other.
pub(crate) fn record_own_action(
    connection: &Connection,
    action: &str,
    subject: &str,
    detail: &str,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO audit (at_ms, actor, action, subject, detail) \
               VALUES (CAST(unixepoch('subsec') * 1000 AS INTEGER), ?1, ?2, ?3, ?4)";
    connection.execute(sql, [ITSELF, action, subject, detail]).map(drop)
}

pub(crate) fn rows_after(
    connection: &Connection,
    after_seq: i64,
    limit: usize,
) -> rusqlite::Result<Vec<AuditRow>> {
    let sql = "SELECT seq, at_ms, actor, action, subject, detail FROM audit \
               WHERE ?1 < seq ORDER BY seq LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![after_seq, limit.min(AUDIT_ROWS_MAX)], |row| {
        let entry = AuditEntry {
            at: read_time(row, 1)?,
            actor: row.get(2)?,
            action: row.get(3)?,
            subject: row.get(4)?,
            detail: row.get(5)?,
        };
        Ok(AuditRow { seq: row.get(0)?, entry })
    })?;
    rows.collect()
}
