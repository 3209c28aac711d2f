//! Settles a hold: charges the cost of the work and releases the rest.

use moment::Timestamp;
use money::{Nano, WorkCost};

use crate::account::SystemKind;
use crate::command::{AMOUNT_MAX, HoldKind};
use crate::group::{RecordGroup, SpendDirection};
use crate::hold::OpenHold;
use crate::id::{EntryId, HoldId};
use crate::ledger::CreditLedger;
use crate::limit::{KeyStamp, LimitClass};
use crate::outcome::{AppliedCommand, ChargeReceipt, CommandOutcome};
use crate::owner_funds::{ChosenLegs, LimitHeadroom, OwnerFunds, choose_legs};
use crate::record::{HeldKey, JournalRecord, TransferCode};
use crate::rejection::CommandRejection;

impl CreditLedger {
    /// The receipt that settling the hold would give now. Changes nothing.
    pub fn preview_settle(
        &self,
        id: HoldId,
        cost: WorkCost,
        now: Timestamp,
    ) -> Result<ChargeReceipt, CommandRejection> {
        let hold = self.holds.get(&id).ok_or(CommandRejection::NoSuchHold)?;
        let ChosenLegs { mut legs, missing } =
            choose_legs(&hold.legs, LimitHeadroom::BOUNDLESS, cost);
        let (extension, _) = self.choose_beyond_hold(hold, missing, now);
        legs.extend(extension.legs);
        let (charge, written_off) = (EntryId(id.0), extension.missing.usd);
        let remaining = self.balances(hold.owner, now);
        Ok(ChargeReceipt { charge, legs, written_off, remaining })
    }

    pub(crate) fn settle_hold(
        &mut self,
        entry: EntryId,
        id: HoldId,
        cost: WorkCost,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        self.refuse_duplicate(entry)?;
        let hold = self.holds.get(&id).ok_or(CommandRejection::NoSuchHold)?;
        // A negative cost would credit the caller. A refused settle leaves the hold open, to be
        // released.
        let is_amount = |amount| Nano::ZERO <= amount && amount <= AMOUNT_MAX;
        if !is_amount(cost.usd) || !is_amount(cost.diem) {
            return Err(CommandRejection::InvalidAmount);
        }
        #[cfg(test)]
        let cost = self.mutant.alter_cost(cost);
        let ChosenLegs { mut legs, missing } =
            choose_legs(&hold.legs, LimitHeadroom::BOUNDLESS, cost);
        #[cfg(test)]
        let missing = self.mutant.alter_missing(missing, &mut legs);
        let (extension, openings) = self.choose_beyond_hold(hold, missing, now);
        let written_off = extension.missing.usd;
        legs.extend(extension.legs);

        let stamp = hold.key.as_ref().map(|key| key.stamp.not_after(now));
        #[cfg(test)]
        let stamp = self.mutant.alter_stamp(stamp, now);
        let mut group = RecordGroup::with_key(entry, now, stamp);
        if hold.kind == HoldKind::Job {
            group.push(JournalRecord::JobHoldEnded { hold: id, legs: hold.legs.clone() });
        }
        for record in openings {
            group.push(record);
        }
        for leg in &legs {
            group.debit_lot(TransferCode::Charge, *leg, SystemKind::Revenue);
        }
        group.transfer_between_systems(SystemKind::Writeoff, SystemKind::Revenue, written_off);
        group.count_for_key(&legs, SpendDirection::Spent);

        let owner = hold.owner;
        if hold.kind == HoldKind::Request {
            self.end_hold(id);
        }
        let records = self.apply_records(group.into_records());
        let remaining = self.balances(owner, now);
        let receipt = ChargeReceipt { charge: entry, legs, written_off, remaining };
        Ok(self.finish_entry(entry, records, CommandOutcome::Settled(receipt)))
    }

    /// Finds the part of the cost beyond the hold: the legs to charge, and the records of the lots
    /// that this opens.
    fn choose_beyond_hold(
        &self,
        hold: &OpenHold,
        beyond: WorkCost,
        now: Timestamp,
    ) -> (ChosenLegs, Vec<JournalRecord>) {
        if beyond.is_free() {
            return (ChosenLegs { legs: Vec::new(), missing: WorkCost::ZERO }, Vec::new());
        }
        let OwnerFunds { sources, openings } = self.funds(hold.owner, now);
        let headroom = self.extension_headroom(hold.key.as_ref(), now);
        let chosen = choose_legs(&sources, headroom, beyond);
        let mut records = Vec::new();
        for opening in &openings {
            opening.write(&mut records, now);
        }
        (chosen, records)
    }

    /// The amounts that the key's limits leave for charges beyond the hold. None for a limited
    /// class if the hold's period is over: after a restart nothing could be checked against that
    /// limit.
    pub(crate) fn extension_headroom(
        &self,
        key: Option<&HeldKey>,
        now: Timestamp,
    ) -> LimitHeadroom {
        let headroom = self.headroom(key);
        let Some(HeldKey { terms, stamp }) = key else { return headroom };
        let current = KeyStamp::at(terms.key, now).period_number(terms.period);
        let is_over = stamp.period_number(terms.period) != current;
        let left = |class, amount| {
            let is_limited = terms.limit(class).is_some();
            if is_over && is_limited { Nano::ZERO } else { amount }
        };
        LimitHeadroom {
            usd: left(LimitClass::Usd, headroom.usd),
            diem: left(LimitClass::Diem, headroom.diem),
        }
    }
}
