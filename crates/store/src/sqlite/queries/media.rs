//! Queries about generated media.

use moment::Timestamp;

use crate::media::{Media, MediaId};
use crate::sqlite::{Sqlite, media};
use crate::{MediaRowStore, StoreFuture};

impl MediaRowStore for Sqlite {
    fn media(&self, id: MediaId) -> StoreFuture<'_, Option<Media>> {
        self.ask(move |connection| media::media(connection, id))
    }

    fn media_to_delete(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, Vec<Media>> {
        self.ask(move |connection| media::to_delete(connection, now, limit))
    }

    fn known_media(&self, objects: Vec<MediaId>) -> StoreFuture<'_, Vec<MediaId>> {
        self.ask(move |connection| media::known(connection, &objects))
    }
}
