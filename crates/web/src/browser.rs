//! Pages that scripts build, in a browser that has no network of its own.
//!
//! Every request of a page is stopped before it leaves the browser, fetched by the guarded
//! [`Fetcher`], and handed back. What would go past that, such as a socket or a name that is looked
//! up ahead, ends at a proxy that does not exist. Each page has a browser to itself while it is
//! built, in a context of its own, which is thrown away with it. A browser whose page did not end
//! well, or whose caller went away, is ended with all its processes ([`keeper`]).

pub mod keeper;
mod process;
mod tab;
mod wire;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::web_address::WebAddress;
use reader::CallerId;
use reader::turns::{TaskPermit, Turns};
use serde_json::json;
use tokio::time::{Instant, timeout};
use tokio_util::task::TaskTracker;

pub use self::process::KeeperProgram;
use self::process::Running;
use crate::fetch::Fetcher;

/// Pages that are built at a time, of one caller all but one. Each takes hundreds of megabytes and a
/// core.
const PAGES_AT_ONCE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);
/// The longest that a page waits for its turn. Later ones would not end within the time of their
/// request, and are told to come again.
const TURN_TIME_MAX: Duration = Duration::from_secs(20);
/// Of one page, from its first request to its last word.
pub const PAGE_TIME_MAX: Duration = Duration::from_secs(15);
/// After a page's time the supervisor ends its browser, whatever the page's request does.
const SUPERVISOR_DELAY: Duration = Duration::from_secs(3);
/// A browser that nothing was asked of for so long is ended.
const IDLE_TIME_MAX: Duration = Duration::from_secs(120);
/// Browsers that wait for a page.
const IDLE_MAX: usize = 1;
/// After so many pages a browser is started anew: what leaked is gone with it.
const PAGES_EACH: usize = 200;

/// Why a page was not built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrowserError {
    #[error("the browser could not be started: {0}")]
    NotStarted(String),
    #[error("the browser went away")]
    Gone,
    #[error("the browser refused {0}")]
    Refused(String),
    #[error("the page took too long in the browser")]
    TimedOut,
    #[error("too many pages wait for the browser")]
    Busy,
}

/// How browsers are started.
#[derive(Debug, Clone)]
pub struct BrowserSetup {
    pub program: PathBuf,
    pub keeper: KeeperProgram,
    /// Its own sandbox, without which it should only run where something else confines it.
    pub sandbox: bool,
    /// Of one page.
    pub page_time: Duration,
}

pub struct Browser {
    setup: BrowserSetup,
    /// Those that look after running browsers. Nothing waits for them: keepers end by themselves
    /// with the service.
    tasks: TaskTracker,
    turns: Turns,
    /// Held for a push or a pop, and never across an await.
    idle: Mutex<Vec<Running>>,
}

impl Browser {
    /// Nothing is started before the first page needs it.
    pub fn new(setup: BrowserSetup) -> Browser {
        let (tasks, turns) = (TaskTracker::new(), Turns::new(PAGES_AT_ONCE));
        Browser { setup, tasks, turns, idle: Mutex::default() }
    }

    /// The HTML of a page once its scripts have come to rest.
    pub(crate) async fn build(
        &self,
        fetcher: &Fetcher,
        address: &WebAddress,
        caller: CallerId,
    ) -> Result<String, BrowserError> {
        let _turn = self.take_turn(caller).await?;
        let mut running = self.running().await?;
        let time_max = self.setup.page_time;
        running.wire.set_deadline(Instant::now() + time_max + SUPERVISOR_DELAY);
        let wire = &running.wire;
        let building = timeout(time_max, async {
            let context = json!({"disposeOnDetach": true});
            let context = wire.call(None, "Target.createBrowserContext", context).await?;
            let context = context["browserContextId"].as_str().unwrap_or_default().to_owned();
            let deny = json!({"behavior": "deny", "browserContextId": context});
            wire.call(None, "Browser.setDownloadBehavior", deny).await?;
            let html = tab::build(wire, &context, time_max, (fetcher, address)).await?;
            Ok((html, context))
        });
        // Whatever else happens, the browser is dropped here, and ended with the page.
        let (html, context) = building.await.unwrap_or(Err(BrowserError::TimedOut))?;
        let away = json!({"browserContextId": context});
        let disposing = wire.call(None, "Target.disposeBrowserContext", away);
        if let Ok(Ok(_)) = timeout(SUPERVISOR_DELAY, disposing).await {
            running.pages += 1;
            self.keep(running);
        }
        Ok(html)
    }

    async fn take_turn(&self, caller: CallerId) -> Result<TaskPermit, BrowserError> {
        match timeout(TURN_TIME_MAX, self.turns.take(caller)).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(BrowserError::Busy),
        }
    }

    async fn running(&self) -> Result<Running, BrowserError> {
        while let Some(running) = self.idle().pop() {
            if running.wire.is_open() {
                return Ok(running);
            }
        }
        Running::start(&self.setup, &self.tasks).await
    }

    /// For the next page.
    fn keep(&self, running: Running) {
        let mut idle = self.idle();
        if idle.len() < IDLE_MAX && running.pages < PAGES_EACH {
            running.wire.set_deadline(Instant::now() + IDLE_TIME_MAX);
            idle.push(running);
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Running>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_page_that_waits_too_long_for_its_turn_is_told_to_come_again() {
        let keeper = KeeperProgram { path: "/bin/false".into(), command: "browser" };
        let browser = Browser::new(BrowserSetup {
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
