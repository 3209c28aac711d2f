//! The service's own options, as requested and as applied.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of this service. Most can also be set in the model name with `<model>:<option>=<value>`,
/// which takes precedence.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ServiceParameters {
    /// The slug of a public character to answer as.
    pub character_slug: Option<String>,
    /// Removes `<think></think>` blocks from the response (legacy format).
    #[schemars(extend("default" = false))]
    pub strip_thinking_response: Option<bool>,
    /// Disables thinking on reasoning models that support it, and removes thinking blocks.
    #[schemars(extend("default" = false))]
    pub disable_thinking: Option<bool>,
    /// Enables end-to-end encryption, for models that support it.
    pub enable_e2ee: Option<bool>,
    /// Web search mode; searches are billed separately. Default: `off`.
    #[schemars(extend("default" = "off"))]
    pub enable_web_search: Option<SearchMode>,
    /// Scrapes up to 5 URLs in the user message. Only successfully scraped URLs are billed.
    #[schemars(extend("default" = false))]
    pub enable_web_scraping: Option<bool>,
    /// Enables the provider's own search, for models that support it. Replaces the standard web
    /// search.
    #[schemars(extend("default" = false))]
    pub enable_x_search: Option<bool>,
    /// Cites sources of web search in the form `[REF]0[/REF]`.
    #[schemars(extend("default" = false))]
    pub enable_web_citations: Option<bool>,
    /// Sends the search results as the first chunk of the stream.
    #[schemars(extend("default" = false))]
    pub include_search_results_in_stream: Option<bool>,
    /// Returns the search results as a tool call named `service_web_search_documents`.
    #[schemars(extend("default" = false))]
    pub return_search_results_as_documents: Option<bool>,
    /// Keeps the default system prompt in addition to the caller's. Default: true.
    #[schemars(extend("default" = true))]
    pub include_service_system_prompt: Option<bool>,
}

/// The web search mode: never, always, or if the request needs it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    #[default]
    Off,
    On,
    Auto,
}

/// The options in effect for a response.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EffectiveParameters {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub character_slug: Option<String>,
    pub strip_thinking_response: bool,
    pub disable_thinking: bool,
    pub enable_e2ee: bool,
    pub enable_web_search: SearchMode,
    #[serde(skip)]
    pub enable_x_search: bool,
    pub enable_web_scraping: bool,
    pub enable_web_citations: bool,
    pub include_search_results_in_stream: bool,
    pub return_search_results_as_documents: bool,
    pub include_service_system_prompt: bool,
    /// The search results that were used. Empty without a search.
    pub web_search_citations: Vec<WebSearchCitation>,
}

/// A web page that a response is based on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WebSearchCitation {
    pub title: String,
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}
