//! Finds what Postgres would not refuse any more.

use store::evidence::{AuditCount, FAULTS_MAX};
use uuid::Uuid;

use crate::columns::{read_column, to_row_limit};
use crate::error::PgError;
use crate::session::PostgresSession;

/// Finds triggers and constraints that were disabled, and rows that they should have refused. The
/// database enforces everything else itself.
pub(crate) async fn find_faults(db: &PostgresSession) -> Result<Vec<String>, PgError> {
    let mut faults = Vec::new();
    for trigger in TRIGGERS {
        let sql = "SELECT EXISTS (SELECT 1 FROM pg_trigger WHERE tgname = $1::text \
                   AND tgenabled = 'O' AND tgrelid IN (SELECT oid FROM pg_class \
                   WHERE relnamespace = (SELECT oid FROM pg_namespace \
                   WHERE nspname = current_schema())))";
        if !read_column::<bool>(&db.single_row(sql, &[trigger]).await?, 0)? {
            faults.push(format!("the trigger {trigger} is missing or switched off"));
        }
    }
    let unchecked = "SELECT conname::text, conrelid::regclass::text FROM pg_constraint \
                     WHERE NOT convalidated AND connamespace = (SELECT oid FROM pg_namespace \
                     WHERE nspname = current_schema()) ORDER BY 1 LIMIT $1";
    for row in db.rows(unchecked, &[&to_row_limit(FAULTS_MAX)]).await? {
        let (constraint, table): (String, String) = (read_column(&row, 0)?, read_column(&row, 1)?);
        faults.push(format!("the constraint {constraint} of {table} was never checked"));
    }
    let broken = "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class \
                  ON pg_class.oid = indrelid WHERE NOT (indisvalid AND indisready) \
                  AND relnamespace = (SELECT oid FROM pg_namespace \
                  WHERE nspname = current_schema()) ORDER BY 1 LIMIT $1";
    for row in db.rows(broken, &[&to_row_limit(FAULTS_MAX)]).await? {
        let index: String = read_column(&row, 0)?;
        faults.push(format!("the index {index} is not usable"));
    }
    let counted = "SELECT count(*), (SELECT rows FROM audit_count) FROM audit";
    let row = db.single_row(counted, &[]).await?;
    let count = AuditCount { rows: read_column(&row, 0)?, written: read_column(&row, 1)? };
    if count.rows != count.written {
        faults.push(count.to_string());
    }
    let repeated = "SELECT entry, leg, count(*) FROM transfer \
                    GROUP BY entry, leg HAVING 1 < count(*) LIMIT $1";
    for row in db.rows(repeated, &[&to_row_limit(FAULTS_MAX)]).await? {
        let (entry, leg, times): (Uuid, i32, i64) =
            (read_column(&row, 0)?, read_column(&row, 1)?, read_column(&row, 2)?);
        let entry = entry.simple();
        faults.push(format!("entry {entry} leg {leg} is in the journal {times} times"));
    }
    Ok(faults)
}

/// The triggers that protect rows from changes, and those that count.
const TRIGGERS: &[&str] = &[
    "transfer_never_changes",
    "audit_never_changes",
    "audit_counted",
    "claim_credited_never_changes",
    "claim_never_goes",
    "job_ends_once",
    "idempotency_counted",
    "character_review_counted",
    "character_use_counted",
];
