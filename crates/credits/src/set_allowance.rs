//! Changes the amount that an owner gets each period.

use moment::Timestamp;
use money::Nano;

use crate::account::SystemKind;
use crate::allowance::AllowanceKind;
use crate::charge::Leg;
use crate::command::AMOUNT_MAX;
use crate::group::Group;
use crate::id::{EntryId, OwnerId};
use crate::ledger::Ledger;
use crate::outcome::{Applied, Outcome};
use crate::record::{Record, TransferCode};
use crate::rejection::Rejection;

impl Ledger {
    pub(crate) fn set_allowance(
        &mut self,
        entry: EntryId,
        owner: OwnerId,
        kind: AllowanceKind,
        amount: Nano,
        now: Timestamp,
    ) -> Result<Applied, Rejection> {
        if amount.is_negative() || AMOUNT_MAX < amount {
            return Err(Rejection::InvalidAmount);
        }
        self.refuse_duplicate(entry)?;
        let mut group = Group::new(entry, now);
        group.push(Record::AllowanceSet { entry, owner, kind, amount, at: now });
        let current = kind.lot(owner, kind.period(now));
        if let Some(lot) = self.lot(&current) {
            let more = amount.saturating_sub(lot.granted).max(Nano::ZERO);
            let less = lot.granted.saturating_sub(amount).max(Nano::ZERO);
            let taken = less.min(lot.available());
            let given = Leg { lot: current, amount: more };
            group.give(TransferCode::Grant, given, SystemKind::Issuance);
            let taken = Leg { lot: current, amount: taken };
            group.take(TransferCode::TakeBack, taken, SystemKind::Issuance);
        }
        let records = self.commit(group.into_records());
        let outcome = Outcome::AllowanceSet(self.balances(owner, now));
        Ok(self.applied(entry, records, outcome))
    }
}
