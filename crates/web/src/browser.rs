//! Pages that scripts build, in a browser that has no network of its own.
//!
//! Every request of a page is stopped before it leaves the browser, fetched by the guarded
//! [`Fetcher`], and handed back. What would go past that, such as a socket or a name that is looked
//! up ahead, ends at a proxy that does not exist. Each page has a context of its own, which is
//! thrown away with it.

mod process;
mod tab;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::web_address::WebAddress;
use serde_json::json;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use self::process::Running;
use crate::fetch::Fetcher;

/// Pages that are built at a time. Each takes a hundred megabytes and a core.
const PAGES_AT_ONCE: usize = 2;
/// Of one page, from its first request to its last word.
const PAGE_TIME_MAX: Duration = Duration::from_secs(15);
/// After so many pages the browser is started anew: what leaked is gone with it.
const PAGES_EACH: usize = 200;

/// Why a page was not built, for the log.
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
}

/// How the browser is started.
#[derive(Debug, Clone)]
pub struct BrowserSetup {
    pub program: PathBuf,
    /// Its own sandbox, without which it should only run where something else confines it. It does
    /// not run as root with it.
    pub sandbox: bool,
}

pub struct Browser {
    setup: BrowserSetup,
    tasks: TaskTracker,
    turns: Semaphore,
    running: Mutex<Option<Arc<Running>>>,
    built: AtomicUsize,
}

impl Browser {
    /// Nothing is started before the first page needs it.
    pub fn new(setup: BrowserSetup, tasks: TaskTracker) -> Browser {
        Browser {
            setup,
            tasks,
            turns: Semaphore::new(PAGES_AT_ONCE),
            running: Mutex::default(),
            built: AtomicUsize::new(0),
        }
    }

    /// The HTML of a page once its scripts have come to rest.
    pub(crate) async fn build(
        &self,
        fetcher: &Fetcher,
        address: &WebAddress,
    ) -> Result<String, BrowserError> {
        let _turn = self.turns.acquire().await.map_err(|_| BrowserError::Gone)?;
        let running = self.running().await?;
        let context = running.wire.call(None, "Target.createBrowserContext", json!({})).await?;
        let context = context["browserContextId"].as_str().unwrap_or_default().to_owned();
        let building =
            timeout(PAGE_TIME_MAX, tab::build(&running.wire, &context, fetcher, address));
        let built = building.await.unwrap_or(Err(BrowserError::TimedOut));
        let away = json!({"browserContextId": context});
        if running.wire.call(None, "Target.disposeBrowserContext", away).await.is_err() {
            // A page that cannot be thrown away is thrown away with its browser.
            self.running.lock().await.take();
        }
        built
    }

    /// The browser, started if it is not there or has built enough.
    async fn running(&self) -> Result<Arc<Running>, BrowserError> {
        let mut running = self.running.lock().await;
        let is_spent = PAGES_EACH <= self.built.fetch_add(1, Ordering::Relaxed);
        if let Some(running) = running.as_ref().filter(|it| !is_spent && it.wire.is_open()) {
            return Ok(Arc::clone(running));
        }
        running.take();
        self.built.store(1, Ordering::Relaxed);
        let started = Arc::new(Running::start(&self.setup, &self.tasks).await?);
        *running = Some(Arc::clone(&started));
        Ok(started)
    }
}
