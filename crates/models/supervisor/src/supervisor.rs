//! Starts the engine, monitors it, and restarts it when it ends.

use std::time::Duration;

use tokio::process::Child;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::backoff::{STEADY_AFTER, restart_delay};
use crate::health::{self, HealthClient};
use crate::process::{EngineCommand, await_exit, describe_exit};
use crate::status::{ProcessState, StatusCell};

/// Source of random numbers for the restart jitter.
pub type JitterSource = Box<dyn Fn() -> u64 + Send + Sync>;

/// Polling interval during startup: short, because requests may be waiting.
const POLL_INTERVAL_STARTING: Duration = Duration::from_millis(50);
const POLL_INTERVAL_RUNNING: Duration = Duration::from_secs(2);
/// An engine that does not answer for this long is considered stuck and is stopped.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Keeps the engine running until `stop` is cancelled, then stops it.
pub async fn supervise_engine(
    plan: EngineCommand,
    status: StatusCell,
    dice: JitterSource,
    stop: CancellationToken,
) {
    let health = match HealthClient::for_socket(&plan.socket) {
        Ok(health) => health,
        Err(reason) => {
            tracing::error!("the engine cannot be watched: {reason}");
            status.change(|status| status.state = ProcessState::Down { reason });
            return;
        }
    };
    let mut failures_in_a_row = 0;
    loop {
        let started = Instant::now();
        let reason = match plan.start() {
            Ok(child) => match watch_process(child, &health, &status, &stop).await {
                EngineExit::Told => return,
                EngineExit::ByItself(reason) => reason,
            },
            Err(error) => format!("{} cannot be started: {error}", plan.program.display()),
        };
        let was_steady = STEADY_AFTER <= started.elapsed();
        failures_in_a_row = if was_steady { 1 } else { failures_in_a_row + 1 };
        let pause = restart_delay(failures_in_a_row, dice());
        tracing::error!(
            engine.failures = failures_in_a_row,
            "the engine is down: {reason}; it is started again in {pause:?}"
        );
        status.change(|status| {
            status.state = ProcessState::Down { reason };
            status.restarts += 1;
            status.models.clear();
            status.memory_bytes = None;
        });
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(pause) => {}
        }
        status.change(|status| status.state = ProcessState::Starting);
    }
}

enum EngineExit {
    /// `stop` was cancelled.
    Told,
    ByItself(String),
}

async fn watch_process(
    mut child: Child,
    health: &HealthClient,
    status: &StatusCell,
    stop: &CancellationToken,
) -> EngineExit {
    let process = child.id();
    // `Child::wait` closes the child's standard input, at which our engine would exit.
    let lifeline = child.stdin.take();
    let outcome = tokio::select! {
        () = stop.cancelled() => EngineExit::Told,
        ended = child.wait() => return EngineExit::ByItself(describe_exit(ended)),
        () = poll_health(process, health, status) => {
            EngineExit::ByItself(format!("it said nothing for {} s", SILENCE_MAX.as_secs()))
        }
    };
    drop(lifeline);
    await_exit(child).await;
    outcome
}

/// Polls the engine and updates the status; returns when it has not answered for `SILENCE_MAX`.
async fn poll_health(process: Option<u32>, health: &HealthClient, status: &StatusCell) {
    let mut heard = Instant::now();
    loop {
        if let Some(report) = health.fetch_report().await {
            heard = Instant::now();
            if !status.is_up() {
                tracing::info!("the engine is up");
            }
            let memory_bytes = process.and_then(health::memory_bytes);
            status.change(|status| {
                status.state = ProcessState::Up;
                status.models = report.models;
                status.gpus = report.gpus;
                status.memory_bytes = memory_bytes;
            });
        }
        if SILENCE_MAX <= heard.elapsed() {
            return;
        }
        sleep(if status.is_up() { POLL_INTERVAL_RUNNING } else { POLL_INTERVAL_STARTING }).await;
    }
}

#[cfg(test)]
mod tests;
