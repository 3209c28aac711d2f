//! Web pages, web search and documents as input for models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of `POST /augment/scrape`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ScrapeRequest {
    /// The http or https URL of the page.
    #[schemars(length(min = 1, max = 8192))]
    pub url: String,
}

/// The content of a web page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScrapeResult {
    /// The URL as it was requested.
    pub url: String,
    /// The content of the page in Markdown.
    pub content: String,
    pub format: ScrapeFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScrapeFormat {
    Markdown,
}

/// The body of `POST /augment/search`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchRequest {
    #[schemars(length(min = 1, max = 400))]
    pub query: String,
    /// The maximum number of results. Default: 10.
    #[schemars(range(min = 1, max = 20), extend("default" = 10))]
    pub limit: Option<u8>,
    /// Accepted for compatibility and ignored: the operator configures the search provider.
    pub search_provider: Option<SearchProvider>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchProvider {
    Brave,
    Google,
}

/// The results of a search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResults {
    pub query: String,
    pub results: Vec<SearchResult>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResult {
    pub title: String,
    pub url: String,
    /// An excerpt of the page. It may contain HTML.
    pub content: String,
    /// The publication date in the format of the search provider. May be empty.
    pub date: String,
}

/// The body of `POST /augment/text-parser`: a document, as multipart form data.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TextParserRequest {
    /// The document as a file of at most 25 MB: PDF, EPUB, an office format or text. The format is
    /// detected from the content.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub file: Option<String>,
    /// The format of the response. Default: `json`.
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
    /// The approximate number of tokens of the text.
    pub tokens: u64,
}
