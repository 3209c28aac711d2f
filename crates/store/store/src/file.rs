//! Rows of callers' files. The content of a file is an object of `media` with the same id.

use ledger_core::OwnerId;
use moment::Timestamp;
use uuid::Uuid;

use crate::media::MediaId;

/// The maximum number of files per query.
pub const FILES_MAX: usize = 10_001;

/// The id of a file, which is also that of its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub Uuid);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    pub id: FileId,
    pub owner: OwnerId,
    /// Chosen by the caller and not trusted.
    pub name: String,
    pub purpose: FilePurpose,
    pub bytes: u64,
    pub created: Timestamp,
    pub expires: Timestamp,
}

impl FileId {
    /// The object with the file's content.
    pub fn media(self) -> MediaId {
        MediaId(self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FilePurpose {
    /// Input of a batch.
    Batch,
    /// Results or errors of a batch.
    BatchOutput,
}

/// Filters of a list of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFilter {
    pub owner: OwnerId,
    pub purpose: Option<FilePurpose>,
    /// Only files after this one, in the order of the list.
    pub after: Option<FileId>,
    /// Oldest first instead of newest first.
    pub is_ascending: bool,
    pub limit: usize,
    /// Files that expired before are left out.
    pub now: Timestamp,
}

/// The number and size of an owner's files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileTotals {
    pub files: u64,
    pub bytes: u64,
}

/// The writes about files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileWrite {
    /// Written in one group with the row of its object.
    Add(StoredFile),
    /// Postpones the expiry of a file and its object; an earlier time changes nothing. `Missing` if
    /// the file was deleted.
    KeepUntil { file: FileId, until: Timestamp },
    /// Marks the file as deleted and destroys the key of its object.
    Delete(FileId),
    /// Deletes the rows of files whose object is gone.
    DropGone { rows_max: usize },
}

impl FilePurpose {
    pub const ALL: [FilePurpose; 2] = [FilePurpose::Batch, FilePurpose::BatchOutput];

    pub fn name(self) -> &'static str {
        match self {
            FilePurpose::Batch => "batch",
            FilePurpose::BatchOutput => "batch_output",
        }
    }

    pub fn parse(name: &str) -> Option<FilePurpose> {
        FilePurpose::ALL.into_iter().find(|purpose| purpose.name() == name)
    }
}
