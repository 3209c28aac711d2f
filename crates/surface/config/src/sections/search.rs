//! `[search]`: the web search provider.

use money::Price;

use crate::key::ConfigSection;
use crate::key_type::{BASE_URL, SECRET, UNIT_PRICE, choice};
use crate::reader::TableReader;
use crate::secret::SecretString;
use crate::section_table::{SectionTable, config_section};

config_section! {
    /// The web search provider for models.
    #[section(One, "search")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SearchConfig {
        ..service: SearchService;
        /// Price per search in USD. In chats, searches that fail or find nothing are not
        /// charged. An image request with `enable_web_search` is charged once, also if the
        /// model's provider searches itself.
        "price_usd" => price: Price = UNIT_PRICE, default("0.01");
        /// Surcharge in USD for a response for which the model's provider searched X.
        "x_price_usd" => x_price: Price = UNIT_PRICE, default("0.03");
    }
}

config_section! {
    /// The keys that choose the provider.
    #[section(Inner, "search")]
    struct SearchServiceKeys {
        /// The search provider.
        provider: SearchProvider = choice(), default("off");
        /// The URL of the search provider. Required for SearXNG.
        url: Option<String> = BASE_URL, optional;
        /// The API key, as `env:NAME` or `file:path`. Required for Brave and Tavily.
        api_key: Option<SecretString> = SECRET, optional;
    }
}

domain::named! {
    enum SearchProvider {
        Searxng = "searxng",
        Brave = "brave",
        Tavily = "tavily",
        Off = "off",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchService {
    Off,
    Searxng { url: String, api_key: Option<SecretString> },
    Brave { url: Option<String>, api_key: SecretString },
    Tavily { url: Option<String>, api_key: SecretString },
}

impl SectionTable for SearchService {
    const SECTION: ConfigSection = SearchServiceKeys::SECTION;

    fn read(reader: &TableReader<'_>) -> Option<SearchService> {
        let SearchServiceKeys { provider, url, api_key } = SearchServiceKeys::read(reader)?;
        let needed = match provider {
            SearchProvider::Searxng => "url",
            SearchProvider::Brave | SearchProvider::Tavily => "api_key",
            SearchProvider::Off => return Some(SearchService::Off),
        };
        if !reader.has_key(needed) {
            let message = format!("`{needed}` is missing in [search]: {provider} needs it");
            reader.report_fault("provider", message);
        }
        match provider {
            SearchProvider::Searxng => Some(SearchService::Searxng { url: url?, api_key }),
            SearchProvider::Brave => Some(SearchService::Brave { url, api_key: api_key? }),
            SearchProvider::Tavily => Some(SearchService::Tavily { url, api_key: api_key? }),
            SearchProvider::Off => Some(SearchService::Off),
        }
    }
}
