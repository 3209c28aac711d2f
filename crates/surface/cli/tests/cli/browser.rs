//! Tests with a real browser, if one is installed: network access, resource limits and cleanup.

mod process_tree;
mod site;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join;
use sandbox::{CallerId, ChildCommand, InProcessReader, ProcessReader};
use web::{
    BrowserSetup, KeeperProgram, PAGE_TIME_MAX, PageRenderer, PageScraper, PageSource, ScrapeFault,
    ScrapedPage, TextExtractor,
};

use self::process_tree::ProcessTree;
use self::site::TestSite;

/// The paths in Debian and other distributions. On a machine without a browser these tests are
/// skipped; the end-to-end tests install one.
const PROGRAMS: [&str; 3] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const ANN: CallerId = CallerId(1);
const BOB: CallerId = CallerId(2);
/// Far longer than any operation takes; reached only if something hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// The memory limit of a page, plus what it may allocate between two checks.
const MEMORY_BYTES_MAX: u64 = (1280 + 700) * 1024 * 1024;
const PROCESSES_MAX: usize = 26;

const SHELL: &str = "<html><head><title>App</title><script src=/app.js></script></head>\
                     <body><div id=root></div></body></html>";
/// Builds the page from allowed requests, and attempts forbidden ones.
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

/// A page that is complete without its script, which counts visitors.
const COUNTED: &str = "<html><head><title>Café</title><script async src=/counter.js></script></head>\
                       <body><h1>Café</h1><p>Open from nine to five.</p></body></html>";

/// Returns a page with an inline script.
fn scripted(script: &str) -> Vec<u8> {
    let shell = "<html><head><title>App</title></head><body><div id=root></div>";
    site::page("text/html", &format!("{shell}<script>{script}</script></body></html>"))
}

const SHOW: &str =
    "document.getElementById('root').innerHTML = '<p>the ferry leaves at seven</p>';";

fn answer(path: &str) -> Vec<u8> {
    match path {
        "/" => site::page("text/html", SHELL),
        "/app.js" => site::page("text/javascript", SCRIPT),
        "/data.json" => site::page("application/json", "the ferry leaves at seven"),
        "/redirect" => {
            b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/secret\r\ncontent-length: 0\r\n\r\n"
                .to_vec()
        }
        "/old" => b"HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n".to_vec(),
        "/secret" | "/latest/meta-data/" => site::page("text/plain", "SECRET"),
        "/plain" => scripted(SHOW),
        "/counted" => site::page("text/html", COUNTED),
        "/loop" => scripted("for (;;) {}"),
        "/memory" => scripted(
            "const kept = []; for (let i = 0; i < 80; i++) { \
             const it = new Uint8Array(50 << 20); it.fill(1); kept.push(it); }",
        ),
        "/processes" => scripted(&format!(
            "for (let i = 0; i < 60; i++) {{ \
             open('http://public.example.com/plain?' + i); \
             const link = document.createElement('a'); link.target = '_blank'; \
             link.href = 'http://public.example.com/plain?l' + i; \
             document.body.append(link); link.click(); \
             const frame = document.createElement('iframe'); \
             frame.src = 'http://site' + i + '.example.com/plain'; \
             document.body.append(frame); }} {SHOW}"
        )),
        "/post" => scripted(&format!(
            "fetch('/data.json', {{method: 'POST', body: 'a'.repeat(60e6)}}); {SHOW}"
        )),
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
    }
}

/// Returns None if no browser is installed. The page timeout is long enough for a busy machine.
fn scraper(site: &TestSite) -> Option<PageScraper> {
    scraper_with(site, Duration::from_secs(40))
}

fn scraper_with(site: &TestSite, page_time: Duration) -> Option<PageScraper> {
    let program = PROGRAMS.iter().map(PathBuf::from).find(|it| it.exists())?;
    let path = env!("CARGO_BIN_EXE_gateway").into();
    let keeper = KeeperProgram { path, command: "browser" };
    let setup = BrowserSetup { program, keeper, sandbox: true, page_time };
    let browser = Arc::new(PageRenderer::new(setup));
    let reading = TextExtractor::new(Arc::<InProcessReader>::default());
    Some(PageScraper::new(Arc::new(site::fetcher(site)), reading, Some(browser), true))
}

