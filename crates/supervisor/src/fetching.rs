//! Downloads models in the background and reports the progress.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use weights::{Progress, Puller, State};

use crate::readiness::so_far;

const FIRST_RETRY: Duration = Duration::from_secs(30);
const LONGEST_RETRY: Duration = Duration::from_secs(900);

/// Reports the progress of downloads.
pub trait Teller: Send {
    /// The interval between two reports.
    fn every(&self) -> Duration;
    fn tell(&mut self, id: &str, progress: Progress);
    /// Ends the progress report of the current model.
    fn end(&mut self);
}

/// Writes progress reports to the log.
#[derive(Debug, Default)]
pub struct LogLines;

impl Teller for LogLines {
    fn every(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn tell(&mut self, id: &str, progress: Progress) {
        tracing::info!(model.id = id, "fetching {id}: {}", so_far(progress));
    }

    fn end(&mut self) {}
}

/// Downloads the given models one after another, until all are complete or `stop` is cancelled.
pub async fn fetch_all(
    puller: Arc<Puller>,
    ids: Vec<String>,
    mut teller: Box<dyn Teller>,
    stop: CancellationToken,
) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = try_until_done(&puller, ids, teller.as_mut()) => {}
    }
}

async fn try_until_done(puller: &Arc<Puller>, mut ids: Vec<String>, teller: &mut dyn Teller) {
    let mut pause = FIRST_RETRY;
    loop {
        let mut left = Vec::new();
        for id in ids {
            if !fetch(puller, &id, teller).await {
                left.push(id);
            }
        }
        if left.is_empty() {
            return;
        }
        tracing::info!("fetching {} is tried again in {pause:?}", left.join(", "));
        sleep(pause).await;
        pause = pause.saturating_mul(2).min(LONGEST_RETRY);
        ids = left;
    }
}

async fn fetch(puller: &Arc<Puller>, id: &str, teller: &mut dyn Teller) -> bool {
    if puller.state(id) == State::Ready {
        return true;
    }
    let pull = puller.pull(id);
    let mut tell = interval(teller.every());
    tell.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(pull);
    let outcome = loop {
        tokio::select! {
            outcome = &mut pull => break outcome,
            _ = tell.tick() => {
                if let State::Fetching(progress) = puller.state(id) {
                    teller.tell(id, progress);
                }
            }
        }
    };
    teller.end();
    match outcome {
        Ok(()) => tracing::info!(model.id = id, "{id} is ready"),
        Err(error) => tracing::warn!(model.id = id, "{error}"),
    }
    puller.state(id) == State::Ready
}
