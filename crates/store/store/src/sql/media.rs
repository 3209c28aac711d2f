//! Generated media.

use moment::Timestamp;

use crate::error::StoreError;
use crate::media::{MEDIA_MAX, MediaId, MediaRow, MediaState, MediaWrite};
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{ReadMode, SqlPosting, SqlRow, SqlStore, SqlText, to_signed};
use crate::{MediaRowStore, StoreFuture};

const COLUMNS: SqlText =
    SqlText::same("id, owner, bytes, content_type, sha256, key, state, stored_ms, expires_ms");

const READ: SqlText = shared_sql!("SELECT ", COLUMNS, " FROM media WHERE id = $1");

const TO_DELETE: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM media WHERE state = 'DELETING' UNION ALL SELECT ",
    COLUMNS,
    " FROM media WHERE state = 'STORED' AND expires_ms <= $1 LIMIT $2"
);

const ASKED: SqlText = SqlText {
    sqlite: "(SELECT unhex(value) AS id, key AS place FROM json_each(?1)) AS asked",
    postgres: "unnest($1::uuid[]) WITH ORDINALITY AS asked (id, place)",
};

/// In the order of the parameter.
const KNOWN: SqlText = shared_sql!(
    "SELECT media.id FROM ",
    ASKED,
    " JOIN media ON media.id = asked.id WHERE state <> 'DELETED' ORDER BY place"
);

const ADD: SqlText = shared_sql!(
    "INSERT INTO media (id, owner, bytes, content_type, sha256, key, state, stored_ms, expires_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
);

pub(crate) const DESTROY_KEY: SqlText = shared_sql!(
    "UPDATE media SET state = 'DELETING', key = NULL WHERE id = $1 AND state = 'STORED'"
);

const DELETED: SqlText =
    shared_sql!("UPDATE media SET state = 'DELETED' WHERE id = $1 AND state = 'DELETING'");

impl<S: SqlStore> MediaRowStore for S {
    fn media(&self, id: MediaId) -> StoreFuture<'_, Option<MediaRow>> {
        self.read_row(ReadMode::LOOKUP, READ, sql_values![id], media_at)
    }

    fn media_to_delete(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, Vec<MediaRow>> {
        let values = sql_values![now, limit.min(MEDIA_MAX)];
        self.read_rows(ReadMode::STATEMENT, TO_DELETE, values, media_at)
    }

    fn known_media(&self, objects: Vec<MediaId>) -> StoreFuture<'_, Vec<MediaId>> {
        let objects: Vec<_> = objects.into_iter().map(|object| object.0).collect();
        self.read_rows(ReadMode::STATEMENT, KNOWN, sql_values![objects], |row| row.get(0))
    }
}

pub(crate) fn post_media<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    write: &'a MediaWrite,
) -> Result<(), P::Error> {
    match write {
        MediaWrite::Add(media) => {
            let values = sql_values![
                media.id,
                media.owner,
                to_signed(media.bytes)?,
                &media.content_type,
                &media.sha256,
                media.key.as_ref(),
                media.state.name(),
                media.stored,
                media.expires,
            ];
            posting.run(ADD, values)
        }
        MediaWrite::DestroyKey(media) => posting.run(DESTROY_KEY, sql_values![*media]),
        MediaWrite::Deleted(media) => posting.run(DELETED, sql_values![*media]),
    }
}

fn media_at(row: &dyn SqlRow) -> Result<MediaRow, StoreError> {
    Ok(MediaRow {
        id: row.get(0)?,
        owner: row.get(1)?,
        bytes: row.get(2)?,
        content_type: row.get(3)?,
        sha256: row.get(4)?,
        key: row.get(5)?,
        state: row.parse(6, MediaState::parse)?,
        stored: row.get(7)?,
        expires: row.get(8)?,
    })
}
