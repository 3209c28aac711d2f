//! Queries about generated media.

use credits::OwnerId;
use moment::Timestamp;
use store::media::{MEDIA_MAX, Media, MediaId, MediaState};
use store::{MediaRowStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::Postgres;
use crate::columns::{bytes, bytes_or_none, get, limit, parsed, time, unsigned};
use crate::error::PgError;
use crate::session::Session;

const COLUMNS: &str = "id, owner, bytes, content_type, sha256, key, state, stored_ms, expires_ms";

impl MediaRowStore for Postgres {
    fn media(&self, id: MediaId) -> StoreFuture<'_, Option<Media>> {
        self.ask_soon(async move |db| media(&db, id).await)
    }

    fn media_to_delete(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, Vec<Media>> {
        self.ask(async move |db| to_delete(&db, now, limit).await)
    }

    fn known_media(&self, objects: Vec<MediaId>) -> StoreFuture<'_, Vec<MediaId>> {
        self.ask(async move |db| known(&db, objects).await)
    }
}

async fn media(db: &Session, id: MediaId) -> Result<Option<Media>, PgError> {
    let sql = format!("SELECT {COLUMNS} FROM media WHERE id = $1");
    db.row(&sql, &[&id.0]).await?.map(|row| media_at(&row)).transpose()
}

async fn to_delete(db: &Session, now: Timestamp, rows_max: usize) -> Result<Vec<Media>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM media WHERE state = 'DELETING' \
         UNION ALL \
         SELECT {COLUMNS} FROM media WHERE state = 'STORED' AND expires_ms <= $1 LIMIT $2"
    );
    let rows = db.rows(&sql, &[&now.ms(), &limit(rows_max.min(MEDIA_MAX))]).await?;
    rows.iter().map(media_at).collect()
}

/// The known objects, in the order of `objects`.
async fn known(db: &Session, objects: Vec<MediaId>) -> Result<Vec<MediaId>, PgError> {
    let asked: Vec<Uuid> = objects.into_iter().map(|object| object.0).collect();
    let sql = "SELECT media.id FROM unnest($1::uuid[]) WITH ORDINALITY AS asked (id, place) \
               JOIN media ON media.id = asked.id WHERE state <> 'DELETED' ORDER BY place";
    db.rows(sql, &[&asked]).await?.iter().map(|row| get(row, 0).map(MediaId)).collect()
}

fn media_at(row: &Row) -> Result<Media, PgError> {
    Ok(Media {
        id: MediaId(get(row, 0)?),
        owner: OwnerId(get(row, 1)?),
        bytes: unsigned(row, 2)?,
        content_type: get(row, 3)?,
        sha256: bytes(row, 4)?,
        key: bytes_or_none(row, 5)?,
        state: parsed(row, 6, MediaState::parse)?,
        stored: time(row, 7)?,
        expires: time(row, 8)?,
    })
}
