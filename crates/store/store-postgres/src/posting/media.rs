//! Statements for generated media.

use store::error::StoreError;
use store::media::{MediaRow, MediaWrite};

use crate::columns::{to_signed, to_sql_text};
use crate::statements::{SqlStatements, values};

const ADD: &str = "INSERT INTO media (id, owner, bytes, content_type, sha256, key, state, \
    stored_ms, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

const DESTROY_KEY: &str =
    "UPDATE media SET state = 'DELETING', key = NULL WHERE id = $1 AND state = 'STORED'";

const DELETED: &str = "UPDATE media SET state = 'DELETED' WHERE id = $1 AND state = 'DELETING'";

pub(crate) fn post_media<'a>(
    statements: &mut SqlStatements<'a>,
    write: &'a MediaWrite,
) -> Result<(), StoreError> {
    match write {
        MediaWrite::Add(media) => return add_media(statements, media),
        MediaWrite::DestroyKey(media) => statements.add(DESTROY_KEY, values![media.0]),
        MediaWrite::Deleted(media) => statements.add(DELETED, values![media.0]),
    }
    Ok(())
}

fn add_media<'a>(
    statements: &mut SqlStatements<'a>,
    media: &'a MediaRow,
) -> Result<(), StoreError> {
    let values = values![
        media.id.0,
        media.owner.0,
        to_signed(media.bytes)?,
        to_sql_text(&media.content_type),
        media.sha256.as_slice(),
        media.key.as_ref().map(|key| key.as_slice()),
        media.state.name(),
        media.stored.ms(),
        media.expires.ms(),
    ];
    statements.add(ADD, values);
    Ok(())
}
