//! Records actions of the store itself in the audit trail.

use rusqlite::Connection;

use crate::audit::ITSELF;

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