async fn scrape(
    scraper: &PageScraper,
    path: &str,
    caller: CallerId,
) -> Result<ScrapedPage, ScrapeFault> {
    let address = scraper.parse(&format!("http://public.example.com{path}")).unwrap();
    scraper.scrape(&address, caller).await
}

/// Waits until the processes below this one satisfy a condition.
async fn until(what: &str, is_so: impl Fn(&ProcessTree) -> bool) {
    let started = Instant::now();
    loop {
        let tree = ProcessTree::look();
        if is_so(&tree) {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{what}: {tree:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The peak resource use while a page was built.
#[derive(Debug, Default)]
struct PeakUsage {
    memory_bytes: u64,
    processes: usize,
}

/// Measures all processes while `work` runs.
async fn watch<T>(work: impl Future<Output = T>) -> (T, PeakUsage) {
    let mut peak = PeakUsage::default();
    let mut work = Box::pin(work);
    loop {
        let tree = ProcessTree::look();
        peak.memory_bytes = peak.memory_bytes.max(tree.memory_bytes());
        peak.processes = peak.processes.max(tree.running().count());
        if let Ok(done) = tokio::time::timeout(Duration::from_millis(20), &mut work).await {
            return (done, peak);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_scripts_build_is_built_and_reaches_nothing_inward() {
    let site = TestSite::start(answer).await;
    let Some(scraper) = scraper(&site) else { return };
    let scraped = scrape(&scraper, "/", ANN).await.unwrap();
    assert_eq!(scraped.way, PageSource::Browser, "{scraped:?}");
    assert!(scraped.markdown.contains("Told: the ferry leaves at seven"), "{scraped:?}");
    assert!(scraped.markdown.contains("blocked blocked blocked blocked blocked"), "{scraped:?}");
    assert!(!scraped.markdown.contains("SECRET"));
    let heads = site.seen();
    assert!(!heads.iter().any(|head| head.contains("/secret") || head.contains("meta-data")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browser_follows_what_the_fetch_would() {
    let site = TestSite::start(answer).await;
    let Some(scraper) = scraper(&site) else { return };
    let scraped = scrape(&scraper, "/old", ANN).await.unwrap();
    assert!(scraped.markdown.contains("the ferry leaves at seven"), "{scraped:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_has_no_rights_and_listens_nowhere() {
    let site = TestSite::start(answer).await;
    let Some(scraper) = scraper(&site) else { return };
    scrape(&scraper, "/plain", ANN).await.unwrap();
    let tree = ProcessTree::look();
    assert!(3 < tree.running().count(), "{tree:?}");
    assert_eq!(tree.listening_sockets(), 0);
    for process in tree.running() {
        assert_ne!(process.user, 0, "{process:?}");
        // The sandbox has capabilities inside its own user namespace, which have no effect outside.
        assert!(process.capabilities == 0 || process.is_in_own_users(), "{process:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_caller_goes_away_ends_with_all_its_processes() {
    let site = TestSite::start(answer).await;
    let Some(scraper) = scraper(&site) else { return };
    let mut asked = Box::pin(scrape(&scraper, "/loop", ANN));
    let is_computing = |tree: &ProcessTree| tree.running().any(|it| it.is_renderer);
    while !is_computing(&ProcessTree::look()) {
        let _ = tokio::time::timeout(Duration::from_millis(20), &mut asked).await;
    }
    drop(asked);
    until("nothing is left, and everything was waited for", ProcessTree::is_empty).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_computes_for_ever_is_an_error_and_ends() {
    let site = TestSite::start(answer).await;
    let Some(scraper) = scraper_with(&site, PAGE_TIME_MAX) else { return };
    assert_eq!(scrape(&scraper, "/loop", ANN).await, Err(ScrapeFault::TooMuch));
    until("nothing computes", ProcessTree::is_empty).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_takes_too_much_memory_is_ended_and_others_are_not() {
    let site = TestSite::start(answer).await;
    let Some(scraper) = scraper(&site) else { return };
    let greedy = scrape(&scraper, "/memory", ANN);
    let modest = scrape(&scraper, "/plain", BOB);
    let ((greedy, modest), peak) = watch(join(greedy, modest)).await;
    println!("a page that takes 4 GB: {peak:?}");
    assert_eq!(greedy, Err(ScrapeFault::TooMuch));
    assert!(modest.unwrap().markdown.contains("at seven"));
    assert!(1000 << 20 < peak.memory_bytes, "it was its memory that ended it: {peak:?}");
    // Includes the browser of the modest page.
    assert!(peak.memory_bytes < MEMORY_BYTES_MAX + 500 * 1024 * 1024, "{peak:?}");
    until("only the modest page's browser is left", |tree| tree.memory_bytes() < 500 << 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn popups_and_frames_get_no_processes() {
    let site = TestSite::start(answer).await;
    let Some(scraper) = scraper(&site) else { return };
    let (_, peak) = watch(scrape(&scraper, "/processes", ANN)).await;
    println!("a page with 120 popups and 60 frames: {peak:?}");
    assert!(peak.processes <= PROCESSES_MAX, "{peak:?}");
    assert!(peak.memory_bytes < MEMORY_BYTES_MAX, "{peak:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_posts_much_leaves_its_browser_alive() {
    let site = TestSite::start(answer).await;
    let Some(scraper) = scraper(&site) else { return };
    scrape(&scraper, "/plain", ANN).await.unwrap();
    let before = ProcessTree::look().browsers();
    assert_eq!(before.len(), 1, "{before:?}");
    let (scraped, peak) = watch(scrape(&scraper, "/post", ANN)).await;
    println!("a page that posts 60 MB: {peak:?}");
    assert!(scraped.unwrap().markdown.contains("at seven"));
    assert!(scrape(&scraper, "/plain", BOB).await.unwrap().markdown.contains("at seven"));
    let after = ProcessTree::look();
    assert_eq!(after.browsers(), before, "the same browser builds the next page");
    // Chromium reaps its own processes a moment after they have ended.
    until("zombies are left", |tree| tree.zombies().count() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_caller_never_has_all_browsers() {
    let site = TestSite::start(answer).await;
    let Some(scraper) = scraper(&site) else { return };
    let mut slow = Box::pin(join(scrape(&scraper, "/loop", ANN), scrape(&scraper, "/loop", ANN)));
    // When one of Ann's pages is running, both have been requested.
    while !ProcessTree::look().running().any(|it| it.is_renderer) {
        let _ = tokio::time::timeout(Duration::from_millis(20), &mut slow).await;
    }
    let bob = Box::pin(scrape(&scraper, "/plain", BOB));
    match futures_util::future::select(slow, bob).await {
        futures_util::future::Either::Right((scraped, _)) => {
            assert!(scraped.unwrap().markdown.contains("at seven"));
        }
        futures_util::future::Either::Left(_) => panic!("Bob waited for both pages of Ann"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_needs_a_browser_is_an_error_without_one_and_a_short_page_is_not() {
    let site = TestSite::start(answer).await;
    let fetcher = Arc::new(site::fetcher(&site));
    let path = env!("CARGO_BIN_EXE_gateway").into();
    let program = ChildCommand { path, arguments: vec!["reader".into()] };
    let reading = TextExtractor::new(Arc::new(ProcessReader::new(program, NonZeroUsize::MIN)));
    let scraper = PageScraper::new(Arc::clone(&fetcher), reading.clone(), None, true);
    assert_eq!(scrape(&scraper, "/plain", ANN).await, Err(ScrapeFault::NoBrowser));
    let is_read = |it: ScrapedPage| it.way == PageSource::Extracted && it.markdown.contains("nine");
    assert!(is_read(scrape(&scraper, "/counted", ANN).await.unwrap()));
    // A browser that cannot be started gives an error too.
    let keeper = KeeperProgram { path: env!("CARGO_BIN_EXE_gateway").into(), command: "browser" };
    let program = "/bin/false".into();
    let setup = BrowserSetup { program, keeper, sandbox: true, page_time: PAGE_TIME_MAX };
    let scraper =
        PageScraper::new(fetcher, reading, Some(Arc::new(PageRenderer::new(setup))), true);
    assert_eq!(scrape(&scraper, "/plain", ANN).await, Err(ScrapeFault::BrowserFailed));
    assert!(is_read(scrape(&scraper, "/counted", ANN).await.unwrap()));
}
