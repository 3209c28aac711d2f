//! Settles a hold: charges the cost of the work and releases the rest.

use moment::Timestamp;
use money::{Cost, Nano};

use crate::account::SystemKind;
use crate::command::{AMOUNT_MAX, HoldKind};
use crate::funds::{Chosen, Funds, Headroom, choose};
use crate::group::{Group, Sign};
use crate::hold::Hold;
use crate::id::{EntryId, HoldId};
use crate::ledger::Ledger;
use crate::limit::{KeyStamp, LimitClass};
use crate::outcome::{Applied, Outcome, Receipt};
use crate::record::{HeldKey, Record, TransferCode};
use crate::rejection::Rejection;

impl Ledger {
    pub(crate) fn settle(
        &mut self,
        entry: EntryId,
        id: HoldId,
        cost: Cost,
        now: Timestamp,
    ) -> Result<Applied, Rejection> {
        self.refuse_duplicate(entry)?;
        let hold = self.holds.get(&id).ok_or(Rejection::NoSuchHold)?;
        // A negative cost would credit the caller. A refused settle leaves the hold open, to be
        // released.
        let is_amount = |amount| Nano::ZERO <= amount && amount <= AMOUNT_MAX;
        if !is_amount(cost.usd) || !is_amount(cost.diem) {
            return Err(Rejection::InvalidAmount);
        }
        #[cfg(test)]
        let cost = self.mutant.cost(cost);
        let Chosen { mut legs, missing } = choose(&hold.legs, Headroom::BOUNDLESS, cost);
        #[cfg(test)]
        let missing = self.mutant.beyond(missing, &mut legs);
        let (extension, openings) = self.extend(hold, missing, now);
        let written_off = extension.missing.usd;
        legs.extend(extension.legs);

        let stamp = hold.key.as_ref().map(|key| key.stamp.not_after(now));
        #[cfg(test)]
        let stamp = self.mutant.stamp(stamp, now);
        let mut group = Group::with_key(entry, now, stamp);
        if hold.kind == HoldKind::Job {
            group.push(Record::JobHoldEnded { hold: id, legs: hold.legs.clone() });
        }
        for record in openings {
            group.push(record);
        }
        for leg in &legs {
            group.take(TransferCode::Charge, *leg, SystemKind::Revenue);
        }
        group.rebook(SystemKind::Writeoff, SystemKind::Revenue, written_off);
        group.count_for_key(&legs, Sign::Spent);

        let owner = hold.owner;
        if hold.kind == HoldKind::Request {
            self.end(id);
        }
        let records = self.commit(group.into_records());
        let remaining = self.balances(owner, now);
        let receipt = Receipt { charge: entry, legs, written_off, remaining };
        Ok(self.applied(entry, records, Outcome::Settled(receipt)))
    }

    /// Finds the part of the cost beyond the hold: the legs to charge, and the records of the lots
    /// that this opens.
    fn extend(&self, hold: &Hold, beyond: Cost, now: Timestamp) -> (Chosen, Vec<Record>) {
        if beyond.is_nothing() {
            return (Chosen { legs: Vec::new(), missing: Cost::ZERO }, Vec::new());
        }
        let Funds { sources, openings } = self.funds(hold.owner, now);
        let headroom = self.extension_headroom(hold.key.as_ref(), now);
        let chosen = choose(&sources, headroom, beyond);
        let mut records = Vec::new();
        for opening in &openings {
            opening.write(&mut records, now);
        }
        (chosen, records)
    }

    /// The amounts that the key's limits leave for charges beyond the hold. None for a limited
    /// class if the hold's period is over: after a restart nothing could be checked against that
    /// limit.
    fn extension_headroom(&self, key: Option<&HeldKey>, now: Timestamp) -> Headroom {
        let headroom = self.headroom(key);
        let Some(HeldKey { terms, stamp }) = key else { return headroom };
        let current = KeyStamp::at(terms.key, now).period_number(terms.period);
        let is_over = stamp.period_number(terms.period) != current;
        let left = |class, amount| {
            let is_limited = terms.limit(class).is_some();
            if is_over && is_limited { Nano::ZERO } else { amount }
        };
        Headroom {
            usd: left(LimitClass::Usd, headroom.usd),
            diem: left(LimitClass::Diem, headroom.diem),
        }
    }
}
