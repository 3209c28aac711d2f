//! Results of jobs: stored, read, deleted.

use std::time::Duration;

use bytes::Bytes;
use domain::entropy::time_ordered_id;
use engine::MediaFile;
use futures_util::stream::BoxStream;
use media_store::{MediaError, ObjectKey, WrittenObject};
use store::error::StoreError;
use store::job::{JobWrite, QueuedJob};
use store::media::{MediaId, MediaRow, MediaState, MediaWrite};
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use crate::content;
use crate::queue::JobQueue;

/// Maximum size of one result.
pub const MEDIA_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Objects deleted per batch.
const DELETED_AT_ONCE: usize = 100;
/// Jobs deleted per batch, so that other writes do not wait long.
const JOBS_DELETED_PER_BATCH: usize = 1000;
/// An object older than this without a row never gets one.
const ORPHAN_AGE: Duration = Duration::from_secs(60 * 60);

/// A stored file whose row is not written yet.
pub(crate) struct StoredFile {
    pub(crate) object: Uuid,
    pub(crate) key: ObjectKey,
    pub(crate) written: WrittenObject,
}

/// A byte range of a result; the end is exclusive.
pub type ByteRange = std::ops::Range<u64>;

/// A result, ready to be sent.
pub struct ResultDownload {
    pub media: MediaRow,
    /// Without a dot, such as `mp3`.
    pub extension: &'static str,
    pub range: ByteRange,
    pub bytes: BoxStream<'static, Result<Bytes, MediaError>>,
}

impl JobQueue {
    pub(crate) async fn store_file(&self, file: MediaFile) -> Result<StoredFile, MediaError> {
        let object = time_ordered_id(self.now(), self.parts.entropy.as_ref());
        let mut key = [0; 32];
        self.parts.entropy.fill_bytes(&mut key);
        let key = ObjectKey::new(key);
        let written = self.parts.media.write(object, &key, file.bytes, MEDIA_BYTES_MAX).await?;
        Ok(StoredFile { object, key, written })
    }

    /// The result of a job; `None` if it is deleted, expired or marked for deletion.
    pub async fn find_media(&self, job: &QueuedJob) -> Result<Option<MediaRow>, StoreError> {
        let Some(id) = job.media else { return Ok(None) };
        let media = self.parts.store.media(id).await?;
        let now = self.now();
        Ok(media.filter(|it| it.state == MediaState::Stored && now < it.expires))
    }

    /// Opens a byte range of a stored result.
    pub fn open(&self, media: MediaRow, range: ByteRange) -> Result<ResultDownload, MediaError> {
        let key = media.key.map(ObjectKey::new).ok_or(MediaError::Missing)?;
        let bytes = self.parts.media.read(media.id.0, &key, media.bytes, range.clone())?;
        let extension = content::find_extension(&media.content_type);
        Ok(ResultDownload { media, extension, range, bytes })
    }

    /// Deletes a job's result: first the key, durably, then the object. Returns true if the object
    /// is gone; otherwise the deletion is retried later.
    pub async fn delete_media(&self, job: &QueuedJob) -> Result<bool, StoreError> {
        let Some(id) = job.media else { return Ok(true) };
        let Some(media) = self.parts.store.media(id).await? else { return Ok(true) };
        if media.state == MediaState::Deleted {
            return Ok(true);
        }
        self.delete_object(id).await
    }

    /// Revokes the job's link for ever.
    pub async fn revoke_link(&self, job: &QueuedJob) -> Result<(), StoreError> {
        let write = StoreWrite::Job(Box::new(JobWrite::RevokeLink(job.id)));
        self.parts.store.commit(WriteGroup::from_write(write)).await
    }

    async fn delete_object(&self, id: MediaId) -> Result<bool, StoreError> {
        let write = |write| WriteGroup::from_write(StoreWrite::Media(Box::new(write)));
        self.parts.store.commit(write(MediaWrite::DestroyKey(id))).await?;
        match self.parts.media.delete(id.0).await {
            Ok(true) => {
                self.parts.store.commit(write(MediaWrite::Deleted(id))).await?;
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(error) => {
                tracing::warn!(media = %id.0, %error, "an object was not deleted: {error}");
                Ok(false)
            }
        }
    }

    /// Deletes expired results, and the jobs of deleted results.
    pub(crate) async fn delete_expired(&self) -> Result<(), String> {
        let store = &self.parts.store;
        let now = self.now();
        let to_delete = store.media_to_delete(now, DELETED_AT_ONCE).await;
        for media in to_delete.map_err(|error| error.to_string())? {
            self.delete_object(media.id).await.map_err(|error| error.to_string())?;
        }
        let before = now.minus(self.settings.retention);
        let forget = JobWrite::DropEnded { before, rows_max: JOBS_DELETED_PER_BATCH };
        let forgotten =
            store.commit(WriteGroup::from_write(StoreWrite::Job(Box::new(forget)))).await;
        forgotten.map_err(|error| error.to_string())
    }

    /// Deletes objects without a row, whose writer died before it wrote the row.
    pub(crate) async fn drop_orphans(&self) -> Result<(), String> {
        let before = self.now().minus(ORPHAN_AGE);
        let objects = self.parts.media.written_before(before).await;
        let objects = objects.map_err(|error| error.to_string())?;
        let ids = objects.iter().copied().map(MediaId).collect();
        let known = self.parts.store.known_media(ids).await.map_err(|error| error.to_string())?;
        for object in objects {
            if !known.contains(&MediaId(object)) {
                self.parts.media.delete(object).await.map_err(|error| error.to_string())?;
                metrics::counter!("media_orphans_total").increment(1);
            }
        }
        Ok(())
    }
}
