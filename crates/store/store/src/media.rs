//! Rows of generated media: the object's properties, and the key without which it cannot be read.

use ledger_core::OwnerId;
use moment::Timestamp;
use uuid::Uuid;

/// The maximum number of rows per query.
pub const MEDIA_MAX: usize = 1000;

/// The id of a generated object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MediaId(pub Uuid);

#[derive(Clone, PartialEq, Eq)]
pub struct MediaRow {
    pub id: MediaId,
    pub owner: OwnerId,
    /// Size before encryption.
    pub bytes: u64,
    pub content_type: String,
    pub sha256: [u8; 32],
    /// None once it is to be deleted: from then on it cannot be read.
    pub key: Option<[u8; 32]>,
    pub state: MediaState,
    pub stored: Timestamp,
    pub expires: Timestamp,
}

/// Prints everything but the key.
impl std::fmt::Debug for MediaRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let MediaRow { id, bytes, content_type, state, .. } = self;
        write!(f, "Media({}, {bytes} bytes of {content_type}, {})", id.0, state.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MediaState {
    Stored,
    /// Its key is destroyed, and its object may still exist.
    Deleting,
    Deleted,
}

/// The writes about media.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaWrite {
    Add(MediaRow),
    /// Destroys the key. No change if that was done before.
    DestroyKey(MediaId),
    /// The object was deleted.
    Deleted(MediaId),
}

impl MediaState {
    pub fn name(self) -> &'static str {
        match self {
            MediaState::Stored => "STORED",
            MediaState::Deleting => "DELETING",
            MediaState::Deleted => "DELETED",
        }
    }

    pub fn parse(name: &str) -> Option<MediaState> {
        let all = [MediaState::Stored, MediaState::Deleting, MediaState::Deleted];
        all.into_iter().find(|state| state.name() == name)
    }
}
