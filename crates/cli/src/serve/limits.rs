//! Rate limits that several nodes count together, configured in `[limits]`.

use std::sync::Arc;
use std::time::Duration;

use api::app::Shared;
use api::principal::Principal;
use api::strangers::Strangers;
use background::spawn_loop;
use config::sections::limits::{Counts, Limits};
use domain::limits::shares::SharedCounts;
use limits_redis::{Heard, RedisCounts};
use store_postgres::Postgres;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::failure::Failure;

/// Interval of counting the nodes. A limit is divided among them while the Redis server is
/// unreachable.
const NODES_COUNTED_EVERY: Duration = Duration::from_secs(10);

/// Returns the shared counters; None if limits are counted in memory.
pub(crate) fn open(limits: &Limits) -> Result<Option<Arc<RedisCounts>>, Failure> {
    let Counts::Redis(url) = &limits.counts else { return Ok(None) };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let counts = RedisCounts::new(url.expose()).map_err(Failure::Failed)?;
    Ok(Some(Arc::new(counts)))
}

pub(super) fn strangers(counts: Option<&Arc<RedisCounts>>) -> Strangers {
    Strangers::counted_with(counts.map(|counts| Arc::clone(counts) as Arc<dyn SharedCounts>))
}

/// Starts the connection to the Redis server and the count of nodes, until `stop`.
pub(super) fn start(
    counts: Option<Arc<RedisCounts>>,
    (app, shared): (&Shared, Option<Arc<Postgres>>),
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let Some(counts) = counts else { return };
    let blocking = Arc::clone(app);
    let heard: Heard = Box::new(move |address, until| {
        if blocking.settings.blocks_failures {
            let now = blocking.clock.now();
            blocking.failures.block(Principal::Address(address), until, now);
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

async fn count_nodes(counts: Arc<RedisCounts>, shared: Arc<Postgres>, stop: CancellationToken) {
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
