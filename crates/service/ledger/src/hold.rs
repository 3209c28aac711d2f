//! Holds of requests: money set aside in memory before work starts.

use std::fmt;
use std::sync::Arc;

use ledger_core::{CommandOutcome, CreditCommand, EntryId, HoldId, HoldKind, HoldPayer, HoldRange};
use money::{CurrencyFunds, Nano};

use crate::error::HoldRefused;
use crate::state::{Ledger, LedgerInner, UNSETTLED_MAX};

/// Money held for one piece of work. `settle` and `release` consume it, so neither can happen
/// twice; dropping it releases it.
#[must_use = "a hold that is not kept is released at once"]
pub struct RequestHold {
    pub(crate) id: HoldId,
    pub(crate) payer: HoldPayer,
    pub(crate) means: CurrencyFunds,
    pub(crate) generation: u64,
    shared: Arc<LedgerInner>,
    is_open: bool,
}

impl Ledger {
    /// Holds money, or says what is lacking. Kept in memory only: a crash ends the request, and the
    /// hold with it, so there is nothing to write.
    pub fn hold(&self, payer: HoldPayer, want: HoldRange) -> Result<RequestHold, HoldRefused> {
        let id = HoldId(self.shared.fresh_id());
        if !self.shared.store.can_write() {
            return Err(HoldRefused::Unavailable);
        }
        let mut live = self.shared.lock();
        if UNSETTLED_MAX <= live.core.open_holds() + self.shared.in_flight() {
            return Err(HoldRefused::Unavailable);
        }
        let command = CreditCommand::Hold { hold: id, payer, want, kind: HoldKind::Request };
        let carried_out =
            self.shared.apply_and_write(&mut live, &command, Vec::new(), |_, _, _| {});
        let (applied, watched) = carried_out?;
        if let Some(opened) = watched {
            // The first hold of a day opens the day's allowance. If that write is lost, the settle
            // after it is lost too, and reports the error.
            opened.leave_to_ledger(&mut live.unwatched);
        }
        let CommandOutcome::Held(held) = applied.outcome else {
            unreachable!("a hold is answered by what was held");
        };
        let (shared, generation) = (Arc::clone(&self.shared), live.generation);
        Ok(RequestHold { id, payer, means: held.means, generation, shared, is_open: true })
    }

    /// Releases the held money; nothing is charged.
    pub fn release(&self, hold: RequestHold) {
        drop(hold);
    }
}

impl RequestHold {
    /// The amounts held, by currency. Work that costs no more needs no further check.
    pub fn means(&self) -> CurrencyFunds {
        self.means
    }

    /// The sum held over all currencies.
    pub fn amount(&self) -> Nano {
        self.means.total()
    }

    /// The id of the charge if the hold is settled.
    pub fn charge_id(&self) -> EntryId {
        EntryId(self.id.0)
    }

    pub fn payer(&self) -> &HoldPayer {
        &self.payer
    }

    /// Marks the hold as ended or unknown to the core, so that dropping it releases nothing.
    pub(crate) fn close(&mut self) {
        self.is_open = false;
    }
}

impl Drop for RequestHold {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        let mut live = self.shared.lock();
        if live.generation != self.generation {
            return;
        }
        let now = live.advance_time(self.shared.now());
        let released = live.core.apply(&CreditCommand::Release { hold: self.id }, now);
        debug_assert!(released.is_ok(), "an open hold is known to the core");
    }
}

impl fmt::Debug for RequestHold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("id", &self.id).field("means", &self.means).finish()
    }
}
