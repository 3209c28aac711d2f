//! The audit trail.

use crate::audit::{AUDIT_ROWS_MAX, AuditEntry, AuditRow};
use crate::error::StoreError;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{SqlConnection, SqlPosting, SqlText};

const ADD: SqlText = shared_sql!(
    "INSERT INTO audit (at_ms, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5)"
);

const READ_AFTER: SqlText = shared_sql!(
    "SELECT seq, at_ms, actor, action, subject, detail FROM audit \
     WHERE $1 < seq ORDER BY seq LIMIT $2"
);

pub(crate) fn add_entry<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    AuditEntry { at, actor, action, subject, detail }: &'a AuditEntry,
) -> Result<(), P::Error> {
    posting.run(ADD, sql_values![*at, actor, action, subject, detail])
}

pub(crate) async fn rows_after(
    db: &dyn SqlConnection,
    after_seq: i64,
    limit: usize,
) -> Result<Vec<AuditRow>, StoreError> {
    let values = sql_values![after_seq, limit.min(AUDIT_ROWS_MAX)];
    let rows = db.rows(READ_AFTER, &values, |row| {
        let entry = AuditEntry {
            at: row.get(1)?,
            actor: row.get(2)?,
            action: row.get(3)?,
            subject: row.get(4)?,
            detail: row.get(5)?,
        };
        Ok(AuditRow { seq: row.get(0)?, entry })
    });
    rows.await
}
