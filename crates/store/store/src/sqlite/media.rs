//! Reads and writes the rows of generated media.

use ledger_core::OwnerId;
use moment::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::media::{MEDIA_MAX, MediaId, MediaRow, MediaState, MediaWrite};
use crate::sqlite::columns::{read_id, read_parsed, read_time};
use crate::sqlite::write_error::WriteError;

const COLUMNS: &str = "id, owner, bytes, content_type, sha256, key, state, stored_ms, expires_ms";

pub(crate) fn post_media(connection: &Connection, write: &MediaWrite) -> Result<(), WriteError> {
    match write {
        MediaWrite::Add(media) => add_media(connection, media),
        MediaWrite::DestroyKey(media) => {
            let sql = "UPDATE media SET state = 'DELETING', key = NULL \
                       WHERE id = ?1 AND state = 'STORED'";
            connection.prepare_cached(sql)?.execute([media.0.as_bytes()])?;
            Ok(())
        }
        MediaWrite::Deleted(media) => {
            let sql = "UPDATE media SET state = 'DELETED' WHERE id = ?1 AND state = 'DELETING'";
            connection.prepare_cached(sql)?.execute([media.0.as_bytes()])?;
            Ok(())
        }
    }
}

fn add_media(connection: &Connection, media: &MediaRow) -> Result<(), WriteError> {
    let sql = "INSERT INTO media (id, owner, bytes, content_type, sha256, key, state, stored_ms, \
               expires_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    connection.prepare_cached(sql)?.execute(params![
        media.id.0.as_bytes(),
        media.owner.0.as_bytes(),
        media.bytes,
        media.content_type,
        media.sha256,
        media.key,
        media.state.name(),
        media.stored.ms(),
        media.expires.ms()
    ])?;
    Ok(())
}

pub(crate) fn read_media(
    connection: &Connection,
    id: MediaId,
) -> rusqlite::Result<Option<MediaRow>> {
    let sql = format!("SELECT {COLUMNS} FROM media WHERE id = ?1");
    connection.prepare_cached(&sql)?.query_row([id.0.as_bytes()], media_at).optional()
}

pub(crate) fn to_delete(
    connection: &Connection,
    now: Timestamp,
    limit: usize,
) -> rusqlite::Result<Vec<MediaRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM media WHERE state = 'DELETING' \
         UNION ALL \
         SELECT {COLUMNS} FROM media WHERE state = 'STORED' AND expires_ms <= ?1 LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params![now.ms(), limit.min(MEDIA_MAX)], media_at)?.collect()
}

pub(crate) fn find_known_media(
    connection: &Connection,
    objects: &[MediaId],
) -> rusqlite::Result<Vec<MediaId>> {
    let sql = "SELECT count(*) FROM media WHERE id = ?1 AND state <> 'DELETED'";
    let mut statement = connection.prepare_cached(sql)?;
    let mut known = Vec::new();
    for object in objects {
        let rows: i64 = statement.query_row([object.0.as_bytes()], |row| row.get(0))?;
        if 0 < rows {
            known.push(*object);
        }
    }
    Ok(known)
}

fn media_at(row: &Row<'_>) -> rusqlite::Result<MediaRow> {
    Ok(MediaRow {
        id: read_id(row, 0).map(MediaId)?,
        owner: read_id(row, 1).map(OwnerId)?,
        bytes: row.get(2)?,
        content_type: row.get(3)?,
        sha256: row.get(4)?,
        key: row.get(5)?,
        state: read_parsed(row, 6, MediaState::parse)?,
        stored: read_time(row, 7)?,
        expires: read_time(row, 8)?,
    })
}
