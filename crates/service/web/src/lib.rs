//! Web access for callers: pages as Markdown, and searches.
//!
//! [`WebFetcher`] is the only way to fetch a URL that a caller named: it checks where the URL leads,
//! connects only to the addresses that it checked, and reads within limits.

mod body;
mod browser;
mod caller_permits;
mod connect;
mod fault;
mod fetch;
mod fetch_stream;
mod resolver;
mod robots;
mod scrape;
mod search;
mod text_extractor;
mod tls;

pub use browser::{BrowserError, BrowserSetup, KeeperProgram, PAGE_TIME_MAX, PageRenderer, keeper};
pub use connect::AddressOverride;
pub use fault::FetchFault;
pub use fetch::{FetchMethod, FetchRequest, FetchResponse, WebFetcher};
pub use fetch_stream::FetchStream;
pub use resolver::{LookupError, LookupFuture, NameResolver, SystemResolver};
pub use scrape::{PAGE_BYTES_MAX, PageScraper, PageSource, ScrapeFault, ScrapedPage};
pub use search::{
    BRAVE, SearchError, SearchHit, SearchKind, SearchSetupError, TAVILY, WebSearcher,
};
pub use text_extractor::TextExtractor;
pub use tls::{TlsUnusable, system_tls_config};

#[cfg(test)]
mod tests;
