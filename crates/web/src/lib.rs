//! What callers have us fetch from the web: pages as Markdown, and searches.
//!
//! [`Fetcher`] is the one way to follow an address that a caller named: it judges where the address
//! leads, connects to exactly what it judged, and reads within bounds.

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
