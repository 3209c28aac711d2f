//! The money of a call that runs later than it was ordered: quoted when it is ordered, held in the
//! store, and charged by its worker.

use std::sync::{Arc, Mutex, PoisonError};

use ledger::{LedgerJob, WorkCharge};
use ledger_core::{ChargeReceipt, HoldRange};
use money::CurrencyFunds;

/// The money that a call spends.
#[derive(Debug, Clone, Default)]
pub enum CallFunds {
    /// Held for the call while it runs.
    #[default]
    OfRequest,
    /// Nothing is done: the call ends where its money would be held, with the amount in the cell.
    Quote(QuoteCell),
    /// Held in the store before.
    OfJob(JobFunds),
}

/// The amount that a call would hold, once it has been checked.
#[derive(Debug, Clone, Default)]
pub struct QuoteCell(Arc<Mutex<Option<HoldRange>>>);

/// A hold in the store that pays for one call. The call leaves its charge here, and the worker that
/// runs it writes the charge in one transaction with the result.
#[derive(Debug, Clone)]
pub struct JobFunds {
    pub job: LedgerJob,
    pub means: CurrencyFunds,
    charge: Arc<Mutex<Option<WorkCharge>>>,
}

/// The charge of a call, once it is durable.
#[derive(Debug, Clone, Default)]
pub struct ChargedCell(Arc<Mutex<Option<ChargeReceipt>>>);

impl ChargedCell {
    pub(crate) fn set(&self, receipt: &ChargeReceipt) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(receipt.clone());
    }

    pub fn get(&self) -> Option<ChargeReceipt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl QuoteCell {
    pub(crate) fn set(&self, want: HoldRange) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(want);
    }

    pub fn take(&self) -> Option<HoldRange> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl JobFunds {
    pub fn new(job: LedgerJob, means: CurrencyFunds) -> JobFunds {
        JobFunds { job, means, charge: Arc::default() }
    }

    pub(crate) fn leave_charge(&self, charge: WorkCharge) {
        *self.charge.lock().unwrap_or_else(PoisonError::into_inner) = Some(charge);
    }

    /// The charge that the call has left; None while it runs, or if it costs nothing.
    pub fn take_charge(&self) -> Option<WorkCharge> {
        self.charge.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// True once nothing of the call can leave a charge any more.
    pub fn is_settled(&self) -> bool {
        Arc::strong_count(&self.charge) == 1
    }
}
