//! Stores, reads and deletes files.

use std::fmt::Display;
use std::time::Duration;

use bytes::Bytes;
use domain::entropy::time_ordered_id;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use ledger_core::OwnerId;
use media_store::{MediaError, ObjectKey, WrittenObject};
use store::error::StoreError;
use store::file::{FileFilter, FileId, FilePurpose, FileTotals, FileWrite, StoredFile};
use store::media::{MediaRow, MediaState, MediaWrite};
use store::owner::Owner;
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use crate::room::{FileReservation, RoomFault, RoomTerms};
use crate::service::BatchService;

/// Content type of every file.
pub(crate) const CONTENT_TYPE: &str = "application/jsonl";
/// Bounds for a caller without a balance: anyone can make keys and wallets.
const UNPAID: FileTotals = FileTotals { files: 10, bytes: 1_000_000 };

/// The reason why a file was not stored, read or deleted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("the file has more than {most} bytes")]
    TooLarge { most: u64 },
    #[error("the owner has {most} files")]
    TooMany { most: u64 },
    #[error("the owner's files have more than {most} bytes")]
    NoRoom { most: u64 },
    #[error("the file is empty")]
    Empty,
    /// The upload broke off, for the caller's reason.
    #[error("the upload broke off: {0}")]
    Source(String),
    #[error("a batch reads the file")]
    InUse,
    #[error("the file cannot be stored: {0}")]
    Unavailable(String),
}

/// A file whose bytes are stored, without a row yet. If it gets none, its object is deleted later.
pub struct ReceivedFile {
    object: Uuid,
    key: ObjectKey,
    written: WrittenObject,
    _room: Option<FileReservation>,
}

/// The description of a received file.
pub struct NewFile {
    pub name: String,
    pub purpose: FilePurpose,
    /// The caller's wish; the operator's bound counts too.
    pub keep: Option<Duration>,
}

/// A file to send.
pub struct FileDownload {
    pub file: StoredFile,
    pub bytes: BoxStream<'static, Result<Bytes, MediaError>>,
}

impl BatchService {
    /// Stores the bytes of a file, sealed, as they arrive.
    pub async fn receive_file<E: Display>(
        &self,
        owner: OwnerId,
        is_paid: bool,
        source: impl Stream<Item = Result<Bytes, E>>,
    ) -> Result<ReceivedFile, FileError> {
        let stored = self.parts.store.file_totals(owner, self.now()).await.map_err(unavailable)?;
        let files = &self.settings.files;
        let paid = FileTotals { files: files.per_owner_max, bytes: files.bytes_per_owner_max };
        let most = if is_paid { paid } else { UNPAID };
        let terms = RoomTerms { stored, most };
        let mut room = self.room.reserve(owner, terms).map_err(refuse_room)?;
        let mut fault = None;
        let metered = source.map(|piece| {
            let piece = piece.map_err(|error| {
                fault.get_or_insert(FileError::Source(error.to_string()));
            })?;
            room.grow(piece.len() as u64).map_err(|reached| {
                fault.get_or_insert(refuse_room(reached));
            })?;
            Ok::<_, ()>(piece)
        });
        let received = self.write_object(metered.map(|it| it.map_err(|()| "")), files.bytes_max);
        let received = received.await;
        match (received, fault) {
            (_, Some(fault)) => Err(fault),
            (Err(error), None) => Err(error),
            (Ok(received), None) => Ok(ReceivedFile { _room: Some(room), ..received }),
        }
    }

