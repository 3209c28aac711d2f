//! `GET /models` and `GET /models/{id}` for clients that send `anthropic-version`.

use schemars::JsonSchema;
use serde::Serialize;

/// A page of the text models.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelPage {
    pub data: Vec<AnthropicModel>,
    pub has_more: bool,
    /// The id for `before_id` of the page before; null if the page is empty.
    pub first_id: Option<String>,
    /// The id for `after_id` of the next page; null if the page is empty.
    pub last_id: Option<String>,
}

/// A text model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnthropicModel {
    #[serde(rename = "type")]
    pub kind: AnthropicModelKind,
    pub id: String,
    pub display_name: String,
    pub created_at: String,
    /// The context window.
    pub max_input_tokens: u64,
    /// The longest answer.
    pub max_tokens: u64,
}

/// Always `model`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnthropicModelKind {
    Model,
}
