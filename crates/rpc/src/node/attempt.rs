//! One attempt at a node: shared by requests with the same body, repeated if a kept connection
//! closes during it, and for reads also sent to a second node if the first is slow.

use std::time::Duration;

use bytes::Bytes;
use single_flight::Role;
use tokio::time::{Instant, sleep, timeout_at};

use super::Nodes;
use super::pool::Pool;
use super::send::{self, Failure, Sent};

/// Largest body that is shared between requests. Longer ones are rarely equal, and would only be
/// stored twice.
const SHARED_BYTES_MAX: usize = 64 * 1024;

/// The destination and the limits of a request body.
pub(super) struct Target<'a> {
    pub(super) pool: &'a Pool,
    pub(super) upstream: usize,
    /// The node that is also tried if this one is slow.
    pub(super) spare: Option<usize>,
    pub(super) are_reads: bool,
    pub(super) until: Instant,
}

/// The result of an attempt.
pub(super) struct Attempt {
    pub(super) upstream: usize,
    pub(super) sent: Sent,
    pub(super) took: Duration,
}

/// The key of a shared read. Ids are our own and count from one, so equal calls of different
/// callers have equal bodies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Posted {
    network: &'static str,
    upstream: usize,
    body: Bytes,
}

impl Nodes {
    /// Tries the node, and its spare if it is slow. Returns the answer alone, or both failures if
    /// both failed.
    pub(super) async fn attempt(&self, target: &Target<'_>, body: Bytes) -> Vec<Attempt> {
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
        if !matches!(quicker.sent, Sent::Failed(_) | Sent::TurnedAway { .. }) {
            return vec![quicker];
        }
        let slower = slower.await;
        match slower.sent {
            Sent::Failed(_) | Sent::TurnedAway { .. } => vec![quicker, slower],
            _ => vec![slower],
        }
    }

    async fn send(&self, target: &Target<'_>, upstream: usize, body: Bytes) -> Attempt {
        target.pool.health()[upstream].started(|| self.clock.now());
        let started = Instant::now();
        let may_share = target.are_reads && body.len() <= SHARED_BYTES_MAX;
        let sent = if may_share {
            self.post_shared(target, upstream, body).await
        } else {
            self.post(target, upstream, body).await
        };
        Attempt { upstream, sent, took: started.elapsed() }
    }

    /// Sends a read, or waits for the answer of an equal one in progress.
    pub(super) async fn post_shared(
        &self,
        target: &Target<'_>,
        upstream: usize,
        body: Bytes,
    ) -> Sent {
        let network = target.pool.network.slug();
        let posted = Posted { network, upstream, body };
        loop {
            let follower = match self.reads.join(posted.clone()) {
                Role::Lead(leader) => {
                    let sent = self.post(target, upstream, posted.body).await;
                    leader.finish(&sent);
                    return sent;
                }
                Role::Follow(follower) => follower,
            };
            let ended = timeout_at(target.until, follower.outcome()).await;
            match ended {
                Err(_) => return Sent::Failed(Failure::TimedOut),
                // The request ahead of this one was cancelled, or had less time left.
                Ok(None | Some(Sent::Failed(Failure::TimedOut))) => {}
                Ok(Some(sent)) => {
                    metrics::counter!("rpc_shared_total", "network" => network).increment(1);
                    return sent;
                }
            }
        }
    }

    async fn post(&self, target: &Target<'_>, upstream: usize, body: Bytes) -> Sent {
        let node = &target.pool.nodes[upstream].target;
        let bytes_max = self.limits.response_bytes_max;
        if !target.are_reads {
            return send::post(&self.http, node, body, bytes_max, target.until).await;
        }
        let sent = send::post(&self.http, node, body.clone(), bytes_max, target.until).await;
        // A kept connection may close just as it is used; that says nothing about the node.
        match sent {
            Sent::Failed(Failure::Broken) => {
                send::post(&self.http, node, body, bytes_max, target.until).await
            }
            sent => sent,
        }
    }
}
