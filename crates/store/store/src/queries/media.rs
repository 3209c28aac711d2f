//! Queries about generated media.

use moment::Timestamp;

use crate::StoreFuture;
use crate::media::{MediaId, MediaRow};

pub trait MediaRowStore: Send + Sync {
    fn media(&self, id: MediaId) -> StoreFuture<'_, Option<MediaRow>>;

    /// Media to delete now: it has expired, or its deletion was begun.
    fn media_to_delete(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, Vec<MediaRow>>;

    /// The ids among `objects` that are stored or being deleted.
    fn known_media(&self, objects: Vec<MediaId>) -> StoreFuture<'_, Vec<MediaId>>;
}
