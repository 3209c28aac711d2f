//! The queue of groups for the writer, in the order in which they were handed in.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::write::WriteGroup;

/// The writer drains everything at once, so a queue this long means that the disk has stopped.
pub(crate) const QUEUED_GROUPS_MAX: usize = 65_536;

/// A `std::sync::Mutex`, because a push must wait for nothing but another push: the ledger pushes
/// while it holds its own lock, so that the journal has the order of its decisions.
#[derive(Debug, Default)]
pub(crate) struct SqliteQueue {
    state: Mutex<SqliteQueueState>,
    filled: Condvar,
    /// Set by the writer, under the lock, before it sleeps, and cleared by the task that wakes it.
    /// Waking costs a system call, which is skipped while the writer is awake.
    is_writer_asleep: AtomicBool,
}

#[derive(Debug, Default)]
struct SqliteQueueState {
    waiting: Vec<QueuedGroup>,
    is_closed: bool,
}

#[derive(Debug)]
pub(crate) struct QueuedGroup {
    pub(crate) group: WriteGroup,
    pub(crate) done: oneshot::Sender<Result<(), StoreError>>,
}

/// The result of taking from the queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum QueueTake {
    Groups,
    /// The wait timed out.
    Nothing,
    /// The queue is closed and empty.
    End,
}

type Outcome = Result<(), StoreError>;

/// A group in the queue. The writer is woken when this is first polled, or dropped. So a push under
/// a lock takes well under a microsecond, and the wake-up happens after the unlock.
#[derive(Debug)]
pub(crate) struct QueuedCommit {
    queue: Arc<SqliteQueue>,
    done: Result<oneshot::Receiver<Outcome>, StoreError>,
    is_told: bool,
}

impl SqliteQueue {
    pub(crate) fn push(self: &Arc<SqliteQueue>, group: WriteGroup) -> QueuedCommit {
        let (done, receiver) = oneshot::channel();
        let refused = self.add(QueuedGroup { group, done }).err();
        let done = refused.map_or(Ok(receiver), Err);
        QueuedCommit { queue: Arc::clone(self), done, is_told: false }
    }

    fn add(&self, waiting: QueuedGroup) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(StoreError::Closed);
        }
        if QUEUED_GROUPS_MAX <= state.waiting.len() {
            return Err(StoreError::Busy);
        }
        state.waiting.push(waiting);
        Ok(())
    }

    /// Waits for groups, up to `wait_max` if given, and takes all of them. Swaps in `emptied`, so
    /// that the new list need not grow while pushes wait.
    pub(crate) fn take(
        &self,
        emptied: &mut Vec<QueuedGroup>,
        wait_max: Option<Duration>,
    ) -> QueueTake {
        let mut state = self.lock();
        loop {
            if !state.waiting.is_empty() {
                std::mem::swap(&mut state.waiting, emptied);
                return QueueTake::Groups;
            }
            if state.is_closed {
                return QueueTake::End;
            }
            self.is_writer_asleep.store(true, Ordering::SeqCst);
            let Some(wait_max) = wait_max else {
                state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let waited = self.filled.wait_timeout(state, wait_max);
            let (woken, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if waited.timed_out() && state.waiting.is_empty() && !state.is_closed {
                self.is_writer_asleep.store(false, Ordering::SeqCst);
                return QueueTake::Nothing;
            }
        }
    }

    /// Refuses further groups; those that wait are still written.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_one();
    }

    /// Drops the waiting groups, whose futures then resolve to [`StoreError::Closed`].
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.waiting.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Wakes the writer if it sleeps. The flag was set under the lock that the push took
    /// afterwards, so a writer that fell asleep before the push is seen here, and one that falls
    /// asleep after it has seen the group.
    ///
    /// The writer sets the flag before it sleeps. A task that cleared it in between, for a group
    /// that was taken long ago, would wake no thread, and no later push would either. Taking the
    /// lock prevents that: it is free only once the writer can be woken.
    fn wake_writer(&self) {
        let is_asleep = self.is_writer_asleep.load(Ordering::SeqCst);
        if is_asleep && self.is_writer_asleep.swap(false, Ordering::SeqCst) {
            drop(self.lock());
            self.filled.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, SqliteQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuedCommit {
    fn wake_writer_once(&mut self) {
        if !self.is_told {
            self.is_told = true;
            self.queue.wake_writer();
        }
    }
}

/// Resolves once the group is durable, or will never be.
impl Future for QueuedCommit {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        self.wake_writer_once();
        match &mut self.done {
            Ok(done) => {
                let outcome = ready!(Pin::new(done).poll(context));
                Poll::Ready(outcome.unwrap_or(Err(StoreError::Closed)))
            }
            Err(error) => Poll::Ready(Err(error.clone())),
        }
    }
}

impl Drop for QueuedCommit {
    fn drop(&mut self) {
        self.wake_writer_once();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;

    const ROUNDS: usize = 200_000;
    const ANSWER_MAX: Duration = Duration::from_secs(5);

    /// A task may wake the writer for a group that was taken long ago, just as the writer falls
    /// asleep.
    #[test]
    fn a_late_word_does_not_keep_the_writer_asleep() {
        let queue = Arc::new(SqliteQueue::default());
        let taken_from = Arc::clone(&queue);
        let writer = thread::spawn(move || {
            let mut batch = Vec::new();
            while taken_from.take(&mut batch, None) == QueueTake::Groups {
                for waiting in batch.drain(..) {
                    let _ = waiting.done.send(Ok(()));
                }
            }
        });
        for round in 0..ROUNDS {
            let mut late = queue.push(WriteGroup::default());
            let mut first = queue.push(WriteGroup::default());
            first.wake_writer_once();
            wait_for(&mut first, round);
            for _ in 0..round % 256 {
                std::hint::spin_loop();
            }
            late.wake_writer_once();
            let mut next = queue.push(WriteGroup::default());
            next.wake_writer_once();
            wait_for(&mut next, round);
        }
        queue.close();
        writer.join().unwrap();
    }

    #[track_caller]
    fn wait_for(pushed: &mut QueuedCommit, round: usize) {
        let started = Instant::now();
        let done = pushed.done.as_mut().unwrap();
        while done.try_recv().is_err() {
            assert!(started.elapsed() < ANSWER_MAX, "the writer sleeps on in round {round}");
            thread::yield_now();
        }
    }
}
