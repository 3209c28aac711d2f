//! Runs SQLite's own checks, and finds rows that its constraints do not cover.

use rusqlite::Connection;

use crate::evidence::{AuditCount, FAULTS_MAX};
use crate::sqlite::schema;

pub(crate) fn find_faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut faults = schema::find_differences(connection)?;
    let mut repeated = connection.prepare(
        "SELECT lower(hex(entry)), leg, count(*) FROM transfer \
         GROUP BY entry, leg HAVING 1 < count(*) LIMIT ?1",
    )?;
    let rows = repeated.query_map([FAULTS_MAX], |row| {
        let (entry, leg, times): (String, u16, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("entry {entry} leg {leg} is in the journal {times} times"))
    })?;
    for fault in rows {
        faults.push(fault?);
    }
    let counted = "SELECT count(*), (SELECT rows FROM audit_count) FROM audit";
    let count = connection
        .query_row(counted, [], |row| Ok(AuditCount { rows: row.get(0)?, written: row.get(1)? }))?;
    if count.rows != count.written {
        faults.push(count.to_string());
    }
    let mut orphans = connection.prepare("PRAGMA foreign_key_check")?;
    let rows = orphans.query_map([], |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        Ok(format!("a row of {table} names a row of {parent} that is not there"))
    })?;
    for fault in rows.take(FAULTS_MAX) {
        faults.push(fault?);
    }
    let mut checked = connection.prepare(&format!("PRAGMA integrity_check({FAULTS_MAX})"))?;
    let rows = checked.query_map([], |row| row.get::<_, String>(0))?;
    for fault in rows {
        let fault = fault?;
        if fault != "ok" {
            faults.push(fault);
        }
    }
    Ok(faults)
}
