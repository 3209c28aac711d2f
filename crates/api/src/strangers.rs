//! Limits and blocks of callers without a credential, known by their address alone.
//!
//! Callers with an account or a wallet are counted by one node, their home. Others may call any
//! node, so nodes count them together in Redis if it is configured, and separately otherwise.

use std::sync::Arc;

use domain::limits::shares::{SharedCounts, Shares, Taking};
use domain::limits::tiers::Allowed;
use domain::limits::window::{Exceeded, Limiter, Standing, Subject};
use moment::Timestamp;

use crate::principal::Principal;

/// The shared counts. Default: none, each node counts by itself.
#[derive(Default)]
pub struct Strangers {
    shares: Shares,
    counts: Option<Arc<dyn SharedCounts>>,
}

impl Strangers {
    pub fn counted_with(counts: Option<Arc<dyn SharedCounts>>) -> Strangers {
        Strangers { shares: Shares::default(), counts }
    }

    /// Counts a request of an address, in the shared counts if there are any, else in `limiter`.
    /// May wait for the shared count, for some milliseconds.
    pub(crate) async fn admit(
        &self,
        limiter: &Limiter,
        subject: Subject,
        allowed: Allowed,
        now: Timestamp,
    ) -> Result<Standing, Exceeded> {
        let Strangers { shares, counts } = self;
        let Some(counts) = counts else {
            return limiter.admit(subject, allowed, 0, now).map(|it| it.standing);
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

    /// Tells other nodes that an address is blocked.
    pub(crate) fn tell_blocked(&self, principal: Principal, until: Timestamp) {
        if let (Principal::Address(address), Some(counts)) = (principal, &self.counts) {
            counts.tell_blocked(address, until);
        }
    }
}
