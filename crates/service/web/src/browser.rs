//! Renders pages that need scripts, in a browser without network access.
//!
//! Every request of a page is intercepted in the browser, fetched by the guarded [`WebFetcher`], and
//! its response is handed back. Everything else, such as a WebSocket or a DNS prefetch, is sent to
//! a proxy that does not exist. Each page has its own browser context, which is discarded with it,
//! and no other page uses the browser meanwhile. A browser whose page failed, or whose caller
//! disconnected, is killed with all its processes ([`keeper`]).

mod devtools;
pub mod keeper;
mod process;
mod tab;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::web_address::WebAddress;
use sandbox::CallerId;
use sandbox::fair_queue::{FairQueue, TaskPermit};
use serde_json::json;
use tokio::time::{Instant, timeout};
use tokio_util::task::TaskTracker;

pub use self::process::KeeperProgram;
use self::process::RunningBrowser;
use self::tab::RequestedPage;
use crate::fetch::WebFetcher;

/// Pages rendered at the same time. One caller can use all but one of them. Each page takes
/// hundreds of megabytes and a core.
const PAGES_AT_ONCE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);
/// Maximum wait of a page for its turn. A later one would not end within the time of its request, and
/// is refused with 503.
const TURN_TIME_MAX: Duration = Duration::from_secs(20);
/// Time limit of one page, from its first request to the finished HTML.
pub const PAGE_TIME_MAX: Duration = Duration::from_secs(15);
/// Extra time after which the supervisor ends the browser, even if the page's task is stuck.
const SUPERVISOR_DELAY: Duration = Duration::from_secs(3);
/// A browser that was idle for this long is ended.
const IDLE_TIME_MAX: Duration = Duration::from_secs(120);
/// Idle browsers that are kept for the next page.
const IDLE_MAX: usize = 1;
/// Pages after which a browser is restarted, to limit its memory leaks.
const PAGES_EACH: usize = 200;

/// The reason why a page was not rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrowserError {
    #[error("the browser could not be started: {0}")]
    NotStarted(String),
    #[error("the browser exited unexpectedly")]
    Gone,
    #[error("the browser refused {0}")]
    Refused(String),
    #[error("the page took too long in the browser")]
    TimedOut,
    #[error("too many pages wait for the browser")]
    Busy,
}

/// Settings for starting browsers.
#[derive(Debug, Clone)]
pub struct BrowserSetup {
    pub program: PathBuf,
    pub keeper: KeeperProgram,
    /// The browser's own sandbox. Turn it off only if something else confines the browser.
    pub sandbox: bool,
    /// Time limit of one page.
    pub page_time: Duration,
}

pub struct PageRenderer {
    setup: BrowserSetup,
    /// Tasks that supervise running browsers. They are not awaited: keepers end by themselves with
    /// the service.
    tasks: TaskTracker,
    turns: FairQueue,
    /// Locked only for a push or a pop, never across an await.
    idle: Mutex<Vec<RunningBrowser>>,
}

impl PageRenderer {
    /// Starts no browser before the first page needs one.
    pub fn new(setup: BrowserSetup) -> PageRenderer {
        let (tasks, turns) = (TaskTracker::new(), FairQueue::new(PAGES_AT_ONCE));
        PageRenderer { setup, tasks, turns, idle: Mutex::default() }
    }

    /// Returns the HTML of a page once its scripts are idle.
    pub(crate) async fn render_page(
        &self,
        fetcher: &WebFetcher,
        address: &WebAddress,
        caller: CallerId,
    ) -> Result<String, BrowserError> {
        let _turn = self.take_turn(caller).await?;
        let mut running = self.take_browser().await?;
        let time_max = self.setup.page_time;
        running.wire.set_deadline(Instant::now() + time_max + SUPERVISOR_DELAY);
        let wire = &running.wire;
        let building = timeout(time_max, async {
            let context = json!({"disposeOnDetach": true});
            let context = wire.call(None, "Target.createBrowserContext", context).await?;
            let context = context["browserContextId"].as_str().unwrap_or_default().to_owned();
            let deny = json!({"behavior": "deny", "browserContextId": context});
            wire.call(None, "Browser.setDownloadBehavior", deny).await?;
            let page = RequestedPage { address, caller };
            let html = tab::render_in_tab(wire, &context, time_max, fetcher, page).await?;
            Ok((html, context))
        });
        // On an error the browser is dropped here, which ends it.
        let (html, context) = building.await.unwrap_or(Err(BrowserError::TimedOut))?;
        let away = json!({"browserContextId": context});
        let disposing = wire.call(None, "Target.disposeBrowserContext", away);
        if let Ok(Ok(_)) = timeout(SUPERVISOR_DELAY, disposing).await {
            running.pages += 1;
            self.return_browser(running);
        }
        Ok(html)
    }

    async fn take_turn(&self, caller: CallerId) -> Result<TaskPermit, BrowserError> {
        match timeout(TURN_TIME_MAX, self.turns.take(caller)).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(BrowserError::Busy),
        }
    }

    async fn take_browser(&self) -> Result<RunningBrowser, BrowserError> {
        while let Some(running) = self.lock_idle().pop() {
            if running.wire.is_open() {
                return Ok(running);
            }
        }
        RunningBrowser::start(&self.setup, &self.tasks).await
    }

    /// Keeps the browser for the next page.
    fn return_browser(&self, running: RunningBrowser) {
        let mut idle = self.lock_idle();
        if idle.len() < IDLE_MAX && running.pages < PAGES_EACH {
            running.wire.set_deadline(Instant::now() + IDLE_TIME_MAX);
            idle.push(running);
        }
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<RunningBrowser>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_page_that_waits_too_long_for_its_turn_is_told_to_come_again() {
        let keeper = KeeperProgram { path: "/bin/false".into(), command: "browser" };
        let browser = PageRenderer::new(BrowserSetup {
            program: "/bin/false".into(),
            keeper,
            sandbox: true,
            page_time: PAGE_TIME_MAX,
        });
        let first = browser.take_turn(CallerId(1)).await.unwrap();
        let _second = browser.take_turn(CallerId(2)).await.unwrap();
        let begun = Instant::now();
        assert_eq!(browser.take_turn(CallerId(3)).await.unwrap_err(), BrowserError::Busy);
        assert_eq!(begun.elapsed(), TURN_TIME_MAX);
        let soon = async {
            tokio::time::sleep(PAGE_TIME_MAX).await;
            drop(first);
        };
        let (turn, ()) = tokio::join!(browser.take_turn(CallerId(3)), soon);
        turn.unwrap();
    }
}
