//! Starts the engine, monitors it, and restarts it when it ends.

use std::time::Duration;

use tokio::process::Child;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::backoff::{STEADY_AFTER, wait};
use crate::health::{self, Health};
use crate::process::{Plan, describe_exit, end};
use crate::status::{ProcessState, StatusCell};

/// Source of random numbers for the restart jitter.
pub type Dice = Box<dyn Fn() -> u64 + Send + Sync>;

/// Polling interval during startup: short, because requests may be waiting.
const LOOK_WHILE_STARTING: Duration = Duration::from_millis(50);
const LOOK_WHILE_UP: Duration = Duration::from_secs(2);
/// An engine that does not answer for this long is considered stuck and is stopped.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Keeps the engine running until `stop` is cancelled, then stops it.
pub async fn supervise(plan: Plan, status: StatusCell, dice: Dice, stop: CancellationToken) {
    let health = match Health::at(&plan.socket) {
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
            Ok(child) => match watch(child, &health, &status, &stop).await {
                Ended::Told => return,
                Ended::ByItself(reason) => reason,
            },
            Err(error) => format!("{} cannot be started: {error}", plan.program.display()),
        };
        let was_steady = STEADY_AFTER <= started.elapsed();
        failures_in_a_row = if was_steady { 1 } else { failures_in_a_row + 1 };
        let pause = wait(failures_in_a_row, dice());
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

enum Ended {
    /// `stop` was cancelled.
    Told,
    ByItself(String),
}

async fn watch(
    mut child: Child,
    health: &Health,
    status: &StatusCell,
    stop: &CancellationToken,
) -> Ended {
    let process = child.id();
    // `Child::wait` closes the child's standard input, at which our engine would exit.
    let lifeline = child.stdin.take();
    let outcome = tokio::select! {
        () = stop.cancelled() => Ended::Told,
        ended = child.wait() => return Ended::ByItself(describe_exit(ended)),
        () = look_after(process, health, status) => {
            Ended::ByItself(format!("it said nothing for {} s", SILENCE_MAX.as_secs()))
        }
    };
    drop(lifeline);
    end(child).await;
    outcome
}

/// Polls the engine and updates the status; returns when it has not answered for `SILENCE_MAX`.
async fn look_after(process: Option<u32>, health: &Health, status: &StatusCell) {
    let mut heard = Instant::now();
    loop {
        if let Some(report) = health.ask().await {
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
        sleep(if status.is_up() { LOOK_WHILE_UP } else { LOOK_WHILE_STARTING }).await;
    }
}

#[cfg(test)]
mod tests;
