//! Limits and blocks of callers without a credential, known by their address alone.
//!
//! Callers with an account or a wallet are counted by one node, their home. Others may call any
//! node, so nodes count them together in Redis if it is configured, and separately otherwise.

use std::sync::Arc;

use domain::limits::shares::{ShareDecision, SharedCounts, WindowShares};
use domain::limits::tiers::MinuteLimits;
use domain::limits::window::{ExceededLimit, LimitSubject, RateLimitStatus, WindowLimiter};
use moment::Timestamp;

use crate::principal::Principal;

/// The shared counts. Default: none, each node counts by itself.
#[derive(Default)]
pub struct AnonymousLimits {
    shares: WindowShares,
    counts: Option<Arc<dyn SharedCounts>>,
}

impl AnonymousLimits {
    pub fn counted_with(counts: Option<Arc<dyn SharedCounts>>) -> AnonymousLimits {
        AnonymousLimits { shares: WindowShares::default(), counts }
    }

    /// Counts a request of an address, in the shared counts if there are any, else in `limiter`.
    /// May wait for the shared count, for some milliseconds.
    pub async fn admit(
        &self,
        limiter: &WindowLimiter,
        subject: LimitSubject,
        allowed: MinuteLimits,
        now: Timestamp,
    ) -> Result<RateLimitStatus, ExceededLimit> {
        let AnonymousLimits { shares, counts } = self;
        let Some(counts) = counts else {
            return limiter.admit(subject, allowed, 0, now).map(|it| it.standing);
        };
        let nodes = counts.node_count();
        match shares.try_admit(subject, allowed, now, nodes) {
            ShareDecision::Decided(decided) => decided,
            ShareDecision::Ask(ask) => {
                let total = counts.add(&ask.name, ask.many).await;
                shares.admit_with_total(&ask, total, allowed, now, nodes)
            }
        }
    }

    /// Tells other nodes that an address is blocked.
    pub(crate) fn publish_block(&self, principal: Principal, until: Timestamp) {
        if let (Principal::Address(address), Some(counts)) = (principal, &self.counts) {
            counts.announce_block(address, until);
        }
    }
}
