//! Builds web search and scraping from the configuration.

use std::path::PathBuf;
use std::sync::Arc;

use ::web::keeper::KeeperOptions;
use ::web::{
    BRAVE, BrowserSetup, KeeperProgram, PAGE_TIME_MAX, PageRenderer, PageScraper, SearchKind,
    SystemResolver, TAVILY, TextExtractor, WebFetcher, WebSearcher, keeper,
};
use clap::Args;
use config::read::ServiceConfig;
use config::sections::scrape::{ChromiumSetting, ScrapeConfig};
use config::sections::search::{SearchConfig, SearchService};
use domain::web_address::AddressScope;
use http::HeaderValue;
use http_frame::web::{WebAccess, WebPrices};
use sandbox::InputReader;
use url::Url;

use crate::command_environment::CommandEnvironment;
use crate::failure::CommandError;
use crate::reader_process;

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
    search: SearchConfig,
    scrape: ScrapeConfig,
    browser: Option<PathBuf>,
}

impl WebSections {
    pub(crate) fn from_config(
        config: &ServiceConfig,
        surroundings: &CommandEnvironment,
    ) -> WebSections {
        let scrape = config.scrape.clone();
        let browser = match &scrape.chromium {
            ChromiumSetting::Off => None,
            ChromiumSetting::At(path) => Some(path.clone()),
            ChromiumSetting::Auto => find_browser(surroundings.environment.get("PATH")),
        };
        WebSections { search: config.search.clone(), scrape, browser }
    }

    pub(crate) fn open(
        &self,
        reader: Arc<dyn InputReader>,
    ) -> Result<Arc<WebAccess>, CommandError> {
        let failed = |error: &dyn std::fmt::Display| CommandError::Failed(error.to_string());
        let tls = ::web::system_tls_config().map_err(|error| failed(&error))?;
        let reach = if self.scrape.allow_private_addresses {
            AddressScope::Anywhere
        } else {
            AddressScope::Public
        };
        let names = Arc::new(SystemResolver::default());
        let agent = HeaderValue::from_static(AGENT);
        let fetcher = Arc::new(WebFetcher::new(names, reach, tls, agent));
        let reading = TextExtractor::new(reader);
        let browser = self.browser.clone().map(|program| {
            let keeper = KeeperProgram {
                path: reader_process::build_reader_program().path,
                command: KEEPER,
            };
            let (sandbox, page_time) = (self.scrape.sandbox, PAGE_TIME_MAX);
            let setup = BrowserSetup { program, keeper, sandbox, page_time };
            Arc::new(PageRenderer::new(setup))
        });
        let scraper =
            PageScraper::new(fetcher, reading.clone(), browser, self.scrape.respect_robots);
        let prices = WebPrices {
            scrape: self.scrape.price,
            search: self.search.price,
            parse: self.scrape.document_price,
            x_search: self.search.x_price,
        };
        let searcher = build_searcher(&self.search.service).map_err(|error| failed(&error))?;
        Ok(Arc::new(WebAccess { scraper, searcher, reading, prices }))
    }
}

/// The options of `tollgate browser`.
#[derive(Debug, Args)]
pub(crate) struct BrowserArgs {
    /// The full path of the browser.
    #[arg(long, value_name = "FILE")]
    program: PathBuf,
    /// Disables the browser's own sandbox.
    #[arg(long)]
    no_sandbox: bool,
}

/// Runs `tollgate browser`.
pub(crate) fn run_browser(kept: BrowserArgs) -> Result<(), CommandError> {
    let order = KeeperOptions { program: kept.program, has_sandbox: !kept.no_sandbox };
    keeper::run_keeper(&order).map_err(|error| CommandError::Failed(error.to_string()))
}

fn find_browser(path: Option<&str>) -> Option<PathBuf> {
    let folders = path?.split(':').filter(|folder| folder.starts_with('/'));
    let programs = folders.flat_map(|folder| {
        let folder = PathBuf::from(folder);
        BROWSERS.map(|name| folder.join(name))
    });
    programs.into_iter().find(|program| program.is_file())
}

fn build_searcher(service: &SearchService) -> Result<Option<WebSearcher>, String> {
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
    let searcher = WebSearcher::new(kind, &url, key.map(|key| key.expose()));
    searcher.map(Some).map_err(|error| format!("[search]: {error}"))
}
