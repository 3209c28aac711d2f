//! Makes and releases holds.

use moment::Timestamp;
use money::{Cost, Nano};

use crate::charge::{Leg, means, paid_in_class};
use crate::command::{AMOUNT_MAX, HoldKind, Payer, Want};
use crate::funds::{Headroom, choose};
use crate::id::{EntryId, HoldId, OwnerId};
use crate::ledger::Ledger;
use crate::limit::{KeyStamp, LimitClass};
use crate::outcome::{Applied, Held, Outcome};
use crate::record::{HeldKey, JobHold, Record};
use crate::rejection::Rejection;

/// Bound on open holds, far above what one process can serve.
pub const HOLDS_MAX: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) owner: OwnerId,
    pub(crate) key: Option<HeldKey>,
    pub(crate) legs: Vec<Leg>,
    pub(crate) kind: HoldKind,
    pub(crate) made_at: Timestamp,
}

impl Ledger {
    pub(crate) fn hold(
        &mut self,
        id: HoldId,
        payer: &Payer,
        want: Want,
        kind: HoldKind,
        now: Timestamp,
    ) -> Result<Applied, Rejection> {
        let (least, most) = want.range()?;
        self.refuse_known_hold(id, kind)?;
        if HOLDS_MAX <= self.holds.len() {
            return Err(Rejection::TooManyHolds);
        }
        let key = payer.key.map(|terms| HeldKey { terms, stamp: KeyStamp::at(terms.key, now) });
        let funds = self.funds(payer.owner, now);
        let headroom = self.headroom(key.as_ref());
        let chosen = choose(&funds.sources, headroom, most);
        if !chosen.missing.is_nothing() {
            let missing = choose(&funds.sources, headroom, least).missing;
            if !missing.is_nothing() {
                return Err(self.shortage(&funds.sources, key.as_ref(), missing, least, now));
            }
        }
        let legs = chosen.legs;

        let mut records = Vec::new();
        for opening in &funds.openings {
            opening.write(&mut records, now);
        }
        let means = means(&legs);
        let hold = Hold { owner: payer.owner, key, legs, kind, made_at: now };
        let outcome = Outcome::Held(Held { hold: id, means });
        match kind {
            HoldKind::Request => {
                let records = self.commit(records);
                self.place(id, hold);
                Ok(Applied { records, outcome })
            }
            HoldKind::Job => {
                records.push(Record::JobHeld(hold.into_record(id)));
                let records = self.commit(records);
                Ok(self.applied(EntryId(id.0), records, outcome))
            }
        }
    }

    pub(crate) fn release(&mut self, id: HoldId) -> Result<Applied, Rejection> {
        let hold = self.holds.get(&id).ok_or(Rejection::NoSuchHold)?;
        let records = match hold.kind {
            HoldKind::Job => {
                self.commit(vec![Record::JobHoldEnded { hold: id, legs: hold.legs.clone() }])
            }
            HoldKind::Request => {
                self.end(id);
                Vec::new()
            }
        };
        Ok(Applied { records, outcome: Outcome::Released })
    }

    /// Opens a hold: its legs become pending on their lots and reserved for its key.
    pub(crate) fn place(&mut self, id: HoldId, hold: Hold) {
        for leg in &hold.legs {
            let lot = self.lot_mut(&leg.lot).expect("a hold is placed on open lots");
            lot.pending = lot.pending.saturating_add(leg.amount);
        }
        if let Some(key) = &hold.key {
            let counters = self.keys.entry(key.terms.key).or_default();
            for class in LimitClass::ALL {
                counters.class_mut(class).reserve(&key.stamp, paid_in_class(&hold.legs, class));
            }
        }
        self.holds.insert(id, hold);
    }

    /// Ends a hold: its legs are no longer pending or reserved.
    pub(crate) fn end(&mut self, id: HoldId) -> Option<Hold> {
        let hold = self.holds.remove(&id)?;
        for leg in &hold.legs {
            let lot = self.lot_mut(&leg.lot).expect("a lot stays open while a hold is on it");
            lot.pending = lot.pending.saturating_sub(leg.amount);
        }
        if let Some(key) = &hold.key {
            let counters = self.keys.entry(key.terms.key).or_default();
            for class in LimitClass::ALL {
                counters.class_mut(class).unreserve(&key.stamp, paid_in_class(&hold.legs, class));
            }
        }
        #[cfg(test)]
        self.mutant.after_end(&mut self.holds, id, &hold);
        Some(hold)
    }

    fn refuse_known_hold(&self, id: HoldId, kind: HoldKind) -> Result<(), Rejection> {
        if let Some(open) = self.holds.get(&id) {
            let earlier = Outcome::Held(Held { hold: id, means: means(&open.legs) });
            return Err(Rejection::Duplicate { earlier: Some(Box::new(earlier)) });
        }
        match kind {
            HoldKind::Job => self.refuse_duplicate(EntryId(id.0)),
            HoldKind::Request => Ok(()),
        }
    }

    /// The reason why a hold was refused: the key's limit if the owner has the money, otherwise the
    /// balance.
    fn shortage(
        &self,
        sources: &[Leg],
        key: Option<&HeldKey>,
        missing: Cost,
        wanted: Cost,
        now: Timestamp,
    ) -> Rejection {
        let available = wanted.usd.saturating_sub(missing.usd);
        let insufficient = Rejection::Insufficient { available, wanted: wanted.usd };
        let Some(key) = key else { return insufficient };
        if !choose(sources, Headroom::BOUNDLESS, wanted).missing.is_nothing() {
            return insufficient;
        }
        // The class that is spent first may be used up while a later one could still pay, so the
        // last class that a limit cuts short is the one that refused the hold.
        let spent_last_first = sources.iter().rev().map(|leg| LimitClass::of(leg.lot.currency));
        for class in spent_last_first {
            let Some(limit) = key.terms.limit(class) else { continue };
            let used = self.used(key, class);
            let is_cut = limit < used.saturating_add(paid_in_class(sources, class));
            if is_cut {
                let period = key.terms.period;
                let resets_at = period.resets_at(now);
                return Rejection::KeyLimit { class, limit, used, period, resets_at };
            }
        }
        insufficient
    }
}

impl Hold {
    pub(crate) fn into_record(self, id: HoldId) -> JobHold {
        let Hold { owner, key, legs, made_at, kind: _ } = self;
        JobHold { hold: id, owner, key, legs, made_at }
    }
}

impl From<JobHold> for Hold {
    fn from(record: JobHold) -> Hold {
        let JobHold { hold: _, owner, key, legs, made_at } = record;
        Hold { owner, key, legs, kind: HoldKind::Job, made_at }
    }
}

impl Want {
    /// The least and the most to hold.
    fn range(self) -> Result<(Cost, Cost), Rejection> {
        let (least, most) = match self {
            Want::Exactly(cost) => (cost, cost),
            Want::UpTo { least, most } => (least, most),
        };
        let is_range = |least, most| Nano::ZERO <= least && least <= most && most <= AMOUNT_MAX;
        if is_range(least.usd, most.usd) && is_range(least.diem, most.diem) {
            Ok((least, most))
        } else {
            Err(Rejection::InvalidAmount)
        }
    }
}
