//! Refunds a charge, once.

use moment::Timestamp;
use money::Nano;

use crate::account::SystemKind;
use crate::charge::Charge;
use crate::command::{AMOUNT_MAX, ChargeSource};
use crate::group::{Group, Sign};
use crate::id::{EntryId, OwnerId};
use crate::ledger::Ledger;
use crate::outcome::{Applied, Outcome, Refund};
use crate::record::TransferCode;
use crate::rejection::Rejection;

impl Ledger {
    pub(crate) fn refund(
        &mut self,
        charge_entry: EntryId,
        source: &ChargeSource,
        now: Timestamp,
    ) -> Result<Applied, Rejection> {
        let entry = charge_entry.refund();
        #[cfg(test)]
        let entry = self.mutant.refund_entry(entry, now);
        if self.recent.contains(entry) {
            let earlier = self.recent.outcome(entry);
            return Err(Rejection::AlreadyRefunded { earlier });
        }
        let charge = match (self.recent.charge(charge_entry), source) {
            (_, ChargeSource::Part(part)) => part,
            (Some(charge), _) => charge,
            (None, ChargeSource::Journal(charge)) => charge,
            (None, ChargeSource::Recent) => return Err(Rejection::NoSuchCharge),
        };
        let owner = charge.payer()?;

        let stamp = charge.key.map(|stamp| stamp.of_refund(now));
        let mut group = Group::with_key(entry, now, stamp);
        let (mut returned, mut lapsed) = (Vec::new(), Vec::new());
        for leg in &charge.legs {
            group.give(TransferCode::Refund, *leg, SystemKind::Revenue);
            // A closed lot has expired too.
            let is_live = self.lot(&leg.lot).is_some_and(|lot| lot.is_live(now));
            if is_live {
                returned.push(*leg);
            } else {
                group.take(TransferCode::Expiry, *leg, SystemKind::Expired);
                lapsed.push(*leg);
            }
        }
        group.rebook(SystemKind::Revenue, SystemKind::Writeoff, charge.written_off);
        group.count_for_key(&charge.legs, Sign::GivenBack);

        let records = self.commit(group.into_records());
        let remaining = self.balances(owner, now);
        let refund = Refund { entry, returned, lapsed, remaining };
        Ok(self.applied(entry, records, Outcome::Refunded(refund)))
    }
}

impl Charge {
    /// The owner that paid. Refuses a charge without legs, and amounts that no settle could have
    /// charged.
    fn payer(&self) -> Result<OwnerId, Rejection> {
        let first = self.legs.first().ok_or(Rejection::NoSuchCharge)?;
        let in_range = |amount: Nano| Nano::ZERO <= amount && amount <= AMOUNT_MAX;
        let is_sound =
            in_range(self.written_off) && self.legs.iter().all(|leg| in_range(leg.amount));
        if is_sound { Ok(first.lot.owner) } else { Err(Rejection::InvalidAmount) }
    }
}
