//! Limits and blocks of strangers: callers without a credential, known by their address alone.
//!
//! Callers with an account or a wallet are counted by one node, their home. Strangers come to any
//! node, so nodes count them together in Redis where it is configured, and each by itself
//! otherwise.

use std::sync::Arc;

use domain::limits::shares::{SharedCounts, Shares, Taking};
use domain::limits::tiers::Allowed;
use domain::limits::window::{Exceeded, Standing, Subject};
use moment::Timestamp;

use crate::app::App;
use crate::caller::Principal;

/// What is counted together with other nodes; nothing by default.
#[derive(Default)]
pub struct Strangers {
    shares: Shares,
    counts: Option<Arc<dyn SharedCounts>>,
}

impl Strangers {
    pub fn counted_with(counts: Option<Arc<dyn SharedCounts>>) -> Strangers {
        Strangers { shares: Shares::default(), counts }
    }
}

impl App {
    /// Counts a request of an address. It may wait for the common count, some milliseconds at most.
    pub(crate) async fn admit_stranger(
        &self,
        subject: Subject,
        allowed: Allowed,
        now: Timestamp,
    ) -> Result<Standing, Exceeded> {
        let Strangers { shares, counts } = &self.strangers;
        let Some(counts) = counts else {
            return self.limiter.admit(subject, allowed, 0, now).map(|it| it.standing);
        };
        let nodes = counts.nodes();
        match shares.take(subject, allowed, now, nodes) {
            Taking::Decided(decided) => decided,
            Taking::Ask(ask) => {
                let total = counts.add(&ask.name, ask.many).await;
                shares.taken(&ask, total, allowed, (now, nodes))
            }
        }
    }

    /// Counts a failure, and tells other nodes of an address that is blocked from now on.
    pub(crate) fn note_failure(&self, principal: Principal, now: Timestamp) {
        if !self.settings.blocks_failures {
            return;
        }
        if let Some(until) = self.failures.count(principal, now)
            && let (Principal::Address(address), Some(counts)) = (principal, &self.strangers.counts)
        {
            counts.tell_blocked(address, until);
        }
    }
}
