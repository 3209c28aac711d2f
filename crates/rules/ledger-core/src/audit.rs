//! Recomputes the books from the journal's transfers alone.

mod allowances;
mod entry_order;
mod expiries;

use std::collections::BTreeMap;

use hashbrown::HashMap;
use moment::Timestamp;
use money::{BalanceCurrency, Nano};

use crate::account::{LedgerAccount, SystemKind};
use crate::allowance::AllowanceKind;
use crate::audit::allowances::AllowanceAudit;
use crate::audit::entry_order::EntryOrder;
use crate::audit::expiries::LotExpiries;
use crate::counter::KeyCounters;
use crate::id::{EntryId, KeyId, OwnerId};
use crate::limit::LimitClass;
#[cfg(test)]
use crate::record::JournalRecord;
use crate::record::{LedgerTransfer, TransferCode};
use crate::restore::key_spend_rows;
use crate::snapshot::{AccountSums, KeySpendRow, LedgerSnapshot};
use crate::violation::{InvariantViolation, LedgerInvariant};
use crate::violation_list::ViolationList;

/// A fold of the whole journal. Start with the rows that the service starts from, read every
/// transfer once with [`read`](JournalAudit::read) and, if there were refunds, once more with
/// [`read_again`](JournalAudit::read_again); then [`finish`](JournalAudit::finish) compares the
/// result with those rows.
#[derive(Debug, Default)]
pub struct JournalAudit {
    accounts: HashMap<LedgerAccount, AuditedAccount>,
    keys: HashMap<KeyId, KeyCounters>,
    allowances: AllowanceAudit,
    order: EntryOrder,
    expiries: LotExpiries,
    /// Refunded amounts not yet matched with their charges, in nanos, by charge and account.
    refunds: HashMap<EntryId, BTreeMap<LedgerAccount, i128>>,
    transfers: u64,
    violations: ViolationList,
}

#[derive(Debug, Clone, Copy, Default)]
struct AuditedAccount {
    columns: AccountSums,
    granted: i128,
}

impl JournalAudit {
    pub fn from_snapshot(snapshot: &LedgerSnapshot) -> JournalAudit {
        JournalAudit { expiries: LotExpiries::from_snapshot(snapshot), ..JournalAudit::default() }
    }

    /// The first pass, in the order of the journal.
    pub fn read(&mut self, transfer: &LedgerTransfer) {
        self.transfers += 1;
        self.order.read(transfer);
        let found = [transfer.check(), self.expiries.read(transfer)];
        for violation in found.into_iter().filter_map(Result::err) {
            self.add_violation(violation);
        }
        self.allowances.read(transfer);
        let nanos = i128::from(transfer.amount.nanos());
        let granted = if transfer.code.counts_as_granted() { nanos } else { 0 };
        let credited = self.accounts.entry(transfer.credit.clone()).or_default();
        credited.columns.credits += nanos;
        credited.granted += granted;
        let is_overpaid = credited.columns.debits < credited.columns.credits;
        if is_overpaid && matches!(&transfer.credit, LedgerAccount::Lot(lot) if lot.is_debt()) {
            let words = format!("{} after entry {}", transfer.credit, transfer.entry.0);
            self.add_violation(LedgerInvariant::NoOverdraft.violation(words));
        }
        let taken_back = if transfer.code.counts_as_taken_back() { nanos } else { 0 };
        let debited = self.accounts.entry(transfer.debit.clone()).or_default();
        debited.columns.debits += nanos;
        debited.granted -= taken_back;
        let is_overdrawn = debited.columns.credits < debited.columns.debits;
        if is_overdrawn && matches!(&transfer.debit, LedgerAccount::Lot(lot) if !lot.is_debt()) {
            let words = format!("{} after entry {}", transfer.debit, transfer.entry.0);
            self.add_violation(LedgerInvariant::NoOverdraft.violation(words));
        }
        self.count_for_key(transfer);
        if transfer.is_refund() {
            let charge = self.refunds.entry(transfer.entry.refunded_charge()).or_default();
            *charge.entry(transfer.credit.clone()).or_default() += nanos;
        }
    }

