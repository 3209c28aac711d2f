//! Fetches models in the background, and tells the operator how far they are.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use weights::{Puller, State};

use crate::readiness::so_far;

const TELL_EVERY: Duration = Duration::from_secs(5);
const FIRST_RETRY: Duration = Duration::from_secs(30);
const LONGEST_RETRY: Duration = Duration::from_secs(900);

/// Fetches each of these models, one after another, until all are there or `stop`.
pub async fn fetch_all(puller: Arc<Puller>, ids: Vec<String>, stop: CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = try_until_done(&puller, ids) => {}
    }
}

async fn try_until_done(puller: &Arc<Puller>, mut ids: Vec<String>) {
    let mut pause = FIRST_RETRY;
    loop {
        let mut left = Vec::new();
        for id in ids {
            if !fetch(puller, &id).await {
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

async fn fetch(puller: &Arc<Puller>, id: &str) -> bool {
    if puller.state(id) == State::Ready {
        return true;
    }
    let pull = puller.pull(id);
    let mut tell = interval(TELL_EVERY);
    tell.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(pull);
    let outcome = loop {
        tokio::select! {
            outcome = &mut pull => break outcome,
            _ = tell.tick() => {
                if let State::Fetching(progress) = puller.state(id) {
                    tracing::info!(model.id = id, "fetching {id}: {}", so_far(progress));
                }
            }
        }
    };
    match outcome {
        Ok(()) => tracing::info!(model.id = id, "{id} is ready"),
        Err(error) => tracing::warn!(model.id = id, "{error}"),
    }
    puller.state(id) == State::Ready
}
