//! Queries about generated media.

use moment::Timestamp;

use crate::media::{MediaId, MediaRow};
use crate::sqlite::{SqliteStore, media};
use crate::{MediaRowStore, StoreFuture};

impl MediaRowStore for SqliteStore {
    fn media(&self, id: MediaId) -> StoreFuture<'_, Option<MediaRow>> {
        self.query(move |connection| media::read_media(connection, id))
    }

    fn media_to_delete(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, Vec<MediaRow>> {
        self.query(move |connection| media::to_delete(connection, now, limit))
    }

    fn known_media(&self, objects: Vec<MediaId>) -> StoreFuture<'_, Vec<MediaId>> {
        self.query(move |connection| media::find_known_media(connection, &objects))
    }
}
