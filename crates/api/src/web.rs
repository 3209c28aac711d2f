//! What looks at the web for callers, and what that costs.

use ::web::{Reading, Scraper, Searcher};
use ledger::ChargeLine;
use money::{Cost, Per, Price, Rate};

pub struct Web {
    pub scraper: Scraper,
    /// Nothing where the operator has set up no search.
    pub searcher: Option<Searcher>,
    /// Reads what callers send as files.
    pub reading: Reading,
    pub prices: WebPrices,
}

/// Of one request each.
#[derive(Debug, Clone, Copy)]
pub struct WebPrices {
    pub scrape: Price,
    pub search: Price,
    /// The text of a document.
    pub parse: Price,
    /// A search of X by the provider of a model.
    pub x_search: Price,
}

/// What is charged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebWork {
    Scrape,
    Search,
    Parse,
    XSearch,
}

impl WebWork {
    /// As it stands in the list of usage.
    pub(crate) fn sku(self) -> &'static str {
        match self {
            WebWork::Scrape => "web-scrape",
            WebWork::Search => "web-search",
            WebWork::Parse => "text-parser",
            WebWork::XSearch => "x-search",
        }
    }
}

impl WebPrices {
    fn rate(&self, work: WebWork) -> Rate {
        Rate::at_par(match work {
            WebWork::Scrape => self.scrape,
            WebWork::Search => self.search,
            WebWork::Parse => self.parse,
            WebWork::XSearch => self.x_search,
        })
    }

    pub(crate) fn cost(&self, work: WebWork, times: u64) -> Cost {
        self.rate(work).cost(times)
    }

    pub(crate) fn line(&self, work: WebWork, times: u64) -> ChargeLine {
        let (sku, rate) = (work.sku().to_owned(), self.rate(work));
        ChargeLine { sku, units: times, rate, per: Per::One }
    }
}
