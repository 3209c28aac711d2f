//! Which node to try first: those that fail rest for a while and are then tried last, those that
//! are slow come after those that are quick, and those of another chain are not tried at all.

use std::time::Duration;

use moment::Timestamp;

const REST_FIRST: Duration = Duration::from_secs(1);
const REST_MAX: Duration = Duration::from_secs(60);
/// While one request tries a node that was resting, the others keep away from it this long.
const PROBE: Duration = Duration::from_secs(5);
/// A node that is not asked is not measured, so what is known of its speed grows old; then it is
/// tried in its place again.
const SPEED_KEPT: Duration = Duration::from_secs(60);
/// Differences below this are noise, and no reason to leave the operator's order.
const SLOWNESS_MIN: Duration = Duration::from_millis(100);

/// How one node has been doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Health {
    failures_in_a_row: u32,
    rests_until: Timestamp,
    speed: Option<Speed>,
    chain: Chain,
}

/// What a node said about its chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Chain {
    /// Nothing yet: it must say before any answer of it is used.
    #[default]
    Untold,
    Right,
    Another,
}

/// How long answers take: each new one counts for a quarter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Speed {
    average: Duration,
    noted_at: Timestamp,
}

impl Health {
    /// A request is about to be sent. Only of a node that has failed does it matter when.
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

    /// Each failure in a row doubles the rest.
    pub(super) fn failed(&mut self, now: Timestamp) {
        let doublings = self.failures_in_a_row.min(16);
        let rest = REST_FIRST.saturating_mul(1 << doublings).min(REST_MAX);
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        self.rests_until = now.plus(rest);
    }

    /// The node said which chain it serves.
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

/// The nodes of the right chain by position: the rested ones as configured, but slow ones last,
/// then the resting ones, soonest awake first. When all are bad, all are still tried.
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
