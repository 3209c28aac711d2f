//! Builds web search and scraping from the configuration.

use std::path::PathBuf;
use std::sync::Arc;

use ::web::keeper::KeeperOrder;
use ::web::{
    BRAVE, Browser, BrowserSetup, Fetcher, KeeperProgram, PAGE_TIME_MAX, Reading, Scraper,
    SearchKind, Searcher, SystemNames, TAVILY, keeper,
};
use api::web::{Web, WebPrices};
use clap::Args;
use config::read::Config;
use config::sections::scrape::{Chromium, Scrape};
use config::sections::search::{Search, SearchService};
use domain::web_address::Reach;
use reader::Reader;
use reqwest::header::HeaderValue;
use url::Url;

use crate::failure::Failure;
use crate::reading;
use crate::surroundings::Surroundings;

/// The `User-Agent` header sent to websites.
const AGENT: &str = concat!("Mozilla/5.0 (compatible; Tollgate/", env!("CARGO_PKG_VERSION"), ")");
/// The subcommand that runs a browser.
const KEEPER: &str = "browser";
/// Executable names of supported browsers.
const BROWSERS: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// The web sections of the configuration.
#[derive(Debug, Clone)]
pub(crate) struct WebSections {
    search: Search,
    scrape: Scrape,
    browser: Option<PathBuf>,
}

impl WebSections {
    pub(crate) fn of(config: &Config, surroundings: &Surroundings) -> WebSections {
        let scrape = config.scrape.clone();
        let browser = match &scrape.chromium {
            Chromium::Off => None,
            Chromium::At(path) => Some(path.clone()),
            Chromium::Auto => find_browser(surroundings.environment.get("PATH")),
        };
        WebSections { search: config.search.clone(), scrape, browser }
    }

    pub(crate) fn open(&self, reader: Arc<dyn Reader>) -> Result<Arc<Web>, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::Failed(error.to_string());
        let tls = ::web::trusting_the_system().map_err(|error| failed(&error))?;
        let reach =
            if self.scrape.allow_private_addresses { Reach::Anywhere } else { Reach::Public };
        let names = Arc::new(SystemNames::default());
        let agent = HeaderValue::from_static(AGENT);
        let fetcher = Arc::new(Fetcher::new(names, reach, tls, agent));
        let reading = Reading::new(reader);
        let browser = self.browser.clone().map(|program| {
            let keeper = KeeperProgram { path: reading::program().path, command: KEEPER };
            let (sandbox, page_time) = (self.scrape.sandbox, PAGE_TIME_MAX);
            let setup = BrowserSetup { program, keeper, sandbox, page_time };
            Arc::new(Browser::new(setup))
        });
        let scraper = Scraper::new(fetcher, reading.clone(), browser, self.scrape.respect_robots);
        let prices = WebPrices {
            scrape: self.scrape.price,
            search: self.search.price,
            parse: self.scrape.document_price,
            x_search: self.search.x_price,
        };
        let searcher = searcher(&self.search.service).map_err(|error| failed(&error))?;
        Ok(Arc::new(Web { scraper, searcher, reading, prices }))
    }
}

/// The options of `tollgate browser`.
#[derive(Debug, Args)]
pub(crate) struct KeptBrowser {
    /// The full path of the browser.
    #[arg(long, value_name = "FILE")]
    program: PathBuf,
    /// Disables the browser's own sandbox.
    #[arg(long)]
    no_sandbox: bool,
}

/// Runs `tollgate browser`.
pub(crate) fn keep_browser(kept: KeptBrowser) -> Result<(), Failure> {
    let order = KeeperOrder { program: kept.program, has_sandbox: !kept.no_sandbox };
    keeper::run(&order).map_err(|error| Failure::Failed(error.to_string()))
}

fn find_browser(path: Option<&str>) -> Option<PathBuf> {
    let folders = path?.split(':').filter(|folder| folder.starts_with('/'));
    let programs = folders.flat_map(|folder| {
        let folder = PathBuf::from(folder);
        BROWSERS.map(|name| folder.join(name))
    });
    programs.into_iter().find(|program| program.is_file())
}

fn searcher(service: &SearchService) -> Result<Option<Searcher>, String> {
    let (kind, url, key) = match service {
        SearchService::Off => return Ok(None),
        SearchService::Searxng { url, api_key } => {
            (SearchKind::Searxng, url.as_str(), api_key.as_ref())
        }
        SearchService::Brave { url, api_key } => {
            (SearchKind::Brave, url.as_deref().unwrap_or(BRAVE), Some(api_key))
        }
        SearchService::Tavily { url, api_key } => {
            (SearchKind::Tavily, url.as_deref().unwrap_or(TAVILY), Some(api_key))
        }
    };
    let url = Url::parse(url).map_err(|error| format!("`url` in [search]: {error}"))?;
    let searcher = Searcher::new(kind, &url, key.map(|key| key.expose()));
    searcher.map(Some).map_err(|error| format!("[search]: {error}"))
}
