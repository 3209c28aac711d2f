//! The ledger's state, and `apply`, through which every change is made.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use moment::Timestamp;
use money::Currency;

use crate::account::{LotKey, SystemAccount};
use crate::charge::Leg;
use crate::command::Command;
use crate::counter::KeyCounters;
use crate::credit::granted_lot;
use crate::hold::Hold;
use crate::id::{EntryId, HoldId, KeyId, OwnerId};
#[cfg(test)]
use crate::mutant::Mutant;
use crate::outcome::{Applied, Outcome};
use crate::purse::Purse;
use crate::recent::Recent;
use crate::record::Record;
use crate::rejection::Rejection;
use crate::snapshot::Columns;

/// All balances, holds and counters of the service.
///
/// [`apply`](Ledger::apply) decides and changes; [`replay`](Ledger::replay) repeats a decision.
/// Durable changes made live go through `replay` as well, so recovery cannot differ.
#[derive(Debug, Clone)]
pub struct Ledger {
    pub(crate) rules: Rules,
    pub(crate) purses: HashMap<OwnerId, Purse>,
    /// Lots by expiry, so that a sweep need not look at the others.
    pub(crate) expiries: BTreeSet<(Timestamp, LotKey)>,
    pub(crate) systems: BTreeMap<SystemAccount, Columns>,
    pub(crate) holds: HashMap<HoldId, Hold>,
    pub(crate) keys: HashMap<KeyId, KeyCounters>,
    pub(crate) recent: Recent,
    #[cfg(test)]
    pub(crate) mutant: Mutant,
}

/// Settings that the operator can choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    pub order: SpendOrder,
}

/// The order in which currencies are spent. Within a currency, the earliest expiry goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpendOrder {
    currencies: [Currency; 4],
}

impl SpendOrder {
    /// None unless every currency is named once.
    pub fn new(currencies: [Currency; 4]) -> Option<SpendOrder> {
        let names_all = Currency::ALL.iter().all(|currency| currencies.contains(currency));
        names_all.then_some(SpendOrder { currencies })
    }

    pub(crate) fn rank(&self, currency: Currency) -> usize {
        self.currencies.iter().take_while(|&&earlier| earlier != currency).count()
    }
}

impl Default for SpendOrder {
    fn default() -> SpendOrder {
        let currencies = [Currency::Diem, Currency::Bundled, Currency::Vcu, Currency::Usd];
        SpendOrder { currencies }
    }
}

impl Ledger {
    pub fn new(rules: Rules) -> Ledger {
        Ledger {
            rules,
            purses: HashMap::new(),
            expiries: BTreeSet::new(),
            systems: BTreeMap::new(),
            holds: HashMap::new(),
            keys: HashMap::new(),
            recent: Recent::default(),
            #[cfg(test)]
            mutant: Mutant::None,
        }
    }

    /// Carries out one command, wholly or not at all.
    ///
    /// The change is visible at once; it is durable when the returned records are. The caller
    /// writes the groups in the order of the calls.
    pub fn apply(&mut self, command: &Command, now: Timestamp) -> Result<Applied, Rejection> {
        match command {
            Command::TopUp { entry, owner, network, amount } => {
                self.top_up(*entry, *owner, network, *amount, now)
            }
            Command::Grant { entry, owner, currency, amount, expires_at } => {
                let lot = granted_lot(*entry, *owner, *currency, *expires_at);
                self.grant(*entry, Leg { lot, amount: *amount }, *expires_at, now)
            }
            Command::Debit { entry, owner, currency, amount, given } => {
                let lot = granted_lot(*entry, *owner, *currency, None);
                self.debit(*entry, Leg { lot, amount: *amount }, *given, now)
            }
            Command::SetAllowance { entry, owner, kind, amount } => {
                self.set_allowance(*entry, *owner, *kind, *amount, now)
            }
            Command::Hold { hold, payer, want, kind } => self.hold(*hold, payer, *want, *kind, now),
            Command::Settle { entry, hold, cost } => self.settle(*entry, *hold, *cost, now),
            Command::Release { hold } => self.release(*hold),
            Command::Refund { charge, source } => self.refund(*charge, source, now),
            Command::Sweep { entry } => self.sweep(*entry, now),
        }
    }

    /// Applies records that were validated against the current state, and returns them.
    pub(crate) fn commit(&mut self, records: Vec<Record>) -> Vec<Record> {
        for record in &records {
            self.replay(record).expect("a planned record follows from the state it was planned on");
        }
        records
    }

    /// Refuses an entry that was carried out before, with its earlier outcome if known.
    pub(crate) fn refuse_duplicate(&self, entry: EntryId) -> Result<(), Rejection> {
        #[cfg(test)]
        if self.mutant == Mutant::RepeatedEntryCounts {
            return Ok(());
        }
        if !self.recent.contains(entry) {
            return Ok(());
        }
        Err(Rejection::Duplicate { earlier: self.recent.outcome(entry) })
    }

    /// Remembers the outcome of an entry, in case it is sent again.
    pub(crate) fn applied(
        &mut self,
        entry: EntryId,
        records: Vec<Record>,
        outcome: Outcome,
    ) -> Applied {
        self.recent.finish(entry, &outcome);
        Applied { records, outcome }
    }
}
