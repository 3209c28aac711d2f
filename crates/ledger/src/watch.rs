//! Groups that are being committed, also when the task that waits for one is dropped.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use store::Commit;

use crate::error::LedgerError;
use crate::live::Shared;
use crate::uncharged::UnchargedWork;
use crate::unconfirmed::CreditGroup;

/// Resolves when a group is durable, or lost. If this is dropped before, the group is written all
/// the same, and the ledger waits for it instead.
#[must_use = "the group is not known to be durable until this resolves"]
pub(crate) struct Watched {
    shared: Arc<Shared>,
    group: Option<UnwatchedGroup>,
}

/// A group that no task waits for.
pub(crate) struct UnwatchedGroup {
    commit: Commit,
    /// The work that goes uncharged if the group is lost.
    work: Option<UnchargedWork>,
    /// The credits that balances leave out until the group is durable.
    credits: Option<CreditGroup>,
}

impl Watched {
    pub(crate) fn new(shared: Arc<Shared>, commit: Commit) -> Watched {
        Watched { shared, group: Some(UnwatchedGroup { commit, work: None, credits: None }) }
    }

    /// Takes over a group that was left to the ledger.
    pub(crate) fn again(shared: Arc<Shared>, group: UnwatchedGroup) -> Watched {
        Watched { shared, group: Some(group) }
    }

    /// Records the work as uncharged if the group is lost.
    pub(crate) fn charging(mut self, work: Option<UnchargedWork>) -> Watched {
        if let Some(group) = &mut self.group {
            group.work = work;
        }
        self
    }

    /// Adds these credits to balances once the group is durable.
    pub(crate) fn crediting(mut self, credits: Option<CreditGroup>) -> Watched {
        if let Some(group) = &mut self.group {
            group.credits = credits;
        }
        self
    }

    /// Leaves the group to the ledger, if no task needs to wait for it.
    pub(crate) fn leave(mut self, unwatched: &mut Vec<UnwatchedGroup>) {
        unwatched.extend(self.group.take());
    }
}

impl Future for Watched {
    type Output = Result<(), LedgerError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(group) = &mut self.group else {
            return Poll::Ready(Err(LedgerError::Unavailable));
        };
        let Poll::Ready(outcome) = group.commit.as_mut().poll(context) else {
            return Poll::Pending;
        };
        let (work, credits) = self.group.take().map_or((None, None), |it| (it.work, it.credits));
        if let (Ok(()), Some(credits)) = (&outcome, credits) {
            self.shared.lock().unconfirmed.confirm(credits);
        }
        let resolved = self.shared.resolved(outcome);
        if let (Err(error), Some(work)) = (&resolved, work) {
            work.note(error);
        }
        Poll::Ready(resolved)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(group) = self.group.take() {
            self.shared.lock().unwatched.push(group);
        }
    }
}
