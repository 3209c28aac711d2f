//! Returns a page as Markdown: the site's own, else extracted from its HTML, else rendered by a
//! browser.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use domain::web_address::WebAddress;
use http::header::{CONTENT_TYPE, LINK};
use pages::ScriptNeed;
use sandbox::CallerId;
use tokio::time::{Instant, timeout};

use crate::browser::{BrowserError, PageRenderer};
use crate::fault::FetchFault;
use crate::fetch::{FetchRequest, FetchResponse, WebFetcher};
use crate::robots::RobotsCache;
use crate::text_extractor::TextExtractor;

/// Maximum size of one page, which is held in memory while it is parsed.
pub const PAGE_BYTES_MAX: usize = 10 * 1024 * 1024;
const PAGE_TIME_MAX: Duration = Duration::from_secs(15);
/// Time limit of a whole scrape, including the browser.
const SCRAPE_TIME_MAX: Duration = Duration::from_secs(45);
/// Maximum size of the Markdown that a caller receives.
const MARKDOWN_BYTES_MAX: usize = 2 * 1024 * 1024;
const NOTE_BYTES_MAX: usize = 64 * 1024;
const NOTE_TIME_MAX: Duration = Duration::from_secs(4);
const HOSTS_CACHE_LIFETIME: Duration = Duration::from_secs(60 * 60);
const HOSTS_KNOWN_MAX: usize = 2_048;
/// Prefers Markdown: many sites offer it, and it is better than text extracted from their HTML.
const ACCEPT: &str = "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.1";

/// Sites that block all programs: refused at once, without a request.
const BLOCKED: [(&str, &str); 4] = [
    ("x.com", "X (formerly Twitter) blocks automated access to their content."),
    ("twitter.com", "X (formerly Twitter) blocks automated access to their content."),
    ("t.co", "X (formerly Twitter) blocks automated access to their content."),
    ("reddit.com", "Reddit blocks automated access to their content."),
];
const BLOCKS: &str = "The site blocks automated access to its content.";
/// Texts of pages that ask for a human (CAPTCHA).
const CHALLENGES: [&str; 6] = [
    "<title>just a moment",
    "cf-challenge",
    "g-recaptcha",
    "h-captcha",
    "verify you are human",
    "enable javascript and cookies to continue",
];
const CHALLENGE_BYTES_MAX: usize = 64 * 1024;

