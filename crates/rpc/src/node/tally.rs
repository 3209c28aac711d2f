//! A network's counters. Each is looked up in the metrics registry only once: the lookup by name
//! and labels allocates, which every request would pay for.

use std::sync::OnceLock;

use metrics::Counter;

use crate::networks::Network;

/// The counters that every request increments. A counter is registered when it is first used.
pub(super) struct Tally {
    network: Network,
    answered: OnceLock<Counter>,
    failed: OnceLock<Counter>,
    credits: OnceLock<Counter>,
}

impl Tally {
    pub(super) fn new(network: Network) -> Tally {
        let (answered, failed, credits) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Tally { network, answered, failed, credits }
    }

    pub(super) fn answered(&self) {
        self.answered.get_or_init(|| self.requests("answered")).increment(1);
    }

    pub(super) fn failed(&self) {
        self.failed.get_or_init(|| self.requests("failed")).increment(1);
    }

    pub(super) fn charged(&self, credits: u32) {
        let network = self.network.slug();
        let counter = || metrics::counter!("rpc_credits_total", "network" => network);
        self.credits.get_or_init(counter).increment(u64::from(credits));
    }

    fn requests(&self, outcome: &'static str) -> Counter {
        let network = self.network.slug();
        metrics::counter!(
            "rpc_upstream_requests_total", "network" => network, "outcome" => outcome,
        )
    }
}
