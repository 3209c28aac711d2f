//! What a model may want to know: pages, searches and documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /augment/scrape`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ScrapeRequest {
    /// The page, as an http or https URL.
    #[schemars(length(min = 1, max = 8192))]
    pub url: String,
}

/// A page that was scraped.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScrapeResult {
    /// The URL scraped, as it was requested.
    pub url: String,
    /// The page in Markdown.
    pub content: String,
    pub format: ScrapeFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScrapeFormat {
    Markdown,
}

/// `POST /augment/search`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchRequest {
    #[schemars(length(min = 1, max = 400))]
    pub query: String,
    /// How many results; 10 unless said.
    #[schemars(range(min = 1, max = 20), extend("default" = 10))]
    pub limit: Option<u8>,
    /// Accepted for compatibility: the operator has chosen who searches.
    pub search_provider: Option<SearchProvider>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchProvider {
    Brave,
    Google,
}

/// What a search found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResults {
    pub query: String,
    pub results: Vec<SearchResult>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResult {
    pub title: String,
    pub url: String,
    /// An excerpt, which may hold HTML.
    pub content: String,
    /// When the page was published, as the search service writes it; may be empty.
    pub date: String,
}

/// `POST /augment/text-parser`: a document, as a form.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TextParserRequest {
    /// The document, as a file of at most 25 MB: PDF, EPUB, office files or text. The content says
    /// which it is.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub file: Option<String>,
    /// `json` unless said.
    #[schemars(extend("default" = "json"))]
    pub response_format: Option<TextFormat>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextFormat {
    #[default]
    Json,
    Text,
}

/// The text of a document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ParsedText {
    pub text: String,
    /// About how many tokens it has.
    pub tokens: u64,
}
