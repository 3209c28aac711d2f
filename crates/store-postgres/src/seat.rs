//! The identity of this process among the nodes. Its epoch changes when the process was declared
//! dead and registers again.

use tokio::sync::watch;
use tokio::time::Instant;

use crate::node::Identity;

/// An identity, and a moment before it was registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeTenure {
    pub(crate) identity: Identity,
    pub(crate) since: Instant,
}

/// The current identity of this process.
#[derive(Debug)]
pub(crate) struct NodeSeat(watch::Sender<NodeTenure>);

impl NodeSeat {
    pub(crate) fn new(tenure: NodeTenure) -> NodeSeat {
        NodeSeat(watch::Sender::new(tenure))
    }

    pub(crate) fn identity(&self) -> Identity {
        self.0.borrow().identity
    }

    /// Replaces the identity. Decisions made under the previous one must not be handed in after
    /// this.
    pub(crate) fn take(&self, tenure: NodeTenure) {
        self.0.send_replace(tenure);
    }

    /// Waits for the identity after `known`.
    pub(crate) async fn next(&self, known: Identity) -> NodeTenure {
        let mut tenures = self.0.subscribe();
        let next = tenures.wait_for(|tenure| tenure.identity != known).await;
        // Cannot fail: the sender is in `self`.
        *next.expect("the seat outlives whoever waits for it")
    }
}
