//! Periodic background work of the service.

use std::sync::Arc;
use std::time::Duration;

use background::spawn_loop;
use control::service::ControlService;
use control::stakes::{StakeReadReport, StakeReader};
use http_frame::proxy::CurrentChains;
use metrics_exporter_prometheus::PrometheusHandle;
use store::write::{StoreWrite, WriteGroup};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Interval of moving expired allowances and retrying after a full disk.
const TEND_EVERY: Duration = Duration::from_secs(1);
/// Long, because the uses of keys are only shown in listings.
const NOTE_EVERY: Duration = Duration::from_secs(30);
/// At a thousand requests per second, a few hundred kilobytes of measurements accumulate per
/// interval.
const COUNT_METRICS_EVERY: Duration = Duration::from_secs(5);
/// Interval of comparing all balances in memory with the database.
const RECONCILE_EVERY: Duration = Duration::from_secs(60);
/// Stored responses live for a day, so a delay of minutes does no harm.
const DROP_ANSWERS_EVERY: Duration = Duration::from_secs(10);
/// Expired responses deleted per round: more than callers within the limits can add meanwhile.
const ANSWERS_DROPPED_MAX: usize = 1000;
/// Nonces of wallets live for minutes. Deletes more per second than sign-ins can add.
const NONCES_DROPPED_MAX: usize = 10_000;
/// Old usage rows are deleted in small batches, so that charges do not wait long.
const PRUNE_EVERY: Duration = Duration::from_secs(10);
const USAGE_ROWS_PRUNED_MAX: usize = 5_000;
/// Time within which a node that was moved to another chain is noticed.
const CHECK_CHAINS_EVERY: Duration = Duration::from_secs(300);

/// Time within which a new day is noticed. Also the retry interval of stakes that could not be
/// read.
const LOOK_AT_STAKES_EVERY: Duration = Duration::from_secs(300);

/// Starts the background work on the service's own state.
pub(crate) fn start_housekeeping(
    service: &Arc<ControlService>,
    keep_usage_days: Option<i64>,
    stakes: Option<Arc<dyn StakeReader>>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    // Created at the start, so that an increase is visible in the metrics.
    metrics::gauge!(ledger::UNCHARGED_USD_TOTAL).increment(0.0);
    let kept = Arc::clone(service);
    spawn_loop(tasks, stop, "housekeeping", move |stop| run_housekeeping(Arc::clone(&kept), stop));
    if let Some(days) = keep_usage_days {
        let pruned = Arc::clone(service);
        spawn_loop(tasks, stop, "prune_usage", move |stop| {
            prune_usage(Arc::clone(&pruned), days, stop)
        });
    }
    if let Some(stakes) = stakes {
        let service = Arc::clone(service);
        spawn_loop(tasks, stop, "stakes", move |stop| {
            read_stakes(Arc::clone(&service), Arc::clone(&stakes), stop)
        });
    }
}

/// Maintains the ledger, reconciles it and records uses of keys until `stop`.
async fn run_housekeeping(service: Arc<ControlService>, stop: CancellationToken) {
    let mut tend = build_interval(TEND_EVERY);
    let mut note = build_interval(NOTE_EVERY);
    let mut reconcile = build_interval(RECONCILE_EVERY);
    let mut drop_answers = build_interval(DROP_ANSWERS_EVERY);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = tend.tick() => {
                maintain_ledger(&service).await;
                drop_expired_nonces(&service).await;
            }
            _ = note.tick() => write_key_uses(&service).await,
            _ = reconcile.tick() => reconcile_ledger(&service).await,
            _ = drop_answers.tick() => drop_expired_answers(&service).await,
        }
    }
}

/// Aggregates measurements into their buckets until `stop`. Without this, memory would grow forever
/// if the metrics are never read.
pub(crate) async fn count_metrics(metrics: PrometheusHandle, stop: CancellationToken) {
    let mut count = build_interval(COUNT_METRICS_EVERY);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = count.tick() => metrics.run_upkeep(),
        }
    }
}

/// Checks the chain of every node at the start and periodically until `stop`.
pub(crate) async fn watch_chains(chains: Arc<CurrentChains>, stop: CancellationToken) {
    let mut check = build_interval(CHECK_CHAINS_EVERY);
    loop {
        let checked = async {
            check.tick().await;
            chains.get().nodes.check_chains().await;
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = checked => {}
        }
    }
}

