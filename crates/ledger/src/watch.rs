//! Groups that are being committed, and what happens if the task that waits for one is dropped.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use store::Commit;

use crate::error::LedgerError;
use crate::live::Shared;

/// Resolves when a group is durable, or lost. If it is dropped before, the group is written all
/// the same, and the ledger waits for it instead.
#[must_use = "the group is not known to be durable until this resolves"]
pub(crate) struct Watched {
    shared: Arc<Shared>,
    commit: Option<Commit>,
}

impl Watched {
    pub(crate) fn new(shared: Arc<Shared>, commit: Commit) -> Watched {
        Watched { shared, commit: Some(commit) }
    }

    /// Leaves the group to the ledger: for what nobody waits for.
    pub(crate) fn leave(mut self, unwatched: &mut Vec<Commit>) {
        unwatched.extend(self.commit.take());
    }
}

impl Future for Watched {
    type Output = Result<(), LedgerError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(commit) = &mut self.commit else {
            return Poll::Ready(Err(LedgerError::Unavailable));
        };
        let Poll::Ready(outcome) = commit.as_mut().poll(context) else { return Poll::Pending };
        self.commit = None;
        Poll::Ready(self.shared.resolved(outcome))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(commit) = self.commit.take() {
            self.shared.lock().unwatched.push(commit);
        }
    }
}
