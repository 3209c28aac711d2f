//! What jobs made: where it lies, and the key without which nobody can read it.

use credits::OwnerId;
use moment::Timestamp;
use uuid::Uuid;

/// The most rows that one answer carries.
pub const MEDIA_MAX: usize = 1000;

/// One object among those that were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MediaId(pub Uuid);

#[derive(Clone, PartialEq, Eq)]
pub struct Media {
    pub id: MediaId,
    pub owner: OwnerId,
    /// Before it was encrypted.
    pub bytes: u64,
    pub content_type: String,
    pub sha256: [u8; 32],
    /// None once it is to be deleted: from then on nobody can read it.
    pub key: Option<[u8; 32]>,
    pub state: MediaState,
    pub stored: Timestamp,
    pub expires: Timestamp,
}

/// Without its key.
impl std::fmt::Debug for Media {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Media { id, bytes, content_type, state, .. } = self;
        write!(f, "Media({}, {bytes} bytes of {content_type}, {})", id.0, state.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MediaState {
    Stored,
    /// Its key is destroyed, and its object may still be there.
    Deleting,
    Deleted,
}

/// What can be written about media.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaWrite {
    Add(Media),
    /// Destroys the key. Nothing changes if that was done before.
    DestroyKey(MediaId),
    /// The object is gone.
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
