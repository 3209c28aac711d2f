//! The invariants that hold after every command, recomputed from the whole state.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use money::{BalanceCurrency, Nano};

use crate::account::LotKey;
use crate::charge::sum_in_class;
use crate::counter::{KeyUsage, PeriodSpending};
use crate::id::KeyId;
use crate::ledger::CreditLedger;
use crate::limit::{LimitClass, LimitPeriod};
use crate::owner_lots::CreditLot;
use crate::snapshot::AccountSums;
use crate::violation::{InvariantViolation, LedgerInvariant};

/// Checks the invariants of a whole ledger, and returns the first violation.
pub fn check_ledger(ledger: &CreditLedger) -> Result<(), InvariantViolation> {
    check_trial_balance(ledger)?;
    check_part(ledger)
}

/// Checks the invariants that also hold for some owners' part of the books, which need not add up
/// to zero.
pub(crate) fn check_part(ledger: &CreditLedger) -> Result<(), InvariantViolation> {
    check_lots(ledger)?;
    check_holds(ledger)?;
    check_keys(ledger)
}

fn check_trial_balance(ledger: &CreditLedger) -> Result<(), InvariantViolation> {
    let mut sums: BTreeMap<BalanceCurrency, AccountSums> = BTreeMap::new();
    let lots = ledger.purses.values().flat_map(|purse| purse.lots());
    let lots = lots.map(|lot| (lot.key.currency, &lot.columns));
    let systems = ledger.systems.iter().map(|(account, columns)| (account.currency, columns));
    for (currency, columns) in lots.chain(systems) {
        let sum = sums.entry(currency).or_default();
        sum.debits += columns.debits;
        sum.credits += columns.credits;
    }
    for (currency, AccountSums { debits, credits }) in sums {
        if debits != credits {
            let words = format!("{currency} debits are {debits} nano and credits {credits} nano");
            return Err(LedgerInvariant::TrialBalance.violation(words));
        }
    }
    Ok(())
}

fn check_lots(ledger: &CreditLedger) -> Result<(), InvariantViolation> {
    let mut held: HashMap<LotKey, Nano> = HashMap::new();
    for leg in ledger.holds.values().flat_map(|hold| &hold.legs) {
        let sum = held.entry(leg.lot).or_default();
        *sum = sum.saturating_add(leg.amount);
    }
    for lot in ledger.purses.values().flat_map(|purse| purse.lots()) {
        let (key, pending) = (lot.key, lot.pending);
        lot.check_amounts()?;
        let held = held.remove(&key).unwrap_or_default();
        if pending != held {
            let words = format!("{key} has {pending} pending and open holds set aside {held}");
            return Err(LedgerInvariant::Pending.violation(words));
        }
    }
    match held.into_iter().next() {
        Some((key, held)) => {
            let words = format!("open holds set aside {held} on {key}, which is not open");
            Err(LedgerInvariant::Pending.violation(words))
        }
        None => Ok(()),
    }
}

fn check_holds(ledger: &CreditLedger) -> Result<(), InvariantViolation> {
    for (id, hold) in &ledger.holds {
        for leg in &hold.legs {
            let lot = ledger.lot(&leg.lot);
            let was_live = lot.is_some_and(|lot| lot.is_live(hold.made_at));
            if !was_live {
                let words = format!("hold {} made {} is on {}", id.0, hold.made_at, leg.lot);
                return Err(LedgerInvariant::NoSpendAfterExpiry.violation(words));
            }
        }
    }
    Ok(())
}

fn check_keys(ledger: &CreditLedger) -> Result<(), InvariantViolation> {
    let mut held: HashMap<(KeyId, LimitClass, LimitPeriod, i64), Nano> = HashMap::new();
    for hold in ledger.holds.values() {
        let Some(key) = &hold.key else { continue };
        for class in LimitClass::ALL {
            for period in LimitPeriod::ALL {
                let number = key.stamp.period_number(period);
                let sum = held.entry((key.terms.key, class, period, number)).or_default();
                *sum = sum.saturating_add(sum_in_class(&hold.legs, class));
            }
        }
    }
    for (key, counters) in &ledger.keys {
        for class in LimitClass::ALL {
            for bucket in counters.counter(class).buckets() {
                let place = (*key, class, bucket.period, bucket.number);
                let held = held.remove(&place).unwrap_or_default();
                bucket.check(held).map_err(|violation| InvariantViolation {
                    words: format!("key {} {}: {}", key.0, class.name(), violation.words),
                    ..violation
                })?;
            }
        }
    }
    match held.into_iter().find(|(_, amount)| amount.is_positive()) {
        Some(((key, ..), amount)) => {
            let words = format!("key {}: open holds {amount}, nothing reserved", key.0);
            Err(LedgerInvariant::Pending.violation(words))
        }
        None => Ok(()),
    }
}

impl PeriodSpending {
    fn check(&self, held: Nano) -> Result<(), InvariantViolation> {
        let KeyUsage { spent, reserved } = self.usage;
        let name = self.period.name();
        if reserved != held {
            let words = format!("{name} {}: {reserved} reserved, open holds {held}", self.number);
            return Err(LedgerInvariant::Pending.violation(words));
        }
        if spent.is_negative() {
            let words = format!("{name} {}: {spent} spent", self.number);
            return Err(LedgerInvariant::KeySpent.violation(words));
        }
        Ok(())
    }
}

impl CreditLot {
    /// I2: nothing of a lot is overdrawn, and a debt is never below zero.
    pub(crate) fn check_amounts(&self) -> Result<(), InvariantViolation> {
        let (key, pending) = (self.key, self.pending);
        let words = if key.is_debt() {
            let is_sound = !self.balance().is_positive() && pending == Nano::ZERO;
            (!is_sound).then(|| format!("{key} has {} repaid beyond it", self.balance()))
        } else {
            let is_sound = !self.available().is_negative() && !pending.is_negative();
            (!is_sound)
                .then(|| format!("{key} has {} available, {pending} pending", self.available()))
        };
        words.map_or(Ok(()), |words| Err(LedgerInvariant::NoOverdraft.violation(words)))
    }
}
