//! Calls a network's nodes in turn: the first that answers wins.

mod attempt;
mod cache;
pub mod check;
mod health;
mod pool;
mod send;
mod tally;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use moment::Clock;
use outbound::OutboundClient;
use single_flight::SingleFlight;
use tokio::time::Instant;

use crate::batch::CallBatch;
use crate::exchange::{BatchExchange, BatchReply, UnansweredBatch};
use crate::immutable;
use crate::networks::RpcNetwork;
use attempt::{NodeAttempt, PostTarget, SharedReadKey};
use cache::{ResultCache, ResultKey};
use health::ChainState;
use pool::NodePool;
use send::{PostFailure, PostOutcome};

/// The maximum number of nodes that one request is tried on.
const ATTEMPTS_MAX: usize = 4;

/// The nodes of every configured network.
pub struct ChainNodes {
    http: OutboundClient,
    clock: Arc<dyn Clock>,
    limits: NodeLimits,
    pools: BTreeMap<&'static str, NodePool>,
    cache: ResultCache,
    /// Reads in progress: the same read to the same node is sent once for all that wait for it.
    reads: Arc<SingleFlight<SharedReadKey, PostOutcome>>,
}

/// The limits of requests to nodes.
#[derive(Debug, Clone)]
pub struct NodeLimits {
    /// For one request, over all the nodes it is tried on.
    pub total_timeout: Duration,
    /// For one node, while there is another to try.
    pub attempt_timeout: Duration,
    pub response_bytes_max: usize,
    /// Concurrent requests to one network; further ones wait.
    pub in_flight_max: usize,
    /// Time after which an unanswered read is also sent to a second node. None: never.
    pub hedge_after: Option<Duration>,
}

impl Default for NodeLimits {
    fn default() -> NodeLimits {
        NodeLimits {
            total_timeout: Duration::from_secs(30),
            attempt_timeout: Duration::from_secs(10),
            response_bytes_max: 10 * 1024 * 1024,
            in_flight_max: 256,
            hedge_after: None,
        }
    }
}

impl NodeLimits {
    fn check_ranges(&self) -> Result<(), NodeSetupError> {
        let timeout = Duration::from_millis(1)..=Duration::from_secs(600);
        let ranges = [
            (timeout.contains(&self.total_timeout), "total_timeout", "1 ms to 600 s"),
            (timeout.contains(&self.attempt_timeout), "attempt_timeout", "1 ms to 600 s"),
            ((1..=1 << 30).contains(&self.response_bytes_max), "response_bytes_max", "1 to 1 GiB"),
            ((1..=65_536).contains(&self.in_flight_max), "in_flight_max", "1 to 65536"),
        ];
        match ranges.into_iter().find(|(is_right, ..)| !is_right) {
            Some((_, name, range)) => Err(NodeSetupError::BadLimit { name, range }),
            None => Ok(()),
        }
    }
}

/// The reason why the configured nodes cannot be used. URLs often hold a secret, so no message
/// shows them.
#[derive(Debug, thiserror::Error)]
pub enum NodeSetupError {
    #[error("URL number {position} of {network} must start with http:// or https://")]
    BadUrl { network: RpcNetwork, position: usize },
    #[error("{name} must be {range}")]
    BadLimit { name: &'static str, range: &'static str },
    #[error("cannot set up the HTTP client: {0}")]
    Client(#[from] outbound::TlsSetupError),
}

/// The reason why no node answered any call of a request; nothing is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    #[error("{0} has no nodes configured on this server")]
    NotConfigured(RpcNetwork),
    #[error("No node of {0} could answer; try again shortly")]
    Unavailable(RpcNetwork),
    #[error("No node of {0} answered in time; try again, or ask for less at a time")]
    TimedOut(RpcNetwork),
    #[error("A node of {0} took the request but did not confirm it; look it up before resending")]
    Unconfirmed(RpcNetwork),
}

impl ChainNodes {
    /// Takes each network's URLs in order of preference. A network without URLs counts as not
    /// configured.
    pub fn new(
        networks: impl IntoIterator<Item = (RpcNetwork, Vec<String>)>,
        limits: NodeLimits,
        clock: Arc<dyn Clock>,
    ) -> Result<ChainNodes, NodeSetupError> {
        limits.check_ranges()?;
        let http = pool::build_client()?;
        let mut pools = BTreeMap::new();
        for (network, urls) in networks {
            if !urls.is_empty() {
                pools.insert(network.slug(), NodePool::new(&http, network, &urls, &limits)?);
            }
        }
        let (cache, reads) = (ResultCache::default(), Arc::default());
        Ok(ChainNodes { http, clock, limits, pools, cache, reads })
    }

    /// The networks that have nodes, sorted by slug.
    pub fn networks(&self) -> impl Iterator<Item = RpcNetwork> {
        self.pools.values().map(|it| it.network)
    }

    pub fn has_network(&self, network: RpcNetwork) -> bool {
        self.pools.contains_key(network.slug())
    }

    /// Adds charged credits to the metrics of a network.
    pub fn count_charged(&self, network: RpcNetwork, credits: u32) {
        if let Some(pool) = self.pools.get(network.slug()) {
            pool.tally.count_credits(credits);
        }
    }

