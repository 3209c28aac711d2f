//! Statements for callers' files.

use store::error::StoreError;
use store::file::FileWrite;

use crate::columns::{to_row_limit, to_signed, to_sql_text};
use crate::statements::{SqlStatements, values};

const ADD: &str = "INSERT INTO file (id, owner, name, purpose, bytes, created_ms, expires_ms) \
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

const KEEP_FILE: &str = "UPDATE file SET expires_ms = greatest(expires_ms, $2) \
    WHERE id = $1 AND NOT is_deleted \
    AND EXISTS (SELECT 1 FROM media WHERE media.id = $1 AND media.state = 'STORED')";

const KEEP_MEDIA: &str =
    "UPDATE media SET expires_ms = greatest(expires_ms, $2) WHERE id = $1 AND state = 'STORED'";

const DELETE: &str = "UPDATE file SET is_deleted = TRUE WHERE id = $1";

const DESTROY_KEY: &str =
    "UPDATE media SET state = 'DELETING', key = NULL WHERE id = $1 AND state = 'STORED'";

const DROP_GONE: &str = "WITH gone AS (SELECT file.id FROM file \
    JOIN media ON media.id = file.id WHERE media.state = 'DELETED' LIMIT $1), \
    dropped AS (DELETE FROM file WHERE id IN (SELECT id FROM gone)) \
    DELETE FROM media WHERE id IN (SELECT id FROM gone)";

pub(crate) fn post_file<'a>(
    statements: &mut SqlStatements<'a>,
    write: &'a FileWrite,
) -> Result<(), StoreError> {
    match write {
        FileWrite::Add(file) => {
            let values = values![
                file.id.0,
                file.owner.0,
                to_sql_text(&file.name),
                file.purpose.name(),
                to_signed(file.bytes)?,
                file.created.ms(),
                file.expires.ms(),
            ];
            statements.add(ADD, values);
        }
        FileWrite::KeepUntil { file, until } => {
            let missing = StoreError::Missing("the file was deleted");
            statements.add_one(KEEP_FILE, values![file.0, until.ms()], missing);
            statements.add(KEEP_MEDIA, values![file.0, until.ms()]);
        }
        FileWrite::Delete(file) => {
            statements.add(DELETE, values![file.0]);
            statements.add(DESTROY_KEY, values![file.0]);
        }
        FileWrite::DropGone { rows_max } => {
            statements.add(DROP_GONE, values![to_row_limit(*rows_max)]);
        }
    }
    Ok(())
}
