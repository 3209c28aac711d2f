//! Web access for callers, and its prices.

use ::web::{PageScraper, TextExtractor, WebSearcher};
use ledger::ChargeLine;
use money::{Price, PriceUnits, UnitRate, WorkCost};

pub struct WebAccess {
    pub scraper: PageScraper,
    /// None if the operator configured no search.
    pub searcher: Option<WebSearcher>,
    /// Reads callers' documents.
    pub reading: TextExtractor,
    pub prices: WebPrices,
}

/// Prices per request.
#[derive(Debug, Clone, Copy)]
pub struct WebPrices {
    pub scrape: Price,
    pub search: Price,
    /// Extracting the text of a document.
    pub parse: Price,
    /// An X search by a model's provider.
    pub x_search: Price,
}

/// The kinds of work that are charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebWork {
    Scrape,
    Search,
    Parse,
    XSearch,
}

impl WebWork {
    /// The SKU in the usage list.
    pub fn sku(self) -> &'static str {
        match self {
            WebWork::Scrape => "web-scrape",
            WebWork::Search => "web-search",
            WebWork::Parse => "text-parser",
            WebWork::XSearch => "x-search",
        }
    }
}

impl WebPrices {
    fn rate(&self, work: WebWork) -> UnitRate {
        UnitRate::at_par(match work {
            WebWork::Scrape => self.scrape,
            WebWork::Search => self.search,
            WebWork::Parse => self.parse,
            WebWork::XSearch => self.x_search,
        })
    }

    pub fn cost(&self, work: WebWork, times: u64) -> WorkCost {
        self.rate(work).cost(times)
    }

    pub fn charge_line(&self, work: WebWork, times: u64) -> ChargeLine {
        let (sku, rate) = (work.sku().to_owned(), self.rate(work));
        ChargeLine { sku, units: times, rate, per: PriceUnits::One }
    }
}
