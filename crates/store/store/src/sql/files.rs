//! Callers' files.

use crate::error::StoreError;
use crate::file::{FILES_MAX, FileFilter, FilePurpose, FileTotals, FileWrite, StoredFile};
use crate::sql::connection::RowResult;
use crate::sql::media::DESTROY_KEY;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{SqlPosting, SqlRow, SqlText, SqlValue, to_signed};

const COLUMNS: SqlText = SqlText::same("id, owner, name, purpose, bytes, created_ms, expires_ms");

pub(crate) const READ: SqlText =
    shared_sql!("SELECT ", COLUMNS, " FROM file WHERE id = $1 AND is_deleted = FALSE");

/// Files of an owner in an order, after one of them.
macro_rules! list_files {
    ($beyond:literal, $order:literal) => {
        shared_sql!(
            "SELECT ",
            COLUMNS,
            " FROM file WHERE owner = $1 AND is_deleted = FALSE AND $2 < expires_ms \
             AND ($3::text IS NULL OR purpose = $3) AND ($4::uuid IS NULL OR id ",
            $beyond,
            " $4) ORDER BY id ",
            $order,
            " LIMIT $5"
        )
    };
}

const LIST_OLDEST_FIRST: SqlText = list_files!(">", "ASC");
const LIST_NEWEST_FIRST: SqlText = list_files!("<", "DESC");

pub(crate) const SUM: SqlText = shared_sql!(
    "SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM file \
     WHERE owner = $1 AND is_deleted = FALSE AND $2 < expires_ms"
);

const ADD: SqlText = shared_sql!(
    "INSERT INTO file (id, owner, name, purpose, bytes, created_ms, expires_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)"
);

const KEEP_FILE: SqlText = shared_sql!(
    "UPDATE file SET expires_ms = greatest(expires_ms, $2) \
     WHERE id = $1 AND is_deleted = FALSE \
     AND EXISTS (SELECT 1 FROM media WHERE media.id = $1 AND media.state = 'STORED')"
);

const KEEP_MEDIA: SqlText = shared_sql!(
    "UPDATE media SET expires_ms = greatest(expires_ms, $2) WHERE id = $1 AND state = 'STORED'"
);

const DELETE: SqlText = shared_sql!("UPDATE file SET is_deleted = TRUE WHERE id = $1");

/// The statement and the values for a list of files.
pub(crate) fn list_files(filter: FileFilter) -> (SqlText, [SqlValue<'static>; 5]) {
    let sql = if filter.is_ascending { LIST_OLDEST_FIRST } else { LIST_NEWEST_FIRST };
    let purpose = filter.purpose.map(FilePurpose::name);
    let limit = filter.limit.min(FILES_MAX);
    (sql, sql_values![filter.owner, filter.now, purpose, filter.after, limit])
}

pub(crate) fn post_file<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    write: &'a FileWrite,
) -> Result<(), P::Error> {
    match write {
        FileWrite::Add(file) => {
            let values = sql_values![
                file.id,
                file.owner,
                &file.name,
                file.purpose.name(),
                to_signed(file.bytes)?,
                file.created,
                file.expires,
            ];
            posting.run(ADD, values)
        }
        FileWrite::KeepUntil { file, until } => {
            let missing = StoreError::Missing("the file was deleted");
            posting.run_one(KEEP_FILE, sql_values![*file, *until], missing)?;
            posting.run(KEEP_MEDIA, sql_values![*file, *until])
        }
        FileWrite::Delete(file) => {
            posting.run(DELETE, sql_values![*file])?;
            posting.run(DESTROY_KEY, sql_values![*file])
        }
        FileWrite::DropGone { rows_max } => posting.delete_gone_files(*rows_max),
    }
}

pub(crate) fn file_at(row: &dyn SqlRow) -> RowResult<StoredFile> {
    Ok(StoredFile {
        id: row.get(0)?,
        owner: row.get(1)?,
        name: row.get(2)?,
        purpose: row.parse(3, FilePurpose::parse)?,
        bytes: row.get(4)?,
        created: row.get(5)?,
        expires: row.get(6)?,
    })
}

pub(crate) fn totals_at(row: &dyn SqlRow) -> RowResult<FileTotals> {
    Ok(FileTotals { files: row.get(0)?, bytes: row.get(1)? })
}
