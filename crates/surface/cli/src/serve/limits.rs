//! Rate limits that several nodes count together, configured in `[limits]`.

use std::sync::Arc;
use std::time::Duration;

use background::spawn_loop;
use config::sections::limits::{CounterStorage, LimitsConfig};
use domain::limits::shares::SharedCounts;
use http_frame::anonymous_limits::AnonymousLimits;
use http_frame::app::SharedApp;
use http_frame::principal::Principal;
use limits_redis::{OnBlock, RedisCounts};
use store_postgres::PostgresStore;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::failure::CommandError;

/// Interval of counting the nodes. A limit is divided among them while the Redis server is
/// unreachable.
const NODES_COUNTED_EVERY: Duration = Duration::from_secs(10);

/// Returns the shared counters; None if limits are counted in memory.
pub(crate) fn open_shared_counts(
    limits: &LimitsConfig,
) -> Result<Option<Arc<RedisCounts>>, CommandError> {
    let CounterStorage::Redis(url) = &limits.counts else { return Ok(None) };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let counts = RedisCounts::new(url.expose()).map_err(CommandError::Failed)?;
    Ok(Some(Arc::new(counts)))
}

pub(super) fn build_anonymous_limits(counts: Option<&Arc<RedisCounts>>) -> AnonymousLimits {
    AnonymousLimits::counted_with(counts.map(|counts| Arc::clone(counts) as Arc<dyn SharedCounts>))
}

/// Starts the connection to the Redis server and the count of nodes, until `stop`.
pub(super) fn start_shared_counts(
    counts: Option<Arc<RedisCounts>>,
    app: &SharedApp,
    shared: Option<Arc<PostgresStore>>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let Some(counts) = counts else { return };
    let blocking = Arc::clone(app);
    let heard: OnBlock = Box::new(move |address, until| {
        if blocking.settings.blocks_failures {
            let now = blocking.clock.now();
            blocking.failures.apply_block(Principal::Address(address), until, now);
        }
    });
    let (running, heard) = (Arc::clone(&counts), Arc::new(heard));
    spawn_loop(tasks, stop, "shared_limits", move |stop| {
        let (running, heard) = (Arc::clone(&running), Arc::clone(&heard));
        async move { running.run(&heard, stop).await }
    });
    if let Some(shared) = shared {
        spawn_loop(tasks, stop, "count_nodes", move |stop| {
            count_nodes(Arc::clone(&counts), Arc::clone(&shared), stop)
        });
    }
}

async fn count_nodes(
    counts: Arc<RedisCounts>,
    shared: Arc<PostgresStore>,
    stop: CancellationToken,
) {
    let mut again = interval(NODES_COUNTED_EVERY);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = again.tick() => {}
        }
        // While the database is unreachable, the last number stays in use.
        if let Ok(nodes) = shared.nodes().await {
            let serving = nodes.iter().filter(|node| node.is_live && !node.address.is_empty());
            counts.set_nodes(u64::try_from(serving.count()).unwrap_or(u64::MAX));
        }
    }
}
