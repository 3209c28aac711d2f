//! A network's counters. Each is looked up in the metrics registry only once: the lookup by name
//! and labels allocates, which every request would pay for.

use std::sync::OnceLock;

use metrics::Counter;

use crate::networks::RpcNetwork;

/// The counters that every request increments. A counter is registered when it is first used.
pub(super) struct NetworkCounters {
    network: RpcNetwork,
    answered: OnceLock<Counter>,
    failed: OnceLock<Counter>,
    credits: OnceLock<Counter>,
}

impl NetworkCounters {
    pub(super) fn new(network: RpcNetwork) -> NetworkCounters {
        let (answered, failed, credits) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        NetworkCounters { network, answered, failed, credits }
    }

    pub(super) fn count_answered(&self) {
        self.answered.get_or_init(|| self.build_request_counter("answered")).increment(1);
    }

    pub(super) fn count_failed(&self) {
        self.failed.get_or_init(|| self.build_request_counter("failed")).increment(1);
    }

    pub(super) fn count_credits(&self, credits: u32) {
        let network = self.network.slug();
        let counter = || metrics::counter!("rpc_credits_total", "network" => network);
        self.credits.get_or_init(counter).increment(u64::from(credits));
    }

    fn build_request_counter(&self, outcome: &'static str) -> Counter {
        let network = self.network.slug();
        metrics::counter!(
            "rpc_upstream_requests_total", "network" => network, "outcome" => outcome,
        )
    }
}
