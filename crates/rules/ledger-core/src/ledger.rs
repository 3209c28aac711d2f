//! The ledger's state, and `apply`, through which every change is made.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use moment::Timestamp;
use money::BalanceCurrency;

use crate::account::{LotKey, SystemAccount};
use crate::charge::PaymentLeg;
use crate::command::CreditCommand;
use crate::counter::KeyCounters;
use crate::credit::choose_grant_lot;
use crate::hold::OpenHold;
use crate::id::{EntryId, HoldId, KeyId, OwnerId};
#[cfg(test)]
use crate::mutant::LedgerMutant;
use crate::outcome::{AppliedCommand, CommandOutcome};
use crate::owner_lots::OwnerLots;
use crate::recent::RecentEntries;
use crate::record::JournalRecord;
use crate::rejection::CommandRejection;
use crate::reversal::PaymentReversal;
use crate::snapshot::AccountSums;

/// All balances, holds and counters of the service.
///
/// [`apply`](CreditLedger::apply) decides and changes;
/// [`replay_record`](CreditLedger::replay_record) repeats a decision. Durable changes made live go
/// through `replay_record` as well, so recovery cannot differ.
#[derive(Debug, Clone)]
pub struct CreditLedger {
    pub(crate) rules: LedgerRules,
    pub(crate) purses: HashMap<OwnerId, OwnerLots>,
    /// Lots by expiry, so that a sweep need not look at the others.
    pub(crate) expiries: BTreeSet<(Timestamp, LotKey)>,
    pub(crate) systems: BTreeMap<SystemAccount, AccountSums>,
    pub(crate) holds: HashMap<HoldId, OpenHold>,
    pub(crate) keys: HashMap<KeyId, KeyCounters>,
    pub(crate) recent: RecentEntries,
    #[cfg(test)]
    pub(crate) mutant: LedgerMutant,
}

/// Settings that the operator can choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerRules {
    pub order: SpendOrder,
}

/// The order in which currencies are spent. Within a currency, the earliest expiry goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpendOrder {
    currencies: [BalanceCurrency; 4],
}

impl SpendOrder {
    /// None unless every currency is named once.
    pub fn new(currencies: [BalanceCurrency; 4]) -> Option<SpendOrder> {
        let names_all = BalanceCurrency::ALL.iter().all(|currency| currencies.contains(currency));
        names_all.then_some(SpendOrder { currencies })
    }

    pub(crate) fn rank(&self, currency: BalanceCurrency) -> usize {
        self.currencies.iter().take_while(|&&earlier| earlier != currency).count()
    }
}

impl Default for SpendOrder {
    fn default() -> SpendOrder {
        let currencies = [
            BalanceCurrency::Diem,
            BalanceCurrency::Bundled,
            BalanceCurrency::Vcu,
            BalanceCurrency::Usd,
        ];
        SpendOrder { currencies }
    }
}

impl CreditLedger {
    pub fn new(rules: LedgerRules) -> CreditLedger {
        CreditLedger {
            rules,
            purses: HashMap::new(),
            expiries: BTreeSet::new(),
            systems: BTreeMap::new(),
            holds: HashMap::new(),
            keys: HashMap::new(),
            recent: RecentEntries::default(),
            #[cfg(test)]
            mutant: LedgerMutant::None,
        }
    }

    /// Carries out one command, wholly or not at all.
    ///
    /// The change is visible at once; it is durable when the returned records are. The caller
    /// writes the groups in the order of the calls.
    pub fn apply(
        &mut self,
        command: &CreditCommand,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        match command {
            CreditCommand::TopUp { entry, owner, network, amount } => {
                self.top_up(*entry, *owner, network, *amount, now)
            }
            CreditCommand::Restore { entry, owner, network, amount } => {
                self.restore_payment(*entry, *owner, network, *amount, now)
            }
            CreditCommand::Reverse { entry, owner, network, amount, given, beyond } => {
                let reversal = PaymentReversal {
                    owner: *owner,
                    network,
                    amount: *amount,
                    given: *given,
                    beyond: *beyond,
                };
                self.reverse_payment(*entry, &reversal, now)
            }
            CreditCommand::CollectDebt { entry, owner, given } => {
                self.collect_debt(*entry, *owner, *given, now)
            }
            CreditCommand::Grant { entry, owner, currency, amount, expires_at } => {
                let lot = choose_grant_lot(*entry, *owner, *currency, *expires_at);
                self.grant_credit(*entry, PaymentLeg { lot, amount: *amount }, *expires_at, now)
            }
            CreditCommand::Debit { entry, owner, currency, amount, given } => {
                let lot = choose_grant_lot(*entry, *owner, *currency, None);
                self.take_back_credit(*entry, PaymentLeg { lot, amount: *amount }, *given, now)
            }
            CreditCommand::SetAllowance { entry, owner, kind, amount } => {
                self.set_allowance(*entry, *owner, *kind, *amount, now)
            }
            CreditCommand::Hold { hold, payer, want, kind } => {
                self.make_hold(*hold, payer, *want, *kind, now)
            }
            CreditCommand::Raise { hold, want } => self.raise_hold(*hold, *want, now),
            CreditCommand::Settle { entry, hold, cost } => {
                self.settle_hold(*entry, *hold, *cost, now)
            }
            CreditCommand::Release { hold } => self.release_hold(*hold),
            CreditCommand::Refund { charge, source } => self.refund_charge(*charge, source, now),
            CreditCommand::Sweep { entry } => self.sweep_expired(*entry, now),
        }
    }

    /// Applies records that were validated against the current state, and returns them.
    pub(crate) fn apply_records(&mut self, records: Vec<JournalRecord>) -> Vec<JournalRecord> {
        for record in &records {
            self.replay_record(record)
                .expect("a planned record follows from the state it was planned on");
        }
        records
    }

    /// Refuses an entry that was carried out before, with its earlier outcome if known.
    pub(crate) fn refuse_duplicate(&self, entry: EntryId) -> Result<(), CommandRejection> {
        #[cfg(test)]
        if self.mutant == LedgerMutant::RepeatedEntryCounts {
            return Ok(());
        }
        if !self.recent.contains(entry) {
            return Ok(());
        }
        Err(CommandRejection::Duplicate { earlier: self.recent.outcome(entry) })
    }

    /// Remembers the outcome of an entry, in case it is sent again.
    pub(crate) fn finish_entry(
        &mut self,
        entry: EntryId,
        records: Vec<JournalRecord>,
        outcome: CommandOutcome,
    ) -> AppliedCommand {
        self.recent.set_outcome(entry, &outcome);
        AppliedCommand { records, outcome }
    }
}
