//! Raises an open hold of a request while its work goes on.

use moment::Timestamp;

use crate::charge::{PaymentLeg, sum_by_currency};
use crate::command::{HoldKind, HoldRange};
use crate::hold_legs::choose_hold_legs;
use crate::id::HoldId;
use crate::ledger::CreditLedger;
use crate::outcome::{AppliedCommand, CommandOutcome, HeldAmounts};
use crate::owner_funds::OwnerFunds;
use crate::rejection::CommandRejection;

impl CreditLedger {
    /// Adds to a hold what is available of `want`. Holds of jobs are in the journal and are not
    /// raised. If the period of the hold's key is over, its limited currencies add nothing.
    pub(crate) fn raise_hold(
        &mut self,
        id: HoldId,
        want: HoldRange,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        want.checked_range()?;
        let open = self.holds.get(&id).filter(|hold| hold.kind == HoldKind::Request);
        let open = open.ok_or(CommandRejection::NoSuchHold)?;
        let OwnerFunds { sources, openings } = self.funds(open.owner, now);
        let key = open.key;
        let headroom = self.extension_headroom(key.as_ref(), now);
        let added = choose_hold_legs(&sources, headroom, want).legs;

        let mut records = Vec::new();
        if !added.is_empty() {
            for opening in &openings {
                opening.write(&mut records, now);
            }
        }
        let records = self.apply_records(records);
        // Only the added legs: ending the hold and making it anew would drop the counters of its
        // period if that is over, with what was spent in it.
        self.set_aside(&added, key.as_ref());
        let hold = self.holds.get_mut(&id).ok_or(CommandRejection::NoSuchHold)?;
        for leg in added {
            add_leg(&mut hold.legs, leg);
        }
        let means = sum_by_currency(&hold.legs);
        let outcome = CommandOutcome::Held(HeldAmounts { hold: id, means });
        Ok(AppliedCommand { records, outcome })
    }
}

/// Adds a leg, joined with that of the same lot.
fn add_leg(legs: &mut Vec<PaymentLeg>, added: PaymentLeg) {
    match legs.iter_mut().find(|leg| leg.lot == added.lot) {
        Some(leg) => leg.amount = leg.amount.saturating_add(added.amount),
        None => legs.push(added),
    }
}
