//! Makes and releases holds.

use moment::Timestamp;
use money::{Nano, WorkCost};

use crate::charge::{PaymentLeg, sum_by_currency, sum_in_class};
use crate::command::{AMOUNT_MAX, HoldKind, HoldPayer, HoldRange};
use crate::hold_legs::{HoldLegs, choose_hold_legs};
use crate::id::{EntryId, HoldId, OwnerId};
use crate::ledger::CreditLedger;
use crate::limit::{KeyStamp, LimitClass};
use crate::outcome::{AppliedCommand, CommandOutcome, HeldAmounts};
use crate::owner_funds::{LimitHeadroom, choose_legs};
use crate::record::{HeldKey, JobHold, JournalRecord};
use crate::rejection::CommandRejection;

/// Bound on open holds, far above what one process can serve.
pub const HOLDS_MAX: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenHold {
    pub(crate) owner: OwnerId,
    pub(crate) key: Option<HeldKey>,
    pub(crate) legs: Vec<PaymentLeg>,
    pub(crate) kind: HoldKind,
    pub(crate) made_at: Timestamp,
}

impl CreditLedger {
    pub(crate) fn make_hold(
        &mut self,
        id: HoldId,
        payer: &HoldPayer,
        want: HoldRange,
        kind: HoldKind,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let (least, _) = want.checked_range()?;
        self.refuse_known_hold(id, kind)?;
        if HOLDS_MAX <= self.holds.len() {
            return Err(CommandRejection::TooManyHolds);
        }
        let key = payer.key.map(|terms| HeldKey { terms, stamp: KeyStamp::at(terms.key, now) });
        let funds = self.funds(payer.owner, now);
        let headroom = self.headroom(key.as_ref());
        let HoldLegs { legs, missing } = choose_hold_legs(&funds.sources, headroom, want);
        if !missing.is_free() {
            return Err(self.shortage_rejection(&funds.sources, key.as_ref(), missing, least, now));
        }

        let mut records = Vec::new();
        for opening in &funds.openings {
            opening.write(&mut records, now);
        }
        let means = sum_by_currency(&legs);
        let hold = OpenHold { owner: payer.owner, key, legs, kind, made_at: now };
        let outcome = CommandOutcome::Held(HeldAmounts { hold: id, means });
        match kind {
            HoldKind::Request => {
                let records = self.apply_records(records);
                self.insert_hold(id, hold);
                Ok(AppliedCommand { records, outcome })
            }
            HoldKind::Job => {
                records.push(JournalRecord::JobHeld(hold.into_record(id)));
                let records = self.apply_records(records);
                Ok(self.finish_entry(EntryId(id.0), records, outcome))
            }
        }
    }

    pub(crate) fn release_hold(&mut self, id: HoldId) -> Result<AppliedCommand, CommandRejection> {
        let hold = self.holds.get(&id).ok_or(CommandRejection::NoSuchHold)?;
        let records = match hold.kind {
            HoldKind::Job => self.apply_records(vec![JournalRecord::JobHoldEnded {
                hold: id,
                legs: hold.legs.clone(),
            }]),
            HoldKind::Request => {
                self.end_hold(id);
                Vec::new()
            }
        };
        Ok(AppliedCommand { records, outcome: CommandOutcome::Released })
    }

    /// Opens a hold: its legs become pending on their lots and reserved for its key.
    pub(crate) fn insert_hold(&mut self, id: HoldId, hold: OpenHold) {
        self.set_aside(&hold.legs, hold.key.as_ref());
        self.holds.insert(id, hold);
    }

    /// Makes legs of a hold pending on their lots and reserved for its key.
    pub(crate) fn set_aside(&mut self, legs: &[PaymentLeg], key: Option<&HeldKey>) {
        for leg in legs {
            let lot = self.lot_mut(&leg.lot).expect("a hold is placed on open lots");
            lot.pending = lot.pending.saturating_add(leg.amount);
        }
        if let Some(key) = key {
            let counters = self.keys.entry(key.terms.key).or_default();
            for class in LimitClass::ALL {
                counters.counter_mut(class).reserve(&key.stamp, sum_in_class(legs, class));
            }
        }
    }

