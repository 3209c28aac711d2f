//! The funds an owner can pay with: open lots, and allowances whose lot is not open yet.

use moment::Timestamp;
use money::{Nano, WorkCost};

use crate::account::{LotKey, SystemKind};
use crate::allowance::AllowanceKind;
use crate::charge::PaymentLeg;
use crate::group::RecordGroup;
use crate::id::{EntryId, OwnerId};
use crate::ledger::CreditLedger;
use crate::limit::LimitClass;
use crate::outcome::CurrencyBalances;
use crate::owner_lots::{CreditLot, lot_order};
use crate::record::{HeldKey, JournalRecord, TransferCode};

/// An owner's funds at one moment.
pub(crate) struct OwnerFunds {
    /// The available amount of each live lot, in spending order.
    pub(crate) sources: Vec<PaymentLeg>,
    /// Allowances whose lot is opened by the first command that uses them.
    pub(crate) openings: Vec<AllowanceOpening>,
}

/// The lot of an allowance, to be opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllowanceOpening {
    kind: AllowanceKind,
    period: i64,
    leg: PaymentLeg,
    expires_at: Timestamp,
}

/// The amounts that a key's limits still allow, by limit class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LimitHeadroom {
    pub(crate) usd: Nano,
    pub(crate) diem: Nano,
}

impl CreditLedger {
    pub(crate) fn funds(&self, owner: OwnerId, now: Timestamp) -> OwnerFunds {
        let openings = self.due_openings(owner, now);
        let live = self.live_lots(owner, now);
        if openings.is_empty() {
            let sources = live.map(|(lot, amount)| PaymentLeg { lot: lot.key, amount }).collect();
            return OwnerFunds { sources, openings };
        }
        let live = live.map(|(lot, amount)| (lot.sort_key(), PaymentLeg { lot: lot.key, amount }));
        let due = openings.iter().map(|opening| {
            let LotKey { currency, tag, .. } = opening.leg.lot;
            let rank = self.rules.order.rank(currency);
            (lot_order(rank, Some(opening.expires_at), now, tag), opening.leg)
        });
        let mut sources: Vec<_> = live.chain(due).collect();
        sources.sort_unstable_by_key(|(order, _)| *order);
        OwnerFunds { sources: sources.into_iter().map(|(_, leg)| leg).collect(), openings }
    }

    /// The available balances by currency, including allowances that are not opened yet.
    pub fn balances(&self, owner: OwnerId, now: Timestamp) -> CurrencyBalances {
        let mut balances = CurrencyBalances::default();
        for (lot, amount) in self.live_lots(owner, now) {
            balances.add(lot.key.currency, amount);
        }
        for opening in self.due_openings(owner, now) {
            balances.add(opening.leg.lot.currency, opening.leg.amount);
        }
        balances
    }

    /// Lots that can be spent, in spending order, with the available amount of each.
    fn live_lots(
        &self,
        owner: OwnerId,
        now: Timestamp,
    ) -> impl Iterator<Item = (&CreditLot, Nano)> {
        let lots = self.purses.get(&owner).map(|purse| purse.lots()).unwrap_or_default();
        lots.iter().filter_map(move |lot| {
            let (is_live, available) = (lot.is_live(now), lot.available());
            #[cfg(test)]
            let (is_live, available) =
                (self.mutant.is_live(is_live), self.mutant.alter_available(lot, available));
            (is_live && available.is_positive()).then_some((lot, available))
        })
    }

    /// The amounts that the key's limits leave in the periods of its stamp.
    pub(crate) fn headroom(&self, key: Option<&HeldKey>) -> LimitHeadroom {
        let Some(key) = key else { return LimitHeadroom::BOUNDLESS };
        let left = |class| {
            let Some(limit) = key.terms.limit(class) else { return Nano::MAX };
            limit.saturating_sub(self.limit_used(key, class)).max(Nano::ZERO)
        };
        LimitHeadroom { usd: left(LimitClass::Usd), diem: left(LimitClass::Diem) }
    }

    /// The amount that counts against the key's limit in the periods of its stamp.
    pub(crate) fn limit_used(&self, key: &HeldKey, class: LimitClass) -> Nano {
        let number = key.stamp.period_number(key.terms.period);
        let usage = self.key_usage_in(key.terms.key, class, key.terms.period, number);
        #[cfg(test)]
        let usage = self.mutant.alter_usage(usage);
        usage.total()
    }

    fn due_openings(&self, owner: OwnerId, now: Timestamp) -> Vec<AllowanceOpening> {
        let Some(purse) = self.purses.get(&owner) else { return Vec::new() };
        let mut openings = Vec::new();
        for kind in AllowanceKind::ALL {
            let allowance = purse.allowance(kind);
            if !allowance.amount.is_positive() {
                continue;
            }
            let period = kind.period(now);
            // A period that was opened while the clock was ahead is not opened again when it
            // begins.
            let is_open = allowance.opened.is_some_and(|newest| period <= newest)
                || purse.lot(&kind.lot_key(owner, period)).is_some();
            if !is_open {
                let leg = PaymentLeg { lot: kind.lot_key(owner, period), amount: allowance.amount };
                openings.push(AllowanceOpening {
                    kind,
                    period,
                    leg,
                    expires_at: kind.ends_at(period),
                });
            }
        }
        openings
    }
}

impl AllowanceOpening {
    /// Adds the records that open the lot. Their entry id is derived from the owner and the period,
    /// so that opening it twice is the same entry.
    pub(crate) fn write(&self, records: &mut Vec<JournalRecord>, now: Timestamp) {
        let lot = self.leg.lot;
        let entry = EntryId::for_allowance(lot.owner, self.kind, self.period);
        let mut group = RecordGroup::new(entry, now);
        group.open_lot(lot, Some(self.expires_at));
        group.credit_lot(TransferCode::Allowance, self.leg, SystemKind::Issuance);
        let (owner, kind, period) = (lot.owner, self.kind, self.period);
        group.push(JournalRecord::AllowanceOpened { owner, kind, period });
        records.extend(group.into_records());
    }
}

impl LimitHeadroom {
    pub(crate) const BOUNDLESS: LimitHeadroom = LimitHeadroom { usd: Nano::MAX, diem: Nano::MAX };

    fn class_mut(&mut self, class: LimitClass) -> &mut Nano {
        match class {
            LimitClass::Usd => &mut self.usd,
            LimitClass::Diem => &mut self.diem,
        }
    }
}

/// The legs chosen to pay a cost.
pub(crate) struct ChosenLegs {
    pub(crate) legs: Vec<PaymentLeg>,
    /// The cost that the legs leave unpaid.
    pub(crate) missing: WorkCost,
}

/// Takes up to `most` from the sources in order, skipping those that the key's limit excludes: a
/// key at its DIEM limit still pays with dollars.
pub(crate) fn choose_legs(
    sources: &[PaymentLeg],
    mut headroom: LimitHeadroom,
    most: WorkCost,
) -> ChosenLegs {
    let mut legs = Vec::new();
    let mut missing = most;
    for source in sources {
        if missing.is_free() {
            break;
        }
        let currency = source.lot.currency;
        let left = headroom.class_mut(LimitClass::from_currency(currency));
        let amount = source.amount.min(missing.amount_in(currency)).min(*left);
        if amount.is_positive() {
            *left = left.saturating_sub(amount);
            missing = missing.after_payment(amount, currency);
            legs.push(PaymentLeg { lot: source.lot, amount });
        }
    }
    ChosenLegs { legs, missing }
}
