//! Conversations that callers keep here: items in order, each sealed with a key of its own.

use ledger_core::OwnerId;
use moment::Timestamp;
use uuid::Uuid;

/// The maximum number of items per query.
pub const ITEMS_MAX: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationId(pub Uuid);

#[derive(Clone, PartialEq, Eq)]
pub struct ConversationRecord {
    pub id: ConversationId,
    pub owner: OwnerId,
    /// The key of the metadata.
    pub key: [u8; 32],
    /// Sealed.
    pub metadata: Vec<u8>,
    pub bytes: u64,
    pub created: Timestamp,
    pub expires: Timestamp,
}

/// An item before it has a position.
#[derive(Clone, PartialEq, Eq)]
pub struct NewConversationItem {
    /// The id that callers know, unique in its conversation.
    pub item: String,
    pub key: [u8; 32],
    pub sealed: Vec<u8>,
    /// The size before encryption.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationItem {
    pub position: u64,
    pub content: NewConversationItem,
}

/// A page of the items of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemQuery {
    pub conversation: ConversationId,
    /// The item before the page, in its direction.
    pub after: Option<u64>,
    pub is_ascending: bool,
    pub limit: usize,
}

/// The writes about conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationWrite {
    Add(ConversationRecord),
    /// `Missing` if there is none of this id and owner.
    SetMetadata {
        owner: OwnerId,
        id: ConversationId,
        metadata: Vec<u8>,
        bytes: u64,
    },
    /// Adds items at the end, and keeps the conversation until `expires`. No change if the
    /// conversation was deleted, so that the charge in the same group is never refused.
    AddItems {
        owner: OwnerId,
        conversation: ConversationId,
        items: Vec<NewConversationItem>,
        expires: Timestamp,
    },
    /// Deletes an item for good.
    DeleteItem {
        conversation: ConversationId,
        item: String,
    },
    /// Deletes a conversation and its items for good.
    Delete {
        owner: OwnerId,
        id: ConversationId,
    },
    /// Deletes expired conversations, and the rows of deleted ones: at most `rows_max` of each.
    DropExpired {
        now: Timestamp,
        rows_max: usize,
    },
}

/// Prints no key.
impl std::fmt::Debug for ConversationRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConversationRecord({}, {} bytes)", self.id.0, self.bytes)
    }
}

/// Prints no key.
impl std::fmt::Debug for NewConversationItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NewConversationItem({}, {} bytes)", self.item, self.bytes)
    }
}