    /// Writes a new object under a new key.
    pub(crate) async fn write_object<E: Display>(
        &self,
        source: impl Stream<Item = Result<Bytes, E>>,
        bytes_max: u64,
    ) -> Result<ReceivedFile, FileError> {
        let object = time_ordered_id(self.now(), self.parts.entropy.as_ref());
        let mut key = [0; 32];
        self.parts.entropy.fill_bytes(&mut key);
        let key = ObjectKey::new(key);
        match self.parts.media.write(object, &key, source, bytes_max).await {
            Ok(written) => Ok(ReceivedFile { object, key, written, _room: None }),
            Err(MediaError::TooLarge(most)) => Err(FileError::TooLarge { most }),
            Err(MediaError::Empty) => Err(FileError::Empty),
            Err(MediaError::Source(cause)) => Err(FileError::Source(cause)),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Gives a received file its row.
    pub async fn keep_file(
        &self,
        owner: Owner,
        received: ReceivedFile,
        new: NewFile,
    ) -> Result<StoredFile, FileError> {
        let (file, mut writes) = self.build_rows(owner.id, &received, new);
        // A wallet that never paid has no row, to which the file's could refer.
        writes.insert(0, StoreWrite::EnsureOwner(owner));
        self.parts.store.commit(WriteGroup { writes }).await.map_err(unavailable)?;
        Ok(file)
    }

    /// The rows of a file and its object.
    pub(crate) fn build_rows(
        &self,
        owner: OwnerId,
        received: &ReceivedFile,
        new: NewFile,
    ) -> (StoredFile, Vec<StoreWrite>) {
        let (now, most) = (self.now(), self.settings.files.retention);
        let expires = now.plus(new.keep.unwrap_or(most).min(most));
        let ReceivedFile { object, key, written, .. } = received;
        let id = FileId(*object);
        let media = MediaRow {
            id: id.media(),
            owner,
            bytes: written.bytes,
            content_type: CONTENT_TYPE.to_owned(),
            sha256: written.sha256,
            key: Some(*key.as_bytes()),
            state: MediaState::Stored,
            stored: now,
            expires,
        };
        let file = StoredFile {
            id,
            owner,
            name: new.name,
            purpose: new.purpose,
            bytes: written.bytes,
            created: now,
            expires,
        };
        let add = StoreWrite::Media(Box::new(MediaWrite::Add(media)));
        (file.clone(), vec![add, FileWrite::Add(file).into()])
    }

    /// Deletes the object of a file that gets no row.
    pub async fn drop_received(&self, received: ReceivedFile) {
        if let Err(error) = self.parts.media.delete(received.object).await {
            tracing::warn!(%error, "a file without a row was not deleted: {error}");
        }
    }

    /// The file of an owner; `None` if it is another's, deleted or expired.
    pub async fn find_file(
        &self,
        owner: OwnerId,
        id: FileId,
    ) -> Result<Option<StoredFile>, StoreError> {
        let now = self.now();
        let file = self.parts.store.file(id).await?;
        Ok(file.filter(|file| file.owner == owner && now < file.expires))
    }

    pub async fn list_files(&self, filter: FileFilter) -> Result<Vec<StoredFile>, StoreError> {
        self.parts.store.list_files(filter).await
    }

    /// Opens a file; `None` if its key was destroyed meanwhile.
    pub async fn open_file(&self, file: StoredFile) -> Result<Option<FileDownload>, FileError> {
        let media = self.parts.store.media(file.id.media()).await.map_err(unavailable)?;
        let Some(key) = media.and_then(|media| media.key) else { return Ok(None) };
        let (id, range) = (file.id.0, 0..file.bytes);
        let bytes = self.parts.media.read(id, &ObjectKey::new(key), file.bytes, range);
        Ok(Some(FileDownload { bytes: bytes.map_err(unavailable)?, file }))
    }

    /// Deletes a file: its key at once and durably, the object then or later.
    pub async fn delete_file(&self, file: &StoredFile) -> Result<(), FileError> {
        let store = &self.parts.store;
        if store.is_batch_input(file.id).await.map_err(unavailable)? {
            return Err(FileError::InUse);
        }
        let delete = WriteGroup::from_write(FileWrite::Delete(file.id).into());
        store.commit(delete).await.map_err(unavailable)?;
        match self.parts.media.delete(file.id.0).await {
            Ok(true) => {
                let gone = MediaWrite::Deleted(file.id.media());
                let gone = WriteGroup::from_write(StoreWrite::Media(Box::new(gone)));
                store.commit(gone).await.map_err(unavailable)
            }
            // The sweep tries again.
            Ok(false) => Ok(()),
            Err(error) => {
                tracing::warn!(file = %file.id.0, %error, "an object was not deleted: {error}");
                Ok(())
            }
        }
    }
}

fn refuse_room(reached: RoomFault) -> FileError {
    match reached {
        RoomFault::Files { most } => FileError::TooMany { most },
        RoomFault::Bytes { most } => FileError::NoRoom { most },
    }
}

fn unavailable(error: impl Display) -> FileError {
    FileError::Unavailable(error.to_string())
}
