//! Raises of holds: more money set aside while the work goes on.

use ledger_core::{CommandOutcome, CreditCommand, HoldRange};
use money::CurrencyFunds;

use crate::hold::RequestHold;
use crate::settle::renew_hold;
use crate::state::Ledger;

impl Ledger {
    /// Adds to a hold as much of `want` as is available, and returns all that is then held. Nothing
    /// is added while the ledger cannot hold money. In memory only, like the hold itself.
    pub fn raise(&self, hold: &mut RequestHold, want: HoldRange) -> CurrencyFunds {
        if !self.shared.store.can_write() {
            return hold.means;
        }
        let mut live = self.shared.lock();
        if live.generation != hold.generation {
            // The core was reloaded since and does not know the hold.
            if renew_hold(&self.shared, &mut live, hold).is_err() {
                return hold.means;
            }
            hold.generation = live.generation;
        }
        let command = CreditCommand::Raise { hold: hold.id, want };
        let raised = self.shared.apply_and_write(&mut live, &command, Vec::new(), |_, _, _| {});
        let Ok((applied, watched)) = raised else { return hold.means };
        if let Some(opened) = watched {
            opened.leave_to_ledger(&mut live.unwatched);
        }
        if let CommandOutcome::Held(held) = applied.outcome {
            hold.means = held.means;
        }
        hold.means
    }
}
