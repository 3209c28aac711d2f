//! Stored responses: how they are read, listed and deleted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ResponseStatus;

/// The conversation of a response: its id, or an object with its id.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ConversationReference {
    Id(#[schemars(length(min = 1))] String),
    Object(ConversationName),
}

/// A conversation by its id.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct ConversationName {
    #[schemars(length(min = 1))]
    pub id: String,
}

impl ConversationReference {
    pub fn id(&self) -> &str {
        match self {
            ConversationReference::Id(id)
            | ConversationReference::Object(ConversationName { id }) => id,
        }
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ResponsePath {
    /// `resp_…`.
    pub response_id: String,
}

/// Options of `GET /responses/{response_id}`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ResponseQuery {
    /// Streams the events of a response that was created with `stream` and `background`: those that
    /// are stored, and then those that come.
    pub stream: Option<bool>,
    /// Only events with a larger `sequence_number`.
    pub starting_after: Option<u64>,
    /// Accepted and discarded.
    pub include_obfuscation: Option<bool>,
}

/// Filters of `GET /responses`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ResponseListQuery {
    /// The id of the response before the page.
    pub after: Option<String>,
    /// The maximum number of responses. Default: 20.
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
}

/// The reply to the deletion of a response.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResponseDeleted {
    pub id: String,
    /// Always `response`.
    pub object: &'static str,
    /// Always true.
    pub deleted: bool,
}

/// A page of the caller's responses, newest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResponseList {
    /// Always `list`.
    pub object: &'static str,
    pub data: Vec<ResponseSummary>,
    /// The id of the first response; null if there is none.
    pub first_id: Option<String>,
    /// The id of the last response; null if there is none.
    pub last_id: Option<String>,
    /// True if there are older responses.
    pub has_more: bool,
}

/// A stored response without its contents.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResponseSummary {
    pub id: String,
    /// Always `response`.
    pub object: &'static str,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds; null until it has ended.
    pub completed_at: Option<i64>,
    /// Unix seconds; it is deleted then.
    pub expires_at: i64,
    pub model: String,
    pub status: ResponseStatus,
    pub background: bool,
    pub previous_response_id: Option<String>,
    pub conversation: Option<ConversationName>,
    /// The charge; zero until it has ended.
    pub cost: ResponseCharge,
}

/// The charge for a response.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ResponseCharge {
    pub usd: f64,
    pub diem: f64,
}
