//! `/conversations`: items that are kept here and sent to the model with each response.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::responses::InputItem;

/// The body of `POST /conversations`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewConversation {
    /// The first items of the conversation.
    #[schemars(length(max = 20))]
    pub items: Option<Vec<InputItem>>,
    /// Up to 16 notes of the caller, with keys of up to 64 and values of up to 512 characters.
    pub metadata: Option<BTreeMap<String, String>>,
}

/// The body of `POST /conversations/{conversation_id}`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ConversationChange {
    /// Replaces the notes.
    pub metadata: BTreeMap<String, String>,
}

/// The body of `POST /conversations/{conversation_id}/items`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewConversationItems {
    #[schemars(length(min = 1, max = 20))]
    pub items: Vec<InputItem>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ConversationPath {
    /// `conv_…`.
    pub conversation_id: String,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ConversationItemPath {
    /// `conv_…`.
    pub conversation_id: String,
    pub item_id: String,
}

/// Filters of a list of items.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ItemListQuery {
    /// The id of the item before the page.
    pub after: Option<String>,
    /// The maximum number of items. Default: 20.
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
    /// Default: `desc`, the newest first.
    pub order: Option<ItemOrder>,
}

/// The order of a list of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ItemOrder {
    Asc,
    Desc,
}

/// A conversation without its items.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Conversation {
    /// `conv_…`.
    pub id: String,
    /// Always `conversation`.
    pub object: &'static str,
    /// Unix seconds.
    pub created_at: i64,
    pub metadata: BTreeMap<String, String>,
}

/// The reply to the deletion of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConversationDeleted {
    pub id: String,
    /// Always `conversation.deleted`.
    pub object: &'static str,
    /// Always true.
    pub deleted: bool,
}

/// A page of items.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StoredItemList {
    /// Always `list`.
    pub object: &'static str,
    pub data: Vec<Map<String, Value>>,
    /// The id of the first item; null if there is none.
    pub first_id: Option<String>,
    /// The id of the last item; null if there is none.
    pub last_id: Option<String>,
    /// True if there are more items after the last one.
    pub has_more: bool,
}

/// One item of a conversation, in the form in which it was sent or generated.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct StoredItem(pub Map<String, Value>);
