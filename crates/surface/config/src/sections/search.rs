//! `[search]`: the web search provider.

use money::{Price, PriceUnits};

use super::HTTP;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;
use crate::secret::{SecretResolver, SecretString};

pub const SECTION: ConfigSection = ConfigSection {
    name: "search",
    form: SectionForm::One,
    doc: "The web search provider for models.",
    keys: &[
        ConfigKey::with_default(
            "provider",
            ValueKind::Choice(&["searxng", "brave", "tavily", "off"]),
            "\"off\"",
            "The search provider.",
        ),
        ConfigKey::with_default(
            "price_usd",
            ValueKind::Decimal,
            "\"0.01\"",
            "Price per search in USD. In chats, searches that fail or find nothing are not \
             charged. An image request with `enable_web_search` is charged once, also if the \
             model's provider searches itself.",
        ),
        ConfigKey::with_default(
            "x_price_usd",
            ValueKind::Decimal,
            "\"0.03\"",
            "Surcharge in USD for a response for which the model's provider searched X.",
        ),
        ConfigKey::optional(
            "url",
            ValueKind::Url(HTTP),
            "The URL of the search provider. Required for SearXNG.",
        ),
        ConfigKey::optional(
            "api_key",
            ValueKind::Secret,
            "The API key, as `env:NAME` or `file:path`. Required for Brave and Tavily.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchConfig {
    pub service: SearchService,
    pub price: Price,
    /// The price of a search of X by a model's provider.
    pub x_price: Price,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchService {
    Off,
    Searxng { url: String, api_key: Option<SecretString> },
    Brave { url: Option<String>, api_key: SecretString },
    Tavily { url: Option<String>, api_key: SecretString },
}

pub(crate) fn read_search_config(
    reader: &TableReader<'_>,
    vault: &SecretResolver<'_>,
) -> Option<SearchConfig> {
    let price = reader.decimal("price_usd", |text| Price::parse(text, PriceUnits::One));
    let x_price = reader.decimal("x_price_usd", |text| Price::parse(text, PriceUnits::One));
    let service = read_search_service(reader, vault);
    Some(SearchConfig { service: service?, price: price?, x_price: x_price? })
}

fn read_search_service(
    reader: &TableReader<'_>,
    vault: &SecretResolver<'_>,
) -> Option<SearchService> {
    let provider = reader.choice("provider");
    let url = reader.url("url").map(|url| url.trim_end_matches('/').to_owned());
    let api_key = vault.resolve_secret(reader, "api_key");
    let provider = provider?;
    let needed = match provider {
        "searxng" => "url",
        "brave" | "tavily" => "api_key",
        _ => return Some(SearchService::Off),
    };
    if !reader.has_key(needed) {
        reader.report_fault(
            "provider",
            format!("`{needed}` is missing in [search]: {provider} needs it"),
        );
    }
    match provider {
        "searxng" => Some(SearchService::Searxng { url: url?, api_key }),
        "brave" => Some(SearchService::Brave { url, api_key: api_key? }),
        _ => Some(SearchService::Tavily { url, api_key: api_key? }),
    }
}
