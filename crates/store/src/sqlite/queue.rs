//! The groups that wait for the writer, in the order in which they were handed in.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::write::Group;

/// The writer drains everything at once, so a queue this long means a disk that has stopped.
pub(crate) const QUEUED_GROUPS_MAX: usize = 65_536;

/// A `std::sync::Mutex`, because pushing must not wait for anything but another push: the ledger
/// pushes while it holds its own lock, so that the journal has the order of the decisions.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Waiting>,
    is_closed: bool,
    /// Waking costs a system call, so it is left out where nobody sleeps.
    is_writer_asleep: bool,
}

#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) group: Group,
    pub(crate) done: oneshot::Sender<Result<(), StoreError>>,
}

impl Queue {
    pub(crate) fn push(
        &self,
        group: Group,
    ) -> Result<oneshot::Receiver<Result<(), StoreError>>, StoreError> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(StoreError::Closed);
        }
        if QUEUED_GROUPS_MAX <= state.waiting.len() {
            return Err(StoreError::Busy);
        }
        let (done, receiver) = oneshot::channel();
        state.waiting.push(Waiting { group, done });
        let wakes = std::mem::take(&mut state.is_writer_asleep);
        drop(state);
        if wakes {
            self.filled.notify_one();
        }
        Ok(receiver)
    }

    /// Waits for work and takes all of it; `None` once the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<Vec<Waiting>> {
        let mut state = self.lock();
        loop {
            if !state.waiting.is_empty() {
                return Some(std::mem::take(&mut state.waiting));
            }
            if state.is_closed {
                return None;
            }
            state.is_writer_asleep = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No more groups are taken in; those that wait are still written.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_one();
    }

    /// Forgets what waits, which tells each waiter that the store is closed.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.waiting.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
