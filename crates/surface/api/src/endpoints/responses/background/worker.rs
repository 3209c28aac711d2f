//! Claims background responses in turns between their owners, and deletes what has expired.

use std::sync::Arc;
use std::time::Duration;

use background::catch_panic;
use http_frame::app::SharedApp;
use http_frame::background_runs::RunLimits;
use ledger::OwnerHome;
use store::conversation::ConversationWrite;
use store::error::StoreError;
use store::model_response::{ResponseRecord, ResponseWrite};
use store::write::WriteGroup;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::lease::{self, LEASE};
use super::run::ResponseRun;

/// Interval of finding responses whose worker died.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Responses that are read at once.
const DUE_MAX: usize = 256;
/// Rows deleted by one sweep, so that other writes do not wait long.
const SWEPT_MAX: usize = 500;

/// Runs background responses until `stop`. Those in progress are then left to the next start.
pub async fn run_worker(app: SharedApp, stop: CancellationToken) {
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = look.tick() => {}
            () = app.background.wait_for_work() => {}
        }
        if let Err(error) = claim_due(&app, &stop).await {
            tracing::warn!(%error, "background responses were not taken up: {error}");
        }
    }
}

/// Deletes what has expired until `stop`.
pub async fn run_sweep(app: SharedApp, stop: CancellationToken) {
    let mut sweep = interval(SWEEP_EVERY);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = sweep.tick() => {}
        }
        if let Err(error) = sweep_expired(&app).await {
            tracing::warn!(%error, "expired responses were not deleted: {error}");
        }
    }
}

/// Deletes expired responses and conversations, and the rows of deleted ones.
pub async fn sweep_expired(app: &SharedApp) -> Result<(), StoreError> {
    let (now, rows_max) = (app.clock.now(), SWEPT_MAX);
    let writes = vec![
        ResponseWrite::DropExpired { now, rows_max }.into(),
        ConversationWrite::DropExpired { now, rows_max }.into(),
    ];
    app.store.commit(WriteGroup { writes }).await
}

/// For a store that one process owns: leases from before its start belong to dead processes.
pub async fn break_leases(app: &SharedApp) -> Result<(), StoreError> {
    app.store.commit(WriteGroup::from_write(ResponseWrite::BreakLeases.into())).await
}

/// Claims as many responses as there are places, and runs each in its own task.
pub async fn claim_due(app: &SharedApp, stop: &CancellationToken) -> Result<(), StoreError> {
    let settings = &app.settings.responses;
    let limits =
        RunLimits { runs_max: settings.runs_max, per_owner_max: settings.runs_per_account_max };
    if !app.background.has_place(limits) {
        return Ok(());
    }
    let each_max = settings.runs_per_account_max;
    let due = app.store.due_responses(app.clock.now(), each_max, DUE_MAX).await?;
    for record in due {
        let is_here = matches!(app.ledger.home_of(record.owner).await, Ok(OwnerHome::Here));
        if !is_here {
            continue;
        }
        let Some(place) = app.background.begin(record.id, record.owner, limits) else { continue };
        let Some(record) = claim(app, record).await? else { continue };
        let run = ResponseRun::new(Arc::clone(app), place, record).run_to_end(stop.clone());
        app.tasks.spawn(async move { catch_panic("response_run", run).await });
    }
    Ok(())
}

/// `None` if another worker claimed it first.
pub(super) async fn claim(
    app: &SharedApp,
    mut record: ResponseRecord,
) -> Result<Option<ResponseRecord>, StoreError> {
    let at = app.clock.now();
    let (id, fence, lease_until) = (record.id, record.fence, at.plus(LEASE));
    let write = ResponseWrite::Claim { id, fence, lease_until, at };
    match app.store.commit(WriteGroup::from_write(write.into())).await {
        Ok(()) => {
            record.fence += 1;
            record.started = record.started.or(Some(at));
            Ok(Some(lease::with_lease(record, lease_until)))
        }
        Err(StoreError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Ends a cancelled response that no worker has.
pub(super) async fn end_waiting(app: &SharedApp, record: &ResponseRecord) {
    if app.clock.now() < record.lease_until {
        return;
    }
    let limits =
        http_frame::background_runs::RunLimits { runs_max: usize::MAX, per_owner_max: usize::MAX };
    let Some(place) = app.background.begin(record.id, record.owner, limits) else { return };
    match claim(app, record.clone()).await {
        Ok(Some(record)) => {
            let run = ResponseRun::new(app.clone(), place, record);
            run.run_to_end(CancellationToken::new()).await;
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "a response was not cancelled at once: {error}"),
    }
}
