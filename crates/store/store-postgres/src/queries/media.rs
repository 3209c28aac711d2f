//! Queries about generated media.

use ledger_core::OwnerId;
use moment::Timestamp;
use store::media::{MEDIA_MAX, MediaId, MediaRow, MediaState};
use store::{MediaRowStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{
    read_bytes, read_column, read_optional_bytes, read_parsed, read_time, read_unsigned,
    to_row_limit,
};
use crate::error::PgError;
use crate::session::PostgresSession;

const COLUMNS: &str = "id, owner, bytes, content_type, sha256, key, state, stored_ms, expires_ms";

impl MediaRowStore for PostgresStore {
    fn media(&self, id: MediaId) -> StoreFuture<'_, Option<MediaRow>> {
        self.query_with_timeout(async move |db| read_media(&db, id).await)
    }

    fn media_to_delete(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, Vec<MediaRow>> {
        self.query(async move |db| to_delete(&db, now, limit).await)
    }

    fn known_media(&self, objects: Vec<MediaId>) -> StoreFuture<'_, Vec<MediaId>> {
        self.query(async move |db| find_known_media(&db, objects).await)
    }
}

async fn read_media(db: &PostgresSession, id: MediaId) -> Result<Option<MediaRow>, PgError> {
    let sql = format!("SELECT {COLUMNS} FROM media WHERE id = $1");
    db.row(&sql, &[&id.0]).await?.map(|row| media_at(&row)).transpose()
}

async fn to_delete(
    db: &PostgresSession,
    now: Timestamp,
    rows_max: usize,
) -> Result<Vec<MediaRow>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM media WHERE state = 'DELETING' \
         UNION ALL \
         SELECT {COLUMNS} FROM media WHERE state = 'STORED' AND expires_ms <= $1 LIMIT $2"
    );
    let rows = db.rows(&sql, &[&now.ms(), &to_row_limit(rows_max.min(MEDIA_MAX))]).await?;
    rows.iter().map(media_at).collect()
}

/// The known objects, in the order of `objects`.
async fn find_known_media(
    db: &PostgresSession,
    objects: Vec<MediaId>,
) -> Result<Vec<MediaId>, PgError> {
    let asked: Vec<Uuid> = objects.into_iter().map(|object| object.0).collect();
    let sql = "SELECT media.id FROM unnest($1::uuid[]) WITH ORDINALITY AS asked (id, place) \
               JOIN media ON media.id = asked.id WHERE state <> 'DELETED' ORDER BY place";
    db.rows(sql, &[&asked]).await?.iter().map(|row| read_column(row, 0).map(MediaId)).collect()
}

fn media_at(row: &Row) -> Result<MediaRow, PgError> {
    Ok(MediaRow {
        id: MediaId(read_column(row, 0)?),
        owner: OwnerId(read_column(row, 1)?),
        bytes: read_unsigned(row, 2)?,
        content_type: read_column(row, 3)?,
        sha256: read_bytes(row, 4)?,
        key: read_optional_bytes(row, 5)?,
        state: read_parsed(row, 6, MediaState::parse)?,
        stored: read_time(row, 7)?,
        expires: read_time(row, 8)?,
    })
}
