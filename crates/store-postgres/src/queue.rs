//! The queue of groups for the writer, in the order in which they were handed in.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use store::Commit;
use store::error::StoreError;
use store::write::Group;
use tokio::sync::{mpsc, oneshot};

/// The writer takes thousands at a time, so a queue this long means that the database has stopped.
const QUEUED_GROUPS_MAX: usize = 65_536;

pub(crate) struct Waiting {
    pub(crate) group: Group,
    pub(crate) done: oneshot::Sender<Result<(), StoreError>>,
}

/// The sending half. Dropping it ends the queue; waiting groups are still written.
pub(crate) struct Queue {
    sender: mpsc::UnboundedSender<Waiting>,
    len: Arc<AtomicUsize>,
}

/// The receiving half, for the writer.
pub(crate) struct Arrivals {
    receiver: mpsc::UnboundedReceiver<Waiting>,
    len: Arc<AtomicUsize>,
}

pub(crate) fn queue() -> (Queue, Arrivals) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let len = Arc::new(AtomicUsize::new(0));
    (Queue { sender, len: Arc::clone(&len) }, Arrivals { receiver, len })
}

impl Queue {
    /// Never blocks: the ledger pushes while it holds its own lock, so that the journal has the
    /// order of its decisions.
    pub(crate) fn push(&self, group: Group) -> Commit {
        if QUEUED_GROUPS_MAX <= self.len.fetch_add(1, Ordering::SeqCst) {
            self.len.fetch_sub(1, Ordering::SeqCst);
            return Box::pin(async { Err(StoreError::Busy) });
        }
        let (done, outcome) = oneshot::channel();
        if self.sender.send(Waiting { group, done }).is_err() {
            return Box::pin(async { Err(StoreError::Closed) });
        }
        Box::pin(async move { outcome.await.unwrap_or(Err(StoreError::Closed)) })
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::SeqCst)
    }
}

impl Arrivals {
    /// Waits for groups and takes at most `groups_max`; empty once the queue has ended.
    pub(crate) async fn take(&mut self, groups_max: usize) -> Vec<Waiting> {
        let mut taken = Vec::new();
        self.receiver.recv_many(&mut taken, groups_max).await;
        self.len.fetch_sub(taken.len(), Ordering::SeqCst);
        taken
    }
}