/// Each displays as a sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScrapeFault {
    #[error("{0}")]
    Fetch(#[from] FetchFault),
    #[error("{0}")]
    Blocked(&'static str),
    #[error("The site's robots.txt does not allow programs to read this page.")]
    Robots,
    #[error("The page answered with status {0}.")]
    Status(u16),
    #[error("The content type {0} has no text.")]
    NoText(String),
    #[error("The page could not be read: {0}")]
    Unreadable(String),
    #[error("The page has no text.")]
    Empty,
    #[error("The page needs scripts, and this service has no browser to run them.")]
    NoBrowser,
    #[error("The page needs scripts, and the browser could not run them.")]
    BrowserFailed,
    #[error("The page's scripts exceeded the limits of time, memory or processes.")]
    TooMuch,
    #[error("Too many pages wait for the browser. Please try again shortly.")]
    Busy,
}

impl ScrapeFault {
    /// The message for the caller; the log has the details.
    fn of_browser(error: BrowserError) -> ScrapeFault {
        match error {
            BrowserError::NotStarted(_) | BrowserError::Refused(_) => ScrapeFault::BrowserFailed,
            BrowserError::Gone | BrowserError::TimedOut => ScrapeFault::TooMuch,
            BrowserError::Busy => ScrapeFault::Busy,
        }
    }

    /// True if another URL would help, not another attempt.
    pub fn is_of_address(&self) -> bool {
        match self {
            ScrapeFault::Fetch(fault) => fault.is_of_address(),
            ScrapeFault::Blocked(_) | ScrapeFault::Robots | ScrapeFault::NoText(_) => true,
            ScrapeFault::Status(_)
            | ScrapeFault::Unreadable(_)
            | ScrapeFault::Empty
            | ScrapeFault::NoBrowser
            | ScrapeFault::BrowserFailed
            | ScrapeFault::TooMuch
            | ScrapeFault::Busy => false,
        }
    }
}

/// The source of a page's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSource {
    /// The site's own Markdown or plain text.
    Native,
    Extracted,
    Document,
    Browser,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScrapedPage {
    pub title: String,
    pub markdown: String,
    pub way: PageSource,
}

pub struct PageScraper {
    pub fetcher: Arc<WebFetcher>,
    reading: TextExtractor,
    browser: Option<Arc<PageRenderer>>,
    robots: Option<RobotsCache>,
    /// Hosts with an `llms.txt`, which announces Markdown for models.
    writes_for_models: Mutex<HashMap<String, (Instant, bool)>>,
}

impl PageScraper {
    pub fn new(
        fetcher: Arc<WebFetcher>,
        reading: TextExtractor,
        browser: Option<Arc<PageRenderer>>,
        respects_robots: bool,
    ) -> PageScraper {
        PageScraper {
            fetcher,
            reading,
            browser,
            robots: respects_robots.then(RobotsCache::default),
            writes_for_models: Mutex::default(),
        }
    }

    /// Checks if a URL can be scraped, before anything is sent or paid.
    pub fn parse(&self, address: &str) -> Result<WebAddress, ScrapeFault> {
        let address = self.fetcher.parse(address)?;
        let host = address.host();
        let is_below = |site: &str| {
            host.strip_suffix(site).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        match BLOCKED.iter().find(|(site, _)| is_below(site)) {
            Some((_, reason)) => Err(ScrapeFault::Blocked(reason)),
            None => Ok(address),
        }
    }

    /// Scrapes a page under the caller's quotas.
    pub async fn scrape(
        &self,
        address: &WebAddress,
        caller: CallerId,
    ) -> Result<ScrapedPage, ScrapeFault> {
        let scraping = timeout(SCRAPE_TIME_MAX, self.scrape_any(address, caller));
        let mut scraped = scraping.await.map_err(|_| FetchFault::TimedOut)??;
        truncate_text(&mut scraped.markdown, MARKDOWN_BYTES_MAX);
        if scraped.markdown.trim().is_empty() {
            return Err(ScrapeFault::Empty);
        }
        Ok(scraped)
    }

    async fn scrape_any(
        &self,
        address: &WebAddress,
        caller: CallerId,
    ) -> Result<ScrapedPage, ScrapeFault> {
        if let Some(robots) = &self.robots
            && !robots.is_page_allowed(&self.fetcher, address, caller).await?
        {
            return Err(ScrapeFault::Robots);
        }
        let ask = FetchRequest::get(caller, ACCEPT, PAGE_BYTES_MAX, PAGE_TIME_MAX);
        let fetched = self.fetcher.fetch(address, &ask).await?;
        refuse_if_blocked(&fetched)?;
        if !fetched.is_success() {
            return Err(ScrapeFault::Status(fetched.status));
        }
        if let Some(text) = native_text(&fetched) {
            return Ok(ScrapedPage {
                title: String::new(),
                markdown: text,
                way: PageSource::Native,
            });
        }
        let media_type = fetched.media_type();
        let is_page = matches!(media_type.as_str(), "text/html" | "application/xhtml+xml")
            || ((media_type.is_empty() || media_type.starts_with("text/"))
                && looks_like_markup(&fetched.body));
        if is_page {
            return self.read_page(fetched, caller).await;
        }
        if ["image/", "audio/", "video/", "font/"].iter().any(|kind| media_type.starts_with(kind)) {
            return Err(ScrapeFault::NoText(media_type));
        }
        let read = self.reading.read_document(caller, fetched.body).await;
        let markdown = read.map_err(ScrapeFault::Unreadable)?;
        Ok(ScrapedPage { title: String::new(), markdown, way: PageSource::Document })
    }

    async fn read_page(
        &self,
        fetched: FetchResponse,
        caller: CallerId,
    ) -> Result<ScrapedPage, ScrapeFault> {
        let content_type = fetched.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let content_type = content_type.map(str::to_owned);
        let place = fetched.address.to_string();
        let read = self.reading.read_page(caller, fetched.body.clone(), content_type, place).await;
        let page = read.map_err(ScrapeFault::Unreadable)?;
        let told = link_header(&fetched).or(page.alternate.clone());
        let native = self.find_markdown_version(&fetched.address, told.as_deref(), caller).await;
        if let Some(markdown) = native {
            return Ok(ScrapedPage { title: page.title, markdown, way: PageSource::Native });
        }
        if page.script_need != ScriptNeed::None {
            match self.render_page(&fetched.address, caller).await {
                Ok(built) if page.markdown.len() < built.markdown.len() => return Ok(built),
                Ok(_) => {}
                // Where no browser works, a page is given if it is complete without one.
                Err(ScrapeFault::NoBrowser | ScrapeFault::BrowserFailed)
                    if page.script_need == ScriptNeed::Possible => {}
                Err(fault) => return Err(fault),
            }
        }
        if page.is_bare {
            return Err(ScrapeFault::Empty);
        }
        Ok(ScrapedPage { title: page.title, markdown: page.markdown, way: PageSource::Extracted })
    }

    /// Renders the page with a browser. A page that scripts certainly build is not read without them
    /// instead: its text would not be what the caller paid for.
    async fn render_page(
        &self,
        address: &WebAddress,
        caller: CallerId,
    ) -> Result<ScrapedPage, ScrapeFault> {
        let browser = self.browser.as_ref().ok_or(ScrapeFault::NoBrowser)?;
        let built =
            browser.render_page(&self.fetcher, address, caller).await.inspect_err(|error| {
                tracing::warn!(%error, "a page was not rendered: {error}");
            });
        let html = built.map_err(ScrapeFault::of_browser)?;
        let utf8 = Some("text/html; charset=utf-8".to_owned());
        let read =
            self.reading.read_page(caller, Bytes::from(html), utf8, address.to_string()).await;
        let page = read.map_err(ScrapeFault::Unreadable)?;
        Ok(ScrapedPage { title: page.title, markdown: page.markdown, way: PageSource::Browser })
    }

    /// Fetches the Markdown version that the page links to, or a sibling file on hosts with an
    /// `llms.txt`.
    async fn find_markdown_version(
        &self,
        page: &WebAddress,
        told: Option<&str>,
        caller: CallerId,
    ) -> Option<String> {
        if let Some(told) = told
            && let Ok(address) = page.join(told, self.fetcher.address_scope())
            && let Some(text) = self.fetch_markdown(&address, caller).await
        {
            return Some(text);
        }
        if !self.has_llms_txt(page, caller).await {
            return None;
        }
        let path = page.url().path();
        let beside =
            if path.ends_with('/') { format!("{path}index.md") } else { format!("{path}.md") };
        let address = page.join(&beside, self.fetcher.address_scope()).ok()?;
        self.fetch_markdown(&address, caller).await
    }

    async fn fetch_markdown(&self, address: &WebAddress, caller: CallerId) -> Option<String> {
        let accept = "text/markdown, text/plain;q=0.9";
        let ask = FetchRequest::get(caller, accept, PAGE_BYTES_MAX, NOTE_TIME_MAX);
        let fetched = self.fetcher.fetch(address, &ask).await.ok()?;
        fetched.is_success().then(|| native_text(&fetched)).flatten()
    }

    async fn has_llms_txt(&self, page: &WebAddress, caller: CallerId) -> bool {
        let host = page.url().origin().ascii_serialization();
        let now = Instant::now();
        if let Some((until, does)) = self.lock_hosts().get(&host)
            && now < *until
        {
            return *does;
        }
        let Ok(address) = page.join("/llms.txt", self.fetcher.address_scope()) else {
            return false;
        };
        let ask = FetchRequest::get(caller, "text/plain", NOTE_BYTES_MAX, NOTE_TIME_MAX);
        let fetched = self.fetcher.fetch(&address, &ask).await;
        if matches!(fetched, Err(FetchFault::Busy)) {
            // Says nothing about the host, so it is not cached.
            return false;
        }
        let does = fetched.is_ok_and(|fetched| {
            fetched.is_success() && !looks_like_markup(&fetched.body) && !fetched.body.is_empty()
        });
        let mut hosts = self.lock_hosts();
        if HOSTS_KNOWN_MAX <= hosts.len() {
            hosts.retain(|_, (until, _)| now < *until);
        }
        if hosts.len() < HOSTS_KNOWN_MAX {
            hosts.insert(host, (now + HOSTS_CACHE_LIFETIME, does));
        }
        does
    }

    fn lock_hosts(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Instant, bool)>> {
        self.writes_for_models.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a Markdown or plain-text response. HTML with another media type is neither.
fn native_text(fetched: &FetchResponse) -> Option<String> {
    let media_type = fetched.media_type();
    let is_text = matches!(
        media_type.as_str(),
        "text/markdown" | "text/x-markdown" | "text/plain" | "application/markdown"
    );
    if !is_text || looks_like_markup(&fetched.body) {
        return None;
    }
    let content_type = fetched.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let text = pages::decode_html(&fetched.body, content_type);
    (!text.trim().is_empty()).then_some(text)
}

fn looks_like_markup(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'<')
}

/// A `Link` header that names the page's Markdown version.
fn link_header(fetched: &FetchResponse) -> Option<String> {
    let values = fetched.headers.get_all(LINK).iter().filter_map(|it| it.to_str().ok());
    let links = values.flat_map(|value| value.split(','));
    links.filter(|link| link.contains("alternate") && link.contains("text/markdown")).find_map(
        |link| {
            let (_, rest) = link.split_once('<')?;
            rest.split_once('>').map(|(target, _)| target.to_owned())
        },
    )
}

fn refuse_if_blocked(fetched: &FetchResponse) -> Result<(), ScrapeFault> {
    let is_mitigated = fetched.headers.get("cf-mitigated").is_some_and(|it| it == "challenge");
    let is_closed = matches!(fetched.status, 401 | 403 | 429 | 451);
    let asks_for_a_person = || {
        let head = &fetched.body[..fetched.body.len().min(CHALLENGE_BYTES_MAX)];
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        CHALLENGES.iter().any(|mark| head.contains(mark))
    };
    if is_mitigated || is_closed || (fetched.status == 503 && asks_for_a_person()) {
        return Err(ScrapeFault::Blocked(BLOCKS));
    }
    Ok(())
}

/// Truncates a text at a character boundary.
fn truncate_text(text: &mut String, bytes_max: usize) {
    if bytes_max < text.len() {
        let end = (0..=bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
}
