//! Web access for callers: pages as Markdown, and searches.
//!
//! [`Fetcher`] is the only way to fetch a URL that a caller named: it checks where the URL leads,
//! connects only to the addresses that it checked, and reads within limits.

mod body;
mod browser;
mod connect;
mod fault;
mod fetch;
mod names;
mod reading;
mod robots;
mod scrape;
mod search;
mod tls;
mod turns;

pub use browser::{Browser, BrowserError, BrowserSetup, KeeperProgram, PAGE_TIME_MAX, keeper};
pub use connect::StandIn;
pub use fault::FetchFault;
pub use fetch::{Ask, Fetched, Fetcher, Method};
pub use names::{Lookup, LookupError, Names, SystemNames};
pub use reading::Reading;
pub use scrape::{PAGE_BYTES_MAX, PageSource, ScrapeFault, Scraped, Scraper};
pub use search::{BRAVE, NoSearch, SearchError, SearchHit, SearchKind, Searcher, TAVILY};
pub use tls::{TlsUnusable, trusting_the_system};

#[cfg(test)]
mod tests;