/// Reads the stakes of wallets at the start and on every new day until `stop`. Retries a round with
/// unread stakes.
async fn read_stakes(
    service: Arc<ControlService>,
    stakes: Arc<dyn StakeReader>,
    stop: CancellationToken,
) {
    let mut look = build_interval(LOOK_AT_STAKES_EVERY);
    let mut day_read = None;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = look.tick() => {}
        }
        let today = service.clock.now().unix_day();
        if day_read == Some(today) {
            continue;
        }
        let read = tokio::select! {
            () = stop.cancelled() => return,
            read = service.read_stakes(stakes.as_ref()) => read,
        };
        match read {
            Ok(StakeReadReport { changed, unread }) => {
                tracing::info!(changed, unread, "stakes were read: {changed} changed");
                day_read = (unread == 0).then_some(today);
            }
            Err(error) => tracing::warn!(%error, "stakes were not read: {error}"),
        }
    }
}

/// Deletes usage rows that are older than `days` until `stop`.
async fn prune_usage(service: Arc<ControlService>, days: i64, stop: CancellationToken) {
    let mut prune = build_interval(PRUNE_EVERY);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = prune.tick() => {}
        }
        // None if the clock jumped: all rows could then look old.
        let Some(now) = service.ledger.pruning_time() else { continue };
        let before_day = now.unix_day() - days;
        let write = StoreWrite::PruneUsage { before_day, rows_max: USAGE_ROWS_PRUNED_MAX };
        if let Err(error) = service.store.commit(WriteGroup::from_write(write)).await {
            tracing::warn!(%error, "old usage rows were not deleted: {error}");
        }
    }
}

/// Writes the pending data before the database is closed.
pub(crate) async fn write_pending_data(service: &ControlService) {
    write_key_uses(service).await;
}

fn build_interval(period: Duration) -> Interval {
    let mut interval = interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

async fn maintain_ledger(service: &ControlService) {
    if let Err(error) = service.ledger.run_maintenance().await {
        tracing::warn!(%error, "the maintenance of the ledger failed: {error}");
    }
    let status = service.ledger.status();
    set_gauge("ledger_running", f64::from(u8::from(status.is_running)));
    set_gauge("ledger_clock_trusted", f64::from(u8::from(status.is_clock_trusted)));
    set_gauge(
        "ledger_journal_ahead_seconds",
        status.journal_ahead.unwrap_or_default().as_secs_f64(),
    );
    set_gauge("ledger_open_holds", to_gauge_value(status.open_holds));
    if let Some(owners) = status.at_home {
        set_gauge("ledger_owners_at_home", to_gauge_value(owners));
    }
    set_gauge("ledger_oldest_hold_seconds", status.oldest_hold.unwrap_or_default().as_secs_f64());
    set_gauge("ledger_unwritten_groups", to_gauge_value(status.unwritten_groups));
    set_gauge("ledger_late_charges", to_gauge_value(status.late_charges));
    metrics::counter!("ledger_settled_total").absolute(status.settled_total);
    set_gauge("ledger_written_off_nano", status.written_off_nano_total as f64);
    set_gauge("store_queued_groups", to_gauge_value(service.store.queued_groups()));
}

async fn reconcile_ledger(service: &ControlService) {
    match service.ledger.reconcile().await {
        Ok(reconciled) => {
            set_gauge("reconcile_diff_nano", reconciled.difference_nano as f64);
            if reconciled.difference_nano != 0 {
                let difference = reconciled.difference_nano;
                tracing::error!(
                    reconcile.diff_nano = %difference,
                    "balances and journal differ by {difference} nano: run `tollgate ledger verify`"
                );
            }
        }
        Err(error) => tracing::warn!(%error, "the ledger could not be reconciled: {error}"),
    }
}

async fn drop_expired_answers(service: &ControlService) {
    let (now, rows_max) = (service.clock.now(), ANSWERS_DROPPED_MAX);
    let dropped = service
        .store
        .commit(WriteGroup::from_write(StoreWrite::DropExpiredAnswers { now, rows_max }))
        .await;
    if let Err(error) = dropped {
        tracing::warn!(%error, "expired responses of idempotency keys were not deleted: {error}");
    }
}

async fn drop_expired_nonces(service: &ControlService) {
    let (now, rows_max) = (service.clock.now(), NONCES_DROPPED_MAX);
    let dropped = service
        .store
        .commit(WriteGroup::from_write(StoreWrite::DropExpiredNonces { now, rows_max }))
        .await;
    if let Err(error) = dropped {
        tracing::warn!(%error, "expired nonces were not deleted: {error}");
    }
}

async fn write_key_uses(service: &ControlService) {
    if let Err(error) = service.keys.write_last_uses().await {
        tracing::warn!(%error, "the last use of keys was not written: {error}");
    }
}

fn set_gauge(name: &'static str, value: f64) {
    metrics::gauge!(name).set(value);
}

fn to_gauge_value(number: usize) -> f64 {
    number as f64
}
