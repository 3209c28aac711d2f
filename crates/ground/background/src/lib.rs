//! Supervises background loops: a panic is logged and counted, and the loop starts again.
//!
//! A task that panics ends silently, and its work stops until a restart. So every loop of the
//! service is started by [`spawn_loop`], and tasks that are not awaited run inside [`catch_panic`].

mod restart_delay;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use restart_delay::RestartDelay;

/// Starts a loop as a task; see [`supervise_loop`].
pub fn spawn_loop<Work>(
    tasks: &TaskTracker,
    stop: &CancellationToken,
    name: &'static str,
    make_loop: impl FnMut(CancellationToken) -> Work + Send + 'static,
) where
    Work: Future<Output = ()> + Send + 'static,
{
    tasks.spawn(supervise_loop(name, stop.clone(), make_loop));
}

/// Runs a loop until it returns. After a panic it calls `make_loop` again, with a growing delay,
/// unless `stop` was cancelled. `make_loop` receives `stop`.
pub async fn supervise_loop<Work>(
    name: &'static str,
    stop: CancellationToken,
    mut make_loop: impl FnMut(CancellationToken) -> Work,
) where
    Work: Future<Output = ()>,
{
    let mut delay = RestartDelay::default();
    let mut must_panic = IS_PANIC_ASKED.load(Ordering::Relaxed);
    loop {
        let started = Instant::now();
        let work = async {
            assert!(!must_panic, "a test asked for this panic");
            make_loop(stop.clone()).await;
        };
        if catch_panic(name, work).await.is_some() {
            return;
        }
        must_panic = false;
        let pause = delay.after(started.elapsed());
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(pause) => tracing::warn!("the loop `{name}` starts again"),
        }
    }
}

/// Awaits `work`. After a panic it logs the cause, counts it under `name` and returns `None`.
pub async fn catch_panic<T>(name: &'static str, work: impl Future<Output = T>) -> Option<T> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(output) => Some(output),
        Err(panic) => {
            let cause = panic_message(panic.as_ref());
            metrics::counter!("background_panics_total", "loop" => name).increment(1);
            tracing::error!(background.loop = name, "the loop `{name}` panicked: {cause}");
            None
        }
    }
}

/// For tests of a whole process: makes every loop panic once, at its first start.
pub fn panic_each_loop_once() {
    IS_PANIC_ASKED.store(true, Ordering::Relaxed);
}

static IS_PANIC_ASKED: AtomicBool = AtomicBool::new(false);

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests;
