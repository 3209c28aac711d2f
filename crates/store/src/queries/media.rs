//! Queries about the files that jobs made.

use moment::Timestamp;

use crate::StoreFuture;
use crate::media::{Media, MediaId};

pub trait MediaRowStore: Send + Sync {
    fn media(&self, id: MediaId) -> StoreFuture<'_, Option<Media>>;

    /// What is to be deleted now: its time is over, or it was begun before.
    fn media_to_delete(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, Vec<Media>>;

    /// Those among these objects that somebody may still read, or that are being deleted.
    fn known_media(&self, objects: Vec<MediaId>) -> StoreFuture<'_, Vec<MediaId>>;
}