    /// Ends a hold: its legs are no longer pending or reserved.
    pub(crate) fn end_hold(&mut self, id: HoldId) -> Option<OpenHold> {
        let hold = self.holds.remove(&id)?;
        for leg in &hold.legs {
            let lot = self.lot_mut(&leg.lot).expect("a lot stays open while a hold is on it");
            lot.pending = lot.pending.saturating_sub(leg.amount);
        }
        if let Some(key) = &hold.key {
            let counters = self.keys.entry(key.terms.key).or_default();
            for class in LimitClass::ALL {
                counters.counter_mut(class).unreserve(&key.stamp, sum_in_class(&hold.legs, class));
            }
        }
        #[cfg(test)]
        self.mutant.after_end(&mut self.holds, id, &hold);
        Some(hold)
    }

    fn refuse_known_hold(&self, id: HoldId, kind: HoldKind) -> Result<(), CommandRejection> {
        if let Some(open) = self.holds.get(&id) {
            let earlier =
                CommandOutcome::Held(HeldAmounts { hold: id, means: sum_by_currency(&open.legs) });
            return Err(CommandRejection::Duplicate { earlier: Some(Box::new(earlier)) });
        }
        match kind {
            HoldKind::Job => self.refuse_duplicate(EntryId(id.0)),
            HoldKind::Request => Ok(()),
        }
    }

    /// The reason why a hold was refused: the key's limit if the owner has the money, otherwise the
    /// balance.
    fn shortage_rejection(
        &self,
        sources: &[PaymentLeg],
        key: Option<&HeldKey>,
        missing: WorkCost,
        wanted: WorkCost,
        now: Timestamp,
    ) -> CommandRejection {
        let available = wanted.usd.saturating_sub(missing.usd);
        let insufficient = CommandRejection::Insufficient { available, wanted: wanted.usd };
        let Some(key) = key else { return insufficient };
        if !choose_legs(sources, LimitHeadroom::BOUNDLESS, wanted).missing.is_free() {
            return insufficient;
        }
        // The class that is spent first may be used up while a later one could still pay, so the
        // last class that a limit cuts short is the one that refused the hold.
        let spent_last_first =
            sources.iter().rev().map(|leg| LimitClass::from_currency(leg.lot.currency));
        for class in spent_last_first {
            let Some(limit) = key.terms.limit(class) else { continue };
            let used = self.limit_used(key, class);
            let is_cut = limit < used.saturating_add(sum_in_class(sources, class));
            if is_cut {
                let period = key.terms.period;
                let resets_at = period.resets_at(now);
                return CommandRejection::KeyLimit { class, limit, used, period, resets_at };
            }
        }
        insufficient
    }
}

impl OpenHold {
    pub(crate) fn into_record(self, id: HoldId) -> JobHold {
        let OpenHold { owner, key, legs, made_at, kind: _ } = self;
        JobHold { hold: id, owner, key, legs, made_at }
    }
}

impl From<JobHold> for OpenHold {
    fn from(record: JobHold) -> OpenHold {
        let JobHold { hold: _, owner, key, legs, made_at } = record;
        OpenHold { owner, key, legs, kind: HoldKind::Job, made_at }
    }
}

impl HoldRange {
    /// The least and the most to hold.
    pub(crate) fn checked_range(self) -> Result<(WorkCost, WorkCost), CommandRejection> {
        let (least, most) = match self {
            HoldRange::Exactly(cost) => (cost, cost),
            HoldRange::UpTo { least, most } | HoldRange::Share { least, most } => (least, most),
        };
        let is_range = |least, most| Nano::ZERO <= least && least <= most && most <= AMOUNT_MAX;
        if is_range(least.usd, most.usd) && is_range(least.diem, most.diem) {
            Ok((least, most))
        } else {
            Err(CommandRejection::InvalidAmount)
        }
    }
}
