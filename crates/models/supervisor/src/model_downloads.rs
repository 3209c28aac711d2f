//! Downloads models in the background and reports the progress.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use weights::{DownloadProgress, DownloadState, ModelPuller};

use crate::readiness::format_progress;

const FIRST_RETRY: Duration = Duration::from_secs(30);
const LONGEST_RETRY: Duration = Duration::from_secs(900);

/// Reports the progress of downloads.
pub trait ProgressReporter: Send {
    /// The interval between two reports.
    fn report_interval(&self) -> Duration;
    fn report_progress(&mut self, id: &str, progress: DownloadProgress);
    /// Ends the progress report of the current model.
    fn finish_report(&mut self);
}

/// Writes progress reports to the log.
#[derive(Debug, Default)]
pub struct LogLines;

impl ProgressReporter for LogLines {
    fn report_interval(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn report_progress(&mut self, id: &str, progress: DownloadProgress) {
        tracing::info!(model.id = id, "downloading {id}: {}", format_progress(progress));
    }

    fn finish_report(&mut self) {}
}

/// Downloads the given models one after another, until all are complete or `stop` is cancelled.
pub async fn fetch_all(
    puller: Arc<ModelPuller>,
    ids: Vec<String>,
    mut teller: Box<dyn ProgressReporter>,
    stop: CancellationToken,
) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = try_until_done(&puller, ids, teller.as_mut()) => {}
    }
}

async fn try_until_done(
    puller: &Arc<ModelPuller>,
    mut ids: Vec<String>,
    teller: &mut dyn ProgressReporter,
) {
    let mut pause = FIRST_RETRY;
    loop {
        let mut left = Vec::new();
        for id in ids {
            if !fetch_model(puller, &id, teller).await {
                left.push(id);
            }
        }
        if left.is_empty() {
            return;
        }
        tracing::info!("retrying the download of {} in {pause:?}", left.join(", "));
        sleep(pause).await;
        pause = pause.saturating_mul(2).min(LONGEST_RETRY);
        ids = left;
    }
}

async fn fetch_model(
    puller: &Arc<ModelPuller>,
    id: &str,
    teller: &mut dyn ProgressReporter,
) -> bool {
    if puller.model_state(id) == DownloadState::Ready {
        return true;
    }
    let pull = puller.pull_model(id);
    let mut tell = interval(teller.report_interval());
    tell.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(pull);
    let outcome = loop {
        tokio::select! {
            outcome = &mut pull => break outcome,
            _ = tell.tick() => {
                if let DownloadState::Fetching(progress) = puller.model_state(id) {
                    teller.report_progress(id, progress);
                }
            }
        }
    };
    teller.finish_report();
    match outcome {
        Ok(()) => tracing::info!(model.id = id, "{id} is ready"),
        Err(error) => tracing::warn!(model.id = id, "{error}"),
    }
    puller.model_state(id) == DownloadState::Ready
}
