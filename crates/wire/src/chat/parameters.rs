//! The options of this service, as sent and as they came into force.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of this service; `<model>:<option>=<value>` sets most of them too, and wins.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ServiceParameters {
    /// Public character slug to answer as.
    pub character_slug: Option<String>,
    /// Strip `<think></think>` blocks (legacy format).
    #[schemars(extend("default" = false))]
    pub strip_thinking_response: Option<bool>,
    /// On supported reasoning models, disable thinking and strip blocks.
    #[schemars(extend("default" = false))]
    pub disable_thinking: Option<bool>,
    /// End-to-end encryption, for models that support it.
    pub enable_e2ee: Option<bool>,
    /// Defaults to `off`; searching has a price of its own.
    #[schemars(extend("default" = "off"))]
    pub enable_web_search: Option<SearchMode>,
    /// Scrapes up to 5 URLs in the user message; only successfully scraped URLs are billed.
    #[schemars(extend("default" = false))]
    pub enable_web_scraping: Option<bool>,
    /// Provider-native search for supported models; bypasses standard web search.
    #[schemars(extend("default" = false))]
    pub enable_x_search: Option<bool>,
    /// With web search, cites sources in `[REF]0[/REF]` form.
    #[schemars(extend("default" = false))]
    pub enable_web_citations: Option<bool>,
    /// Search results as first stream chunk.
    #[schemars(extend("default" = false))]
    pub include_search_results_in_stream: Option<bool>,
    /// Surface results as a tool call named `service_web_search_documents`.
    #[schemars(extend("default" = false))]
    pub return_search_results_as_documents: Option<bool>,
    /// Keep the default system prompt alongside the caller's. Defaults to true.
    #[schemars(extend("default" = true))]
    pub include_service_system_prompt: Option<bool>,
}

/// When to search the web.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    #[default]
    Off,
    On,
    Auto,
}

/// The options that an answer was given with.
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
    /// What was found and used; empty without a search.
    pub web_search_citations: Vec<WebSearchCitation>,
}

/// A page that an answer draws on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WebSearchCitation {
    pub title: String,
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}
