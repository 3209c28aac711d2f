//! The queue of groups for the writer, in the order in which they were handed in.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use store::CommitFuture;
use store::error::StoreError;
use store::write::WriteGroup;
use tokio::sync::{mpsc, oneshot};

/// The writer takes thousands at a time, so a queue this long means that the database has stopped.
const QUEUED_GROUPS_MAX: usize = 65_536;

pub(crate) struct WaitingGroup {
    pub(crate) group: WriteGroup,
    pub(crate) done: oneshot::Sender<Result<(), StoreError>>,
    since: Instant,
}

/// The sending half. Dropping it ends the queue; waiting groups are still written.
pub(crate) struct GroupQueue {
    sender: mpsc::UnboundedSender<WaitingGroup>,
    len: Arc<AtomicUsize>,
}

/// The receiving half, for the writer.
pub(crate) struct QueueReceiver {
    receiver: mpsc::UnboundedReceiver<WaitingGroup>,
    /// Groups read from the channel and not yet taken, oldest first.
    read: VecDeque<WaitingGroup>,
    len: Arc<AtomicUsize>,
}

pub(crate) fn create_queue() -> (GroupQueue, QueueReceiver) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let len = Arc::new(AtomicUsize::new(0));
    (
        GroupQueue { sender, len: Arc::clone(&len) },
        QueueReceiver { receiver, read: VecDeque::new(), len },
    )
}

impl GroupQueue {
    /// Never blocks: the ledger pushes while it holds its own lock, so that the journal has the
    /// order of its decisions.
    pub(crate) fn push(&self, group: WriteGroup) -> CommitFuture {
        if QUEUED_GROUPS_MAX <= self.len.fetch_add(1, Ordering::SeqCst) {
            self.len.fetch_sub(1, Ordering::SeqCst);
            return Box::pin(async { Err(StoreError::Busy) });
        }
        let (done, outcome) = oneshot::channel();
        if self.sender.send(WaitingGroup { group, done, since: Instant::now() }).is_err() {
            return Box::pin(async { Err(StoreError::Closed) });
        }
        Box::pin(async move { outcome.await.unwrap_or(Err(StoreError::Closed)) })
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::SeqCst)
    }
}

impl QueueReceiver {
    /// Waits for groups and takes at most `groups_max`; empty once the queue has ended.
    pub(crate) async fn take(&mut self, groups_max: usize) -> Vec<WaitingGroup> {
        let mut taken = Vec::new();
        if self.read.is_empty() {
            self.receiver.recv_many(&mut taken, groups_max).await;
        } else {
            taken.extend(self.read.drain(..groups_max.min(self.read.len())));
        }
        self.len.fetch_sub(taken.len(), Ordering::SeqCst);
        taken
    }

    /// Fails the groups that have waited for longer than `age_max`: they were never sent, so they
    /// are definitely not written.
    pub(crate) fn fail_overdue(&mut self, age_max: Duration, error: &StoreError) {
        while let Ok(waiting) = self.receiver.try_recv() {
            self.read.push_back(waiting);
        }
        while let Some(overdue) = self.read.pop_front_if(|it| age_max < it.since.elapsed()) {
            self.len.fetch_sub(1, Ordering::SeqCst);
            // A waiter that was dropped does not need the outcome.
            let _ = overdue.done.send(Err(error.clone()));
        }
    }
}
