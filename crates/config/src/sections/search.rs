//! `[search]`: the web search provider.

use money::{Per, Price};

use super::HTTP;
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;
use crate::secret::{Secret, Vault};

pub const SECTION: Section = Section {
    name: "search",
    form: Form::One,
    doc: "The web search provider for models.",
    keys: &[
        Key::with_default(
            "provider",
            Kind::Choice(&["searxng", "brave", "tavily", "off"]),
            "\"off\"",
            "The search provider.",
        ),
        Key::with_default(
            "price_usd",
            Kind::Decimal,
            "\"0.01\"",
            "Price per search in USD. In chats, searches that fail or find nothing are not \
             charged. An image request with `enable_web_search` is charged once, also if the \
             model's provider searches itself.",
        ),
        Key::with_default(
            "x_price_usd",
            Kind::Decimal,
            "\"0.03\"",
            "Surcharge in USD for a response for which the model's provider searched X.",
        ),
        Key::optional(
            "url",
            Kind::Url(HTTP),
            "The URL of the search provider. Required for SearXNG.",
        ),
        Key::optional(
            "api_key",
            Kind::Secret,
            "The API key, as `env:NAME` or `file:path`. Required for Brave and Tavily.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub service: SearchService,
    pub price: Price,
    /// The price of a search of X by a model's provider.
    pub x_price: Price,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchService {
    Off,
    Searxng { url: String, api_key: Option<Secret> },
    Brave { url: Option<String>, api_key: Secret },
    Tavily { url: Option<String>, api_key: Secret },
}

pub(crate) fn read(reader: &Reader<'_>, vault: &Vault<'_>) -> Option<Search> {
    let price = reader.decimal("price_usd", |text| Price::parse(text, Per::One));
    let x_price = reader.decimal("x_price_usd", |text| Price::parse(text, Per::One));
    let service = service(reader, vault);
    Some(Search { service: service?, price: price?, x_price: x_price? })
}

fn service(reader: &Reader<'_>, vault: &Vault<'_>) -> Option<SearchService> {
    let provider = reader.choice("provider");
    let url = reader.url("url").map(|url| url.trim_end_matches('/').to_owned());
    let api_key = vault.secret(reader, "api_key");
    let provider = provider?;
    let needed = match provider {
        "searxng" => "url",
        "brave" | "tavily" => "api_key",
        _ => return Some(SearchService::Off),
    };
    if !reader.has(needed) {
        reader.fault("provider", format!("`{needed}` is missing in [search]: {provider} needs it"));
    }
    match provider {
        "searxng" => Some(SearchService::Searxng { url: url?, api_key }),
        "brave" => Some(SearchService::Brave { url, api_key: api_key? }),
        _ => Some(SearchService::Tavily { url, api_key: api_key? }),
    }
}