    /// Sends a batch, to further nodes if the first ones fail, and combines the answers in the
    /// order of the calls. Results that never change are fetched once.
    pub async fn send_batch(&self, batch: &CallBatch) -> Result<BatchReply, NodeError> {
        let network = batch.network();
        let pool = self.pools.get(network.slug()).ok_or(NodeError::NotConfigured(network))?;
        let mut exchange = BatchExchange::new(batch);
        self.take_cached_results(batch, &mut exchange);
        let mut has_timed_out = false;
        if !exchange.open().is_empty() {
            let deadline = Instant::now() + self.limits.total_timeout;
            let _turn = pool.acquire_slot(deadline).await.ok_or(NodeError::Unavailable(network))?;
            has_timed_out = self.try_nodes(pool, &mut exchange, deadline).await;
            self.cache_results(batch, &mut exchange);
        }
        exchange.finish().map_err(|unanswered| match unanswered {
            UnansweredBatch::Unconfirmed => NodeError::Unconfirmed(network),
            UnansweredBatch::Untouched if has_timed_out => NodeError::TimedOut(network),
            UnansweredBatch::Untouched => NodeError::Unavailable(network),
        })
    }

    /// Sends the open calls to one node after the other. True if the last one timed out.
    async fn try_nodes(
        &self,
        pool: &NodePool,
        exchange: &mut BatchExchange<'_>,
        deadline: Instant,
    ) -> bool {
        let mut order: VecDeque<usize> =
            health::order_nodes(&pool.lock_health(), self.clock.now()).into();
        order.truncate(ATTEMPTS_MAX);
        let mut has_timed_out = false;
        while let Some(upstream) = order.pop_front() {
            let asked = exchange.open();
            let is_over = asked.is_empty() || deadline <= Instant::now();
            if is_over {
                break;
            }
            // Submissions are not retried after a timeout, so they may use all of the time.
            let are_reads = exchange.are_reads(&asked);
            let may_wait = order.is_empty() || !are_reads;
            let until = if may_wait { deadline } else { self.attempt_deadline(deadline) };
            if !self.may_ask(pool, upstream, until).await {
                has_timed_out = deadline <= Instant::now();
                continue;
            }
            let body = exchange.build_request(&asked).into();
            let has_told = |it: &usize| pool.lock_health()[*it].chain() == ChainState::Right;
            let spare = order.front().copied().filter(|it| are_reads && has_told(it));
            let target = PostTarget { pool, upstream, spare, are_reads, until };
            for attempt in self.try_with_spare(&target, body).await {
                order.retain(|it| *it != attempt.upstream);
                has_timed_out = matches!(attempt.sent, PostOutcome::Failed(PostFailure::TimedOut));
                self.take_attempt(pool, exchange, &asked, attempt);
            }
        }
        has_timed_out
    }

    fn attempt_deadline(&self, deadline: Instant) -> Instant {
        deadline.min(Instant::now() + self.limits.attempt_timeout)
    }

    fn take_attempt(
        &self,
        pool: &NodePool,
        exchange: &mut BatchExchange<'_>,
        asked: &[usize],
        attempt: NodeAttempt,
    ) {
        let NodeAttempt { upstream, sent, took } = attempt;
        let problem = match sent {
            PostOutcome::Answered(body) if exchange.take_answer(asked, &body) => None,
            PostOutcome::Answered(_) => Some("sent no JSON-RPC answer".to_owned()),
            PostOutcome::TooLarge => {
                exchange.take_oversized_answer(asked, self.limits.response_bytes_max);
                None
            }
            PostOutcome::Refused { status, body } => {
                exchange.take_refusal(asked, status, &body);
                None
            }
            PostOutcome::TurnedAway { status } => {
                exchange.take_access_refusal(asked, status);
                Some(format!("refused the request with HTTP {status}: check its URL and key"))
            }
            PostOutcome::Failed(failure) => {
                if !failure.is_surely_untouched() {
                    exchange.mark_unconfirmed(asked);
                }
                Some(failure.to_string())
            }
        };
        let now = self.clock.now();
        let Some(problem) = problem else {
            pool.tally.count_answered();
            return pool.lock_health()[upstream].record_success(took, now);
        };
        pool.tally.count_failed();
        pool.lock_health()[upstream].record_failure(now);
        tracing::warn!(
            rpc.network = %pool.network, rpc.upstream = upstream,
            rpc.host = pool.nodes[upstream].host,
            "node {upstream} of {} {problem}", pool.network
        );
    }

    fn take_cached_results(&self, batch: &CallBatch, exchange: &mut BatchExchange<'_>) {
        for (position, call) in batch.calls().iter().enumerate() {
            if !immutable::is_immutable(call, batch.network()) {
                continue;
            }
            if let Some(result) = self.cache.get(&build_result_key(batch, position)) {
                exchange.take_cached(position, &result);
            }
        }
    }

    fn cache_results(&self, batch: &CallBatch, exchange: &mut BatchExchange<'_>) {
        for (position, result) in exchange.take_immutable() {
            self.cache.put(build_result_key(batch, position), &result);
        }
    }
}

fn build_result_key(batch: &CallBatch, position: usize) -> ResultKey {
    let call = &batch.calls()[position];
    let (network, params) = (batch.network().slug(), call.params().to_owned());
    ResultKey { network, method: call.method.name, params }
}

#[cfg(test)]
mod tests;
