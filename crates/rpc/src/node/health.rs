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
pub(super) struct Health {
    failures_in_a_row: u32,
    rests_until: Timestamp,
    speed: Option<Speed>,
    chain: Chain,
}

/// The result of the last check of a node's chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Chain {
    /// Not checked yet: no answer of the node is used before it is.
    #[default]
    Untold,
    Right,
    Another,
}

/// Moving average of response times: each new one counts for a quarter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Speed {
    average: Duration,
    noted_at: Timestamp,
}

impl Health {
    /// Records that a request is about to be sent. The time matters only for a node that has
    /// failed.
    pub(super) fn started(&mut self, now: impl FnOnce() -> Timestamp) {
        let is_probe = 0 < self.failures_in_a_row;
        if is_probe {
            self.rests_until = self.rests_until.max(now().plus(PROBE));
        }
    }

    pub(super) fn succeeded(&mut self, took: Duration, now: Timestamp) {
        let average = match self.speed_at(now) {
            Some(known) => (known * 3 + took) / 4,
            None => took,
        };
        let speed = Some(Speed { average, noted_at: now });
        *self = Health { speed, chain: self.chain, ..Health::default() };
    }

    /// Records a failure. Each one in a row doubles the pause.
    pub(super) fn failed(&mut self, now: Timestamp) {
        let doublings = self.failures_in_a_row.min(16);
        let rest = REST_FIRST.saturating_mul(1 << doublings).min(REST_MAX);
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        self.rests_until = now.plus(rest);
    }

    /// Records which chain the node serves.
    pub(super) fn serves(&mut self, chain: Chain) {
        self.chain = chain;
    }

    pub(super) fn chain(self) -> Chain {
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
pub(super) fn order(nodes: &[Health], now: Timestamp) -> Vec<usize> {
    let is_of_another_chain = |node: &Health| node.chain == Chain::Another;
    let rested = nodes.iter().filter(|it| !it.is_resting(now) && !is_of_another_chain(it));
    let quickest = rested.filter_map(|it| it.speed_at(now)).min();
    let is_slow = |node: Health| match (node.speed_at(now), quickest) {
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
