//! The identity of this process among the nodes. Its epoch changes when the process was declared
//! dead and registers again.

use tokio::sync::watch;
use tokio::time::Instant;

use crate::node::NodeIdentity;

/// An identity, and a moment before it was registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DatedIdentity {
    pub(crate) identity: NodeIdentity,
    pub(crate) since: Instant,
}

/// The current identity of this process.
#[derive(Debug)]
pub(crate) struct CurrentIdentity(watch::Sender<DatedIdentity>);

impl CurrentIdentity {
    pub(crate) fn new(tenure: DatedIdentity) -> CurrentIdentity {
        CurrentIdentity(watch::Sender::new(tenure))
    }

    pub(crate) fn identity(&self) -> NodeIdentity {
        self.0.borrow().identity
    }

    /// Replaces the identity. Decisions made under the previous one must not be handed in after
    /// this.
    pub(crate) fn replace(&self, tenure: DatedIdentity) {
        self.0.send_replace(tenure);
    }

    /// Waits for the identity after `known`.
    pub(crate) async fn next(&self, known: NodeIdentity) -> DatedIdentity {
        let mut tenures = self.0.subscribe();
        let next = tenures.wait_for(|tenure| tenure.identity != known).await;
        // Cannot fail: the sender is in `self`.
        *next.expect("the seat outlives whoever waits for it")
    }
}
