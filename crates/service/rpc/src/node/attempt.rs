//! One attempt at a node: shared by requests with the same body, repeated if a kept connection
//! closes during it, and for reads also sent to a second node if the first is slow.

use std::time::Duration;

use bytes::Bytes;
use single_flight::FlightRole;
use tokio::time::{Instant, sleep, timeout_at};

use super::ChainNodes;
use super::pool::NodePool;
use super::send::{self, PostFailure, PostOutcome};

/// Largest body that is shared between requests. Longer ones are rarely equal, and would only be
/// stored twice.
const SHARED_BYTES_MAX: usize = 64 * 1024;

/// The destination and the limits of a request body.
pub(super) struct PostTarget<'a> {
    pub(super) pool: &'a NodePool,
    pub(super) upstream: usize,
    /// The node that is also tried if this one is slow.
    pub(super) spare: Option<usize>,
    pub(super) are_reads: bool,
    pub(super) until: Instant,
}

/// The result of an attempt.
pub(super) struct NodeAttempt {
    pub(super) upstream: usize,
    pub(super) sent: PostOutcome,
    pub(super) took: Duration,
}

/// The key of a shared read. Ids are our own and count from one, so equal calls of different
/// callers have equal bodies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SharedReadKey {
    network: &'static str,
    upstream: usize,
    body: Bytes,
}

impl ChainNodes {
    /// Tries the node, and its spare if it is slow. Returns the answer alone, or both failures if
    /// both failed.
    pub(super) async fn try_with_spare(
        &self,
        target: &PostTarget<'_>,
        body: Bytes,
    ) -> Vec<NodeAttempt> {
        let (Some(spare), Some(hedge_after)) = (target.spare, self.limits.hedge_after) else {
            return vec![self.send(target, target.upstream, body).await];
        };
        let mut first = Box::pin(self.send(target, target.upstream, body.clone()));
        tokio::select! {
            attempt = &mut first => return vec![attempt],
            () = sleep(hedge_after) => {}
        }
        metrics::counter!("rpc_hedged_total", "network" => target.pool.network.slug()).increment(1);
        let mut second = Box::pin(self.send(target, spare, body));
        let (quicker, slower) = tokio::select! {
            attempt = &mut first => (attempt, second),
            attempt = &mut second => (attempt, first),
        };
        if !matches!(quicker.sent, PostOutcome::Failed(_) | PostOutcome::TurnedAway { .. }) {
            return vec![quicker];
        }
        let slower = slower.await;
        match slower.sent {
            PostOutcome::Failed(_) | PostOutcome::TurnedAway { .. } => vec![quicker, slower],
            _ => vec![slower],
        }
    }

    async fn send(&self, target: &PostTarget<'_>, upstream: usize, body: Bytes) -> NodeAttempt {
        target.pool.lock_health()[upstream].record_start(|| self.clock.now());
        let started = Instant::now();
        let may_share = target.are_reads && body.len() <= SHARED_BYTES_MAX;
        let sent = if may_share {
            self.post_shared(target, upstream, body).await
        } else {
            self.post_with_retry(target, upstream, body).await
        };
        NodeAttempt { upstream, sent, took: started.elapsed() }
    }

    /// Sends a read, or waits for the answer of an equal one in progress.
    pub(super) async fn post_shared(
        &self,
        target: &PostTarget<'_>,
        upstream: usize,
        body: Bytes,
    ) -> PostOutcome {
        let network = target.pool.network.slug();
        let posted = SharedReadKey { network, upstream, body };
        loop {
            let follower = match self.reads.join(posted.clone()) {
                FlightRole::Lead(leader) => {
                    let sent = self.post_with_retry(target, upstream, posted.body).await;
                    leader.finish(&sent);
                    return sent;
                }
                FlightRole::Follow(follower) => follower,
            };
            let ended = timeout_at(target.until, follower.wait_for_outcome()).await;
            match ended {
                Err(_) => return PostOutcome::Failed(PostFailure::TimedOut),
                // The request ahead of this one was cancelled, or had less time left.
                Ok(None | Some(PostOutcome::Failed(PostFailure::TimedOut))) => {}
                Ok(Some(sent)) => {
                    metrics::counter!("rpc_shared_total", "network" => network).increment(1);
                    return sent;
                }
            }
        }
    }

    async fn post_with_retry(
        &self,
        target: &PostTarget<'_>,
        upstream: usize,
        body: Bytes,
    ) -> PostOutcome {
        let node = &target.pool.nodes[upstream].target;
        let bytes_max = self.limits.response_bytes_max;
        if !target.are_reads {
            return send::post_body(&self.http, node, body, bytes_max, target.until).await;
        }
        let sent = send::post_body(&self.http, node, body.clone(), bytes_max, target.until).await;
        // A kept connection may close just as it is used; that says nothing about the node.
        match sent {
            PostOutcome::Failed(PostFailure::Broken) => {
                send::post_body(&self.http, node, body, bytes_max, target.until).await
            }
            sent => sent,
        }
    }
}
