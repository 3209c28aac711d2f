//! Read-only queries of the ledger.

use moment::Timestamp;
use money::{BalanceCurrency, CurrencyFunds, Nano, WorkCost};

use crate::account::LotKey;
use crate::allowance::AllowanceKind;
use crate::charge::{self, SettledCharge, sum_by_currency};
use crate::command::HoldPayer;
use crate::counter::KeyUsage;
use crate::id::{EntryId, HoldId, KeyId, OwnerId};
use crate::ledger::CreditLedger;
use crate::limit::{KeyStamp, LimitClass, LimitPeriod};
use crate::owner_funds::choose_legs;
use crate::owner_lots::CreditLot;
use crate::record::HeldKey;

impl CreditLedger {
    /// The largest possible hold, within the limits of the payer's key.
    pub fn spendable(&self, payer: &HoldPayer, now: Timestamp) -> Nano {
        let headroom = self.headroom(held_key(payer, now).as_ref());
        let most = WorkCost::at_par(Nano::MAX);
        charge::sum_legs(&choose_legs(&self.funds(payer.owner, now).sources, headroom, most).legs)
    }

    /// The currency that the next charge would start with; None if nothing can be spent.
    pub fn next_currency(&self, payer: &HoldPayer, now: Timestamp) -> Option<BalanceCurrency> {
        let headroom = self.headroom(held_key(payer, now).as_ref());
        let least = WorkCost::at_par(Nano::from_nanos(1));
        let chosen = choose_legs(&self.funds(payer.owner, now).sources, headroom, least);
        chosen.legs.first().map(|leg| leg.lot.currency)
    }

    /// The full allowance of the period that `now` is in, spent or not.
    pub fn allocation(&self, owner: OwnerId, kind: AllowanceKind, now: Timestamp) -> Nano {
        let Some(purse) = self.purses.get(&owner) else { return Nano::ZERO };
        match purse.lot(&kind.lot_key(owner, kind.period(now))) {
            Some(lot) => lot.granted,
            None => purse.allowance(kind).amount,
        }
    }

    /// The amount that an owner gets each period.
    pub fn allowance(&self, owner: OwnerId, kind: AllowanceKind) -> Nano {
        self.purses.get(&owner).map_or(Nano::ZERO, |purse| purse.allowance(kind).amount)
    }

    /// The amounts that a key has spent and reserved in the period that `now` is in.
    pub fn key_usage(
        &self,
        key: KeyId,
        class: LimitClass,
        period: LimitPeriod,
        now: Timestamp,
    ) -> KeyUsage {
        let number = KeyStamp::at(key, now).period_number(period);
        self.key_usage_in(key, class, period, number)
    }

    /// The amount of an open hold.
    pub fn held_amount(&self, hold: HoldId) -> Option<Nano> {
        self.holds.get(&hold).map(|hold| charge::sum_legs(&hold.legs))
    }

    /// The amounts of an open hold, by kind of currency.
    pub fn held_funds(&self, hold: HoldId) -> Option<CurrencyFunds> {
        self.holds.get(&hold).map(|hold| sum_by_currency(&hold.legs))
    }

    pub fn open_holds(&self) -> usize {
        self.holds.len()
    }

    /// The time at which the oldest open hold was made.
    pub fn oldest_hold_at(&self) -> Option<Timestamp> {
        self.holds.values().map(|hold| hold.made_at).min()
    }

    /// A charge, if it is still in memory.
    pub fn recent_charge(&self, entry: EntryId) -> Option<&SettledCharge> {
        self.recent.charge(entry)
    }

    /// The earliest expiry of a lot. If it has passed, a sweep is due, or an open hold keeps the
    /// lot until it ends.
    pub fn next_expiry(&self) -> Option<Timestamp> {
        self.expiries.first().map(|(expires_at, _)| *expires_at)
    }

    /// Forgets entries from before a moment. After that only the journal detects a repeat of them.
    pub fn forget_entries(&mut self, before: Timestamp) {
        self.recent.forget(before);
    }

    pub(crate) fn key_usage_in(
        &self,
        key: KeyId,
        class: LimitClass,
        period: LimitPeriod,
        number: i64,
    ) -> KeyUsage {
        let counters = self.keys.get(&key);
        counters.map(|it| it.counter(class).usage(period, number)).unwrap_or_default()
    }

    pub(crate) fn lot(&self, key: &LotKey) -> Option<&CreditLot> {
        self.purses.get(&key.owner)?.lot(key)
    }

    pub(crate) fn lot_mut(&mut self, key: &LotKey) -> Option<&mut CreditLot> {
        self.purses.get_mut(&key.owner)?.lot_mut(key)
    }
}

fn held_key(payer: &HoldPayer, now: Timestamp) -> Option<HeldKey> {
    payer.key.map(|terms| HeldKey { terms, stamp: KeyStamp::at(terms.key, now) })
}
