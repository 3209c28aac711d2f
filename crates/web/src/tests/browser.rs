//! Pages in a real browser, where there is one.

use std::path::PathBuf;
use std::sync::Arc;

use reader::{CallerId, HereReader};
use tokio_util::task::TaskTracker;

use super::site::{Site, fetcher, page};
use crate::{Browser, BrowserSetup, PageSource, Reading, Scraper};

/// As Debian and others install it. A machine without one does without these tests; the tests of
/// the whole service install it.
const PROGRAMS: [&str; 3] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const SHELL: &str = "<html><head><title>App</title><script src=/app.js></script></head>\
                     <body><div id=root></div></body></html>";
/// Builds the page from what it can get, and tries to get what it must not.
const SCRIPT: &str = "\
    const get = async (url) => { try { return await (await fetch(url)).text() } catch (e) { return 'blocked' } };\
    addEventListener('DOMContentLoaded', async () => {\
        const told = await get('/data.json');\
        const metadata = await get('http://169.254.169.254/latest/meta-data/');\
        const renamed = await get('http://inward.example.com/');\
        const redirected = await get('/redirect');\
        const loopback = await get('http://127.0.0.1:9/');\
        let socket = 'blocked';\
        try { await new Promise((yes, no) => { const it = new WebSocket('ws://public.example.com/');\
            it.onopen = yes; it.onerror = no; }); socket = 'open' } catch (e) {}\
        document.getElementById('root').innerHTML = '<h1>Built</h1><p>Told: ' + told + '</p><p>'\
            + [metadata, renamed, redirected, loopback, socket].join(' ') + '</p>';\
    });";

fn answer(path: &str) -> Vec<u8> {
    match path {
        "/" => page("text/html", SHELL),
        "/app.js" => page("text/javascript", SCRIPT),
        "/data.json" => page("application/json", "the ferry leaves at seven"),
        "/redirect" => {
            b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/secret\r\ncontent-length: 0\r\n\r\n"
                .to_vec()
        }
        "/old" => b"HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n".to_vec(),
        "/secret" | "/latest/meta-data/" => page("text/plain", "SECRET"),
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
    }
}

fn scraper(site: &Site) -> Option<Scraper> {
    let program = PROGRAMS.iter().map(PathBuf::from).find(|it| it.exists())?;
    let setup = BrowserSetup { program, sandbox: false };
    let browser = Arc::new(Browser::new(setup, TaskTracker::new()));
    let reading = Reading::new(Arc::<HereReader>::default());
    Some(Scraper::new(Arc::new(fetcher(site)), reading, Some(browser), true))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_scripts_build_is_built_and_reaches_nothing_inward() {
    let site = Site::start(answer).await;
    let Some(scraper) = scraper(&site) else { return };
    let address = scraper.parse("http://public.example.com/").unwrap();
    let scraped = scraper.scrape(&address, CallerId(1)).await.unwrap();
    assert_eq!(scraped.way, PageSource::Browser, "{scraped:?}");
    assert!(scraped.markdown.contains("Told: the ferry leaves at seven"), "{scraped:?}");
    assert!(scraped.markdown.contains("blocked blocked blocked blocked blocked"), "{scraped:?}");
    assert!(!scraped.markdown.contains("SECRET"));
    let heads = site.seen();
    assert!(!heads.iter().any(|head| head.contains("/secret") || head.contains("meta-data")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browser_follows_what_the_fetch_would() {
    let site = Site::start(answer).await;
    let Some(scraper) = scraper(&site) else { return };
    let address = scraper.parse("http://public.example.com/old").unwrap();
    let scraped = scraper.scrape(&address, CallerId(1)).await.unwrap();
    assert!(scraped.markdown.contains("the ferry leaves at seven"), "{scraped:?}");
}
