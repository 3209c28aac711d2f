//! Characters: personas for chats, and their reviews.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::billing::SortOrder;

/// The query of `GET /characters`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CharacterListQuery {
    /// Matches any of these categories. Repeat the parameter or separate values with commas.
    /// Categories are tags.
    #[schemars(length(max = 20), inner(length(max = 2019)))]
    pub categories: Option<Vec<String>>,
    /// True lists only adult characters, false only others. Default: false.
    #[schemars(extend("default" = false))]
    pub is_adult: Option<bool>,
    pub is_pro: Option<bool>,
    pub is_web_enabled: Option<bool>,
    /// The maximum number of results. Default: 50.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<u32>,
    #[schemars(range(min = 0, max = 1_000_000_000), extend("x-null-text" = true, "default" = 0))]
    pub offset: Option<u64>,
    /// Matches any of these models.
    #[schemars(length(max = 20), inner(length(max = 4019)))]
    pub model_id: Option<Vec<String>>,
    /// Matches any of these tags.
    #[schemars(length(max = 20), inner(length(max = 2019)))]
    pub tags: Option<Vec<String>>,
    /// Words to find in the name, the description and the tags. `#tag` matches a whole tag.
    #[schemars(length(max = 200))]
    pub search: Option<String>,
    /// Default: `imports`.
    #[schemars(extend("default" = "imports"))]
    pub sort_by: Option<CharacterSort>,
    /// Default: `desc`.
    #[schemars(extend("default" = "desc"))]
    pub sort_order: Option<SortOrder>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CharacterSort {
    Featured,
    HighestRating,
    HighlyRated,
    HighlyRatedAndRecent,
    Imports,
    MostRecent,
    RatingCount,
}

/// The path parameters of one character.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CharacterPath {
    /// The character's slug, or its id.
    #[schemars(length(min = 1, max = 200))]
    pub slug: String,
}

/// A character.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Character {
    pub adult: bool,
    pub author: String,
    pub created_at: String,
    pub description: String,
    pub featured: bool,
    pub id: String,
    pub name: String,
    pub share_url: String,
    pub photo_url: String,
    pub slug: String,
    pub stats: CharacterStats,
    pub tags: Vec<String>,
    pub updated_at: String,
    pub web_enabled: bool,
    /// The model that the author recommends. Empty: any model.
    pub model_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CharacterStats {
    pub average_rating: f64,
    /// The number of accounts that have chatted with the character.
    pub imports: u64,
    pub rating_count: u64,
    pub rating_sum: f64,
    /// The caller's own rating; 0 if there is none.
    pub user_rating: f64,
}

/// The response to `GET /characters`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CharacterList {
    pub data: Vec<Character>,
    #[schemars(extend("const" = "list"))]
    pub object: &'static str,
}

/// The response to `GET /characters/{slug}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CharacterReply {
    pub data: Character,
    #[schemars(extend("const" = "character"))]
    pub object: &'static str,
}

/// The query of `GET /characters/{slug}/reviews`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewQuery {
    #[schemars(range(min = 1, max = 1_000_000), extend("default" = 1))]
    pub page: Option<u32>,
    /// The number of reviews per page. Default: 20.
    #[schemars(range(min = 1, max = 100), extend("default" = 20))]
    pub page_size: Option<u32>,
}

/// An account's review of a character.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    pub character_id: String,
    pub created_at: String,
    pub id: String,
    /// True if the caller wrote the review.
    pub is_owner: bool,
    pub locale: String,
    pub message: String,
    pub rating: f64,
    pub user_avatar_url: String,
    pub username: String,
}

/// The response to `GET /characters/{slug}/reviews`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReviewList {
    pub data: Vec<Review>,
    #[schemars(extend("const" = "list"))]
    pub object: &'static str,
    pub pagination: ReviewPagination,
    pub summary: ReviewSummary,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewPagination {
    pub page: u64,
    pub page_size: u64,
    pub total: u64,
    pub total_pages: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewSummary {
    pub average_rating: f64,
    pub total_reviews: u64,
}

/// The body of `POST /characters/{slug}/reviews`. A second review by the same account replaces the
/// first.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewReview {
    #[schemars(range(min = 1, max = 5))]
    pub rating: u8,
    #[schemars(length(max = 2000))]
    pub message: Option<String>,
    /// The language of the message, such as `en`.
    #[schemars(length(min = 2, max = 35))]
    pub locale: Option<String>,
}

/// The response to `POST /characters/{slug}/reviews`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReviewReply {
    pub data: Review,
    #[schemars(extend("const" = "review"))]
    pub object: &'static str,
}

/// The body of `POST /admin/characters`: a card, in any version of the character card format.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct NewCharacter {
    pub card: Map<String, Value>,
    /// Default: derived from the name.
    #[schemars(length(min = 1, max = 60))]
    pub slug: Option<String>,
}

/// The body of `PATCH /admin/characters/{slug}`. Absent fields keep their values.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct CharacterChange {
    pub card: Option<Map<String, Value>>,
    pub adult: Option<bool>,
    pub featured: Option<bool>,
    pub web_enabled: Option<bool>,
    #[schemars(length(max = 200))]
    pub model_id: Option<String>,
}

/// A character with its card.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ManagedCharacter {
    pub data: Character,
    /// The card in version 2 of the format.
    pub card: Value,
    #[schemars(extend("const" = "character"))]
    pub object: &'static str,
}

/// The response to `DELETE /admin/characters/{slug}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CharacterRemoved {
    pub success: bool,
}
