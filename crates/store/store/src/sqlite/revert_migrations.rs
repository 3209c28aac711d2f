//! For tests: turns a database into that of an earlier release.

use rusqlite::Connection;

/// SQL that reverts each migration, the latest first. Add a line for each new migration.
const UNDONE: [(i64, &str); 16] = [
    (
        27,
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql,
             'CASE name WHEN ''debt'' THEN credits <= debits AND pending = 0 '
             || 'ELSE debits + pending <= credits END', 'debits + pending <= credits')
         WHERE type = 'table' AND name = 'account';
         UPDATE sqlite_schema SET sql = replace(sql, 'code BETWEEN 1 AND 13', 'code BETWEEN 1 AND 8')
         WHERE type = 'table' AND name = 'transfer';
         PRAGMA writable_schema = RESET",
    ),
    (
        26,
        "DROP TABLE call_batch_line; DROP TABLE call_batch; DROP TABLE file; DROP INDEX media_deleted",
    ),
    (
        25,
        "DROP TABLE conversation_item; DROP TABLE conversation; DROP TABLE response_event;
         DROP TABLE model_response",
    ),
    (
        24,
        "DROP TABLE charge_log;
         CREATE TABLE charge_log_generation (
             is_only INTEGER PRIMARY KEY CHECK (is_only = 1),
             generation INTEGER NOT NULL
         ) STRICT;
         INSERT INTO charge_log_generation VALUES (1, 7)",
    ),
    (
        23,
        "DROP TABLE usage_session; ALTER TABLE usage DROP COLUMN session;
         ALTER TABLE usage DROP COLUMN cached_tokens",
    ),
    (22, "ALTER TABLE usage DROP COLUMN digest"),
    (21, "ALTER TABLE api_key DROP COLUMN is_operator"),
    (20, "DROP TRIGGER audit_counted; DROP TABLE audit_count"),
    (
        19,
        "DROP TABLE character_use; DROP TABLE character_review; DROP TABLE character_word;
         DROP TABLE character_tag; DROP TABLE character_content; DROP TABLE character",
    ),
    (18, "DROP TABLE job_timing; DROP TABLE media; DROP TABLE job"),
    (17, "ALTER TABLE owner DROP COLUMN frozen_ms"),
    (16, "ALTER TABLE api_key DROP COLUMN model_privacy"),
    (15, "DROP TABLE received_claim; DROP TABLE audit"),
    (
        14,
        "DROP TABLE rpc_spent;
         CREATE INDEX usage_of_rpc ON usage (at_ms) WHERE sku GLOB 'crypto-rpc-*'",
    ),
    (
        13,
        "DROP TABLE charge_log_generation;
         CREATE TABLE charge_log (
             seq INTEGER PRIMARY KEY,
             charges BLOB NOT NULL CHECK (0 < length(charges))
         ) STRICT",
    ),
    (11, "DROP TABLE charge_log"),
];

pub(super) fn revert_to_version(connection: &Connection, version: i64) {
    for (migration, undoing) in UNDONE {
        if version < migration {
            connection.execute_batch(undoing).unwrap();
        }
    }
    connection.pragma_update(None, "user_version", version).unwrap();
}