    /// The second pass: matches the refunds with their charges.
    pub fn read_again(&mut self, transfer: &LedgerTransfer) {
        let is_charge = matches!(transfer.code, TransferCode::Charge | TransferCode::Writeoff);
        if !is_charge || transfer.is_refund() {
            return;
        }
        let Some(refund) = self.refunds.get_mut(&transfer.entry) else { return };
        if let Some(nanos) = refund.get_mut(&transfer.debit) {
            *nanos -= i128::from(transfer.amount.nanos());
        }
    }

    /// The entries whose transfers were not adjacent, each once: read them with
    /// [`read_entry`](JournalAudit::read_entry).
    pub fn take_split_entries(&mut self) -> Vec<EntryId> {
        self.order.take_split_entries().into_iter().collect()
    }

    /// Reads all transfers of an entry whose transfers were not adjacent, in the order of their
    /// legs.
    pub fn read_entry<'a>(
        &mut self,
        entry: EntryId,
        transfers: impl IntoIterator<Item = &'a LedgerTransfer>,
    ) {
        let transfers: Vec<&LedgerTransfer> = transfers.into_iter().collect();
        if let Err(violation) = entry_order::check_entry_legs(entry, &transfers) {
            self.add_violation(violation);
        }
    }

    /// The operator reset the books' time to the clock, which was `at`: periods after it that the
    /// journal had begun start anew. Call this at the point of the journal where it happened.
    pub fn read_time_mend(&mut self, at: Timestamp) {
        for counters in self.keys.values_mut() {
            for class in LimitClass::ALL {
                counters.counter_mut(class).mend_time(at);
            }
        }
        self.allowances.mend_time(at);
    }

    pub fn has_refunds(&self) -> bool {
        !self.refunds.is_empty()
    }

    /// The number of transfers that the first pass read.
    pub fn transfer_count(&self) -> u64 {
        self.transfers
    }

    /// Reads a transfer or a set allowance; other records are ignored.
    #[cfg(test)]
    pub(crate) fn read_record(&mut self, record: &JournalRecord) {
        match record {
            JournalRecord::Transfer(transfer) => self.read(transfer),
            JournalRecord::AllowanceSet { owner, kind, amount, .. } => {
                self.read_allowance(*owner, *kind, *amount);
            }
            _ => {}
        }
    }

    /// Records that an allowance was set to `amount`. Call it in the order in which they were set.
    pub fn read_allowance(&mut self, owner: OwnerId, kind: AllowanceKind, amount: Nano) {
        self.allowances.record_amount(owner, kind, amount);
    }

    /// Compares the fold with the rows the service starts from; an empty list means that they
    /// agree.
    pub fn finish(mut self, snapshot: &LedgerSnapshot) -> ViolationList {
        for entry in self.take_split_entries() {
            self.add_violation(entry_order::build_unread_violation(entry));
        }
        let allowances = std::mem::take(&mut self.allowances);
        for violation in allowances.compare(&snapshot.allowances) {
            self.add_violation(violation);
        }
        self.compare_trial_balance();
        self.compare_refunds();
        self.compare_keys(snapshot);
        self.compare_lots(snapshot);
        self.compare_systems(snapshot);
        self.compare_rest();
        self.violations
    }

    fn count_for_key(&mut self, transfer: &LedgerTransfer) {
        let Some(stamp) = &transfer.key else { return };
        let (lot, amount) = match (transfer.code, &transfer.debit, &transfer.credit) {
            (TransferCode::Charge, LedgerAccount::Lot(lot), _) => (lot, transfer.amount),
            (TransferCode::Refund, _, LedgerAccount::Lot(lot)) => {
                (lot, Nano::ZERO.saturating_sub(transfer.amount))
            }
            _ => return,
        };
        let counters = self.keys.entry(stamp.key).or_default();
        counters.counter_mut(LimitClass::from_currency(lot.currency)).add_spending(stamp, amount);
    }

    fn compare_trial_balance(&mut self) {
        let mut sums: BTreeMap<BalanceCurrency, i128> = BTreeMap::new();
        for (account, folded) in &self.accounts {
            let AccountSums { debits, credits } = folded.columns;
            *sums.entry(account.currency()).or_default() += debits - credits;
        }
        for (currency, difference) in sums {
            if difference != 0 {
                let words = format!("{currency} is off by {difference} nano");
                self.add_violation(LedgerInvariant::TrialBalance.violation(words));
            }
        }
    }

    fn compare_refunds(&mut self) {
        for (charge, accounts) in std::mem::take(&mut self.refunds) {
            for (account, beyond) in accounts {
                if 0 < beyond {
                    let words = format!("charge {}: {beyond} nano too much to {account}", charge.0);
                    self.add_violation(LedgerInvariant::RefundOnce.violation(words));
                }
            }
        }
    }

    fn compare_keys(&mut self, snapshot: &LedgerSnapshot) {
        let name = |row: &KeySpendRow| (row.key, row.class);
        let folded = key_spend_rows(&self.keys);
        let mut folded: BTreeMap<_, _> = folded.iter().map(|row| (name(row), *row)).collect();
        for row in &snapshot.key_spends {
            let journal = folded.remove(&name(row));
            if journal != Some(*row) {
                let words = format!("the journal gives {journal:?}, the counters have {row:?}");
                self.add_violation(LedgerInvariant::KeySpent.violation(words));
            }
        }
        for row in folded.into_values() {
            let words = format!("the journal gives {row:?}, the counters have nothing");
            self.add_violation(LedgerInvariant::KeySpent.violation(words));
        }
    }

    fn compare_lots(&mut self, snapshot: &LedgerSnapshot) {
        for row in &snapshot.lots {
            let account = LedgerAccount::Lot(row.lot);
            let folded = self.accounts.remove(&account).unwrap_or_default();
            self.compare_columns(&account, folded.columns, row.columns);
            if let Err(violation) = expiries::check_lot_expiry(row) {
                self.add_violation(violation);
            }
            if folded.granted != i128::from(row.granted.nanos()) {
                let words = format!("{account}: {} nano granted by the journal", folded.granted);
                self.add_violation(LedgerInvariant::Columns.violation(words));
            }
        }
    }

    fn compare_systems(&mut self, snapshot: &LedgerSnapshot) {
        for row in &snapshot.systems {
            let account = LedgerAccount::System(row.account.clone());
            let folded = self.accounts.remove(&account).unwrap_or_default();
            self.compare_columns(&account, folded.columns, row.columns);
        }
    }

    /// Compares the accounts without a row. Only closed lots, which are empty, may have none.
    fn compare_rest(&mut self) {
        for (account, folded) in std::mem::take(&mut self.accounts) {
            let AccountSums { debits, credits } = folded.columns;
            let is_closed_lot = matches!(account, LedgerAccount::Lot(_)) && debits == credits;
            if !is_closed_lot {
                self.compare_columns(&account, folded.columns, AccountSums::default());
            }
        }
    }

    fn compare_columns(&mut self, account: &LedgerAccount, journal: AccountSums, row: AccountSums) {
        if journal == row {
            return;
        }
        let words = format!(
            "{account}: the journal gives debits {} and credits {} nano, the row has {} and {}",
            journal.debits, journal.credits, row.debits, row.credits
        );
        self.add_violation(LedgerInvariant::Columns.violation(words));
    }

    fn add_violation(&mut self, violation: InvariantViolation) {
        self.violations.push(violation);
    }
}

impl LedgerTransfer {
    /// True if this refunds a charge, or the part of it that was written off.
    fn is_refund(&self) -> bool {
        match (&self.code, &self.credit) {
            (TransferCode::Refund, _) => true,
            (TransferCode::Writeoff, LedgerAccount::System(to)) => to.kind == SystemKind::Writeoff,
            _ => false,
        }
    }
}
