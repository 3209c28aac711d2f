//! What jobs made.

use store::error::StoreError;
use store::media::{Media, MediaWrite};

use crate::columns::{signed, text};
use crate::steps::{Steps, values};

const ADD: &str = "INSERT INTO media (id, owner, bytes, content_type, sha256, key, state, \
    stored_ms, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

const DESTROY_KEY: &str =
    "UPDATE media SET state = 'DELETING', key = NULL WHERE id = $1 AND state = 'STORED'";

const DELETED: &str = "UPDATE media SET state = 'DELETED' WHERE id = $1 AND state = 'DELETING'";

pub(crate) fn write<'a>(steps: &mut Steps<'a>, write: &'a MediaWrite) -> Result<(), StoreError> {
    match write {
        MediaWrite::Add(media) => return add(steps, media),
        MediaWrite::DestroyKey(media) => steps.add(DESTROY_KEY, values![media.0]),
        MediaWrite::Deleted(media) => steps.add(DELETED, values![media.0]),
    }
    Ok(())
}

fn add<'a>(steps: &mut Steps<'a>, media: &'a Media) -> Result<(), StoreError> {
    let values = values![
        media.id.0,
        media.owner.0,
        signed(media.bytes)?,
        text(&media.content_type),
        media.sha256.as_slice(),
        media.key.as_ref().map(|key| key.as_slice()),
        media.state.name(),
        media.stored.ms(),
        media.expires.ms(),
    ];
    steps.add(ADD, values);
    Ok(())
}
