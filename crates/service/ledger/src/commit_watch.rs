//! Groups that are being committed, also when the task that waits for one is dropped.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ledger_core::EntryId;
use store::CommitFuture;

use crate::error::LedgerError;
use crate::late_charge::LateCharge;
use crate::state::LedgerInner;
use crate::uncharged_work::UnchargedWork;
use crate::unconfirmed_credits::CreditGroup;

/// Resolves when a group is durable, or lost. If this is dropped before, the group is written all
/// the same, and the ledger waits for it instead.
#[must_use = "the group is not known to be durable until this resolves"]
pub(crate) struct CommitWatch {
    shared: Arc<LedgerInner>,
    group: Option<UnwatchedGroup>,
}

/// A group that no task waits for.
pub(crate) struct UnwatchedGroup {
    commit: CommitFuture,
    /// The work that goes uncharged if the group is lost.
    work: Option<UnchargedWork>,
    /// The credits that balances leave out until the group is durable.
    credits: Option<CreditGroup>,
    /// A charge whose caller was refused meanwhile: refunded if the group is durable.
    late_charge: Option<EntryId>,
}

impl CommitWatch {
    pub(crate) fn new(shared: Arc<LedgerInner>, commit: CommitFuture) -> CommitWatch {
        let group = UnwatchedGroup { commit, work: None, credits: None, late_charge: None };
        CommitWatch { shared, group: Some(group) }
    }

    /// Takes over a group that was left to the ledger.
    pub(crate) fn resume(shared: Arc<LedgerInner>, group: UnwatchedGroup) -> CommitWatch {
        CommitWatch { shared, group: Some(group) }
    }

    /// Records the work as uncharged if the group is lost.
    pub(crate) fn with_uncharged_work(mut self, work: Option<UnchargedWork>) -> CommitWatch {
        if let Some(group) = &mut self.group {
            group.work = work;
        }
        self
    }

    /// Adds these credits to balances once the group is durable.
    pub(crate) fn with_credits(mut self, credits: Option<CreditGroup>) -> CommitWatch {
        if let Some(group) = &mut self.group {
            group.credits = credits;
        }
        self
    }

    /// Leaves the group to the ledger, which refunds the charge if it becomes durable: its caller
    /// does not get what was charged.
    pub(crate) fn refund_if_durable(mut self, charge: EntryId) {
        if let Some(group) = &mut self.group {
            group.late_charge = Some(charge);
        }
    }

    /// Leaves the group to the ledger, if no task needs to wait for it.
    pub(crate) fn leave_to_ledger(mut self, unwatched: &mut Vec<UnwatchedGroup>) {
        unwatched.extend(self.group.take());
    }
}

impl Future for CommitWatch {
    type Output = Result<(), LedgerError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(group) = &mut self.group else {
            return Poll::Ready(Err(LedgerError::Unavailable));
        };
        let Poll::Ready(outcome) = group.commit.as_mut().poll(context) else {
            return Poll::Pending;
        };
        let Some(UnwatchedGroup { work, credits, late_charge, .. }) = self.group.take() else {
            return Poll::Ready(Err(LedgerError::Unavailable));
        };
        if outcome.is_ok() && (credits.is_some() || late_charge.is_some()) {
            let mut live = self.shared.lock();
            if let Some(credits) = credits {
                live.unconfirmed.confirm(credits);
            }
            live.late_charges.extend(late_charge.map(LateCharge::new));
        }
        let resolved = self.shared.finish_group(outcome);
        if let (Err(error), Some(work)) = (&resolved, work) {
            work.record_loss(error);
        }
        Poll::Ready(resolved)
    }
}

impl Drop for CommitWatch {
    fn drop(&mut self) {
        if let Some(group) = self.group.take() {
            self.shared.lock().unwatched.push(group);
        }
    }
}
