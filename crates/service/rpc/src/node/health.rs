//! The order in which nodes are tried: failed nodes pause and are then tried last, slow nodes come
//! after fast ones, and nodes of another chain are not tried at all.

use std::time::Duration;

use moment::Timestamp;

const REST_FIRST: Duration = Duration::from_secs(1);
const REST_MAX: Duration = Duration::from_secs(60);
/// Time for which other requests avoid a failed node while one request tries it again.
const PROBE: Duration = Duration::from_secs(5);
/// Age at which a measured speed is dropped. A node that is not used is not measured, so it returns
/// to its configured place then.
const SPEED_KEPT: Duration = Duration::from_secs(60);
/// Smaller differences are noise, and no reason to leave the operator's order.
const SLOWNESS_MIN: Duration = Duration::from_millis(100);

/// The state of one node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NodeHealth {
    failures_in_a_row: u32,
    rests_until: Timestamp,
    speed: Option<ResponseSpeed>,
    chain: ChainState,
}

/// The result of the last check of a node's chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ChainState {
    /// Not checked yet: no answer of the node is used before it is.
    #[default]
    Untold,
    Right,
    Another,
}

/// Moving average of response times: each new one counts for a quarter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ResponseSpeed {
    average: Duration,
    noted_at: Timestamp,
}

impl NodeHealth {
    /// Records that a request is about to be sent. The time matters only for a node that has
    /// failed.
    pub(super) fn record_start(&mut self, now: impl FnOnce() -> Timestamp) {
        let is_probe = 0 < self.failures_in_a_row;
        if is_probe {
            self.rests_until = self.rests_until.max(now().plus(PROBE));
        }
    }

    pub(super) fn record_success(&mut self, took: Duration, now: Timestamp) {
        let average = match self.speed_at(now) {
            Some(known) => (known * 3 + took) / 4,
            None => took,
        };
        let speed = Some(ResponseSpeed { average, noted_at: now });
        *self = NodeHealth { speed, chain: self.chain, ..NodeHealth::default() };
    }

    /// Records a failure. Each one in a row doubles the pause.
    pub(super) fn record_failure(&mut self, now: Timestamp) {
        let doublings = self.failures_in_a_row.min(16);
        let rest = REST_FIRST.saturating_mul(1 << doublings).min(REST_MAX);
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        self.rests_until = now.plus(rest);
    }

    /// Records which chain the node serves.
    pub(super) fn set_chain(&mut self, chain: ChainState) {
        self.chain = chain;
    }

    pub(super) fn chain(self) -> ChainState {
        self.chain
    }

    fn is_resting(self, now: Timestamp) -> bool {
        now < self.rests_until
    }

    fn speed_at(self, now: Timestamp) -> Option<Duration> {
        let speed = self.speed?;
        (now.since(speed.noted_at) < SPEED_KEPT).then_some(speed.average)
    }
}

/// The nodes of the right chain in the order to try them: available ones as configured with slow
/// ones last, then pausing ones by the end of their pause. Even if all have failed, all are tried.
pub(super) fn order_nodes(nodes: &[NodeHealth], now: Timestamp) -> Vec<usize> {
    let is_of_another_chain = |node: &NodeHealth| node.chain == ChainState::Another;
    let rested = nodes.iter().filter(|it| !it.is_resting(now) && !is_of_another_chain(it));
    let quickest = rested.filter_map(|it| it.speed_at(now)).min();
    let is_slow = |node: NodeHealth| match (node.speed_at(now), quickest) {
        (Some(speed), Some(quickest)) => quickest * 2 + SLOWNESS_MIN < speed,
        _ => false,
    };
    let mut order: Vec<usize> =
        (0..nodes.len()).filter(|it| !is_of_another_chain(&nodes[*it])).collect();
    order.sort_by_key(|it| {
        let node = nodes[*it];
        let rests_until =
            if node.is_resting(now) { node.rests_until } else { Timestamp::default() };
        (rests_until, is_slow(node))
    });
    order
}

#[cfg(test)]
mod tests;
