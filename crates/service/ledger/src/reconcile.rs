//! Reconciling while the service runs: memory, rows and journal must agree.

use std::collections::HashMap;
use std::sync::PoisonError;

use ledger_core::{AccountSums, LedgerAccount, LedgerSnapshot};
use store::journal::{ENTRIES_MAX, LedgerBooks};
use store::write::WriteGroup;

use crate::error::LedgerError;
use crate::state::{LastEntry, Ledger};

/// The result of a reconciliation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReconcileReport {
    /// The sum of the absolute differences. Anything but zero is an alarm.
    pub difference_nano: u128,
    pub accounts: usize,
    /// Journal entries since the last reconciliation.
    pub entries: usize,
}

/// The rows of the last reconciliation, to which new journal entries are added. Only of accounts
/// that were open, or had changed since the reconciliation before.
#[derive(Debug)]
pub(crate) struct ReconcileBaseline {
    last_seq: i64,
    columns: HashMap<LedgerAccount, AccountSums>,
}

impl Ledger {
    /// Compares the core with the rows in the store, and the rows with the journal since the last
    /// call. `verify` reads the whole journal and every lot; this reads only what is new or open,
    /// so its duration does not grow over the years.
    pub async fn reconcile(&self) -> Result<ReconcileReport, LedgerError> {
        let store = &self.shared.store;
        let (snapshot, last) = {
            let live = self.shared.lock();
            live.refuse_if_stopped()?;
            (live.core.to_snapshot(), live.last)
        };
        // The core's decisions up to the snapshot are written before this empty group is.
        store.commit(WriteGroup::default()).await.map_err(|_| LedgerError::Unavailable)?;
        // If the books are shared, no core knows all of them: only rows and journal are compared.
        let is_shared = self.shared.homes.is_some();
        let core_seq = if is_shared { i64::MAX } else { self.seq_of(last).await? };
        let baseline = self.take_baseline();
        let known_seq = baseline.as_ref().map_or(core_seq, |it| it.last_seq.min(core_seq));
        let books = store.changed_books(known_seq).await?;

        let rows = columns_of(&books.snapshot);
        let mut difference_nano = 0;
        if !is_shared {
            let mut expected = columns_of(&snapshot);
            self.carry_forward(&mut expected, core_seq, &books).await?;
            difference_nano += sum_differences(&expected, &rows);
        }

        let mut entries = 0;
        if let Some(mut baseline) = baseline {
            entries = self.carry_forward(&mut baseline.columns, baseline.last_seq, &books).await?;
            difference_nano += sum_differences(&baseline.columns, &rows);
        }
        let accounts = rows.len();
        let mut kept = self.shared.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(ReconcileBaseline { last_seq: books.last_seq, columns: rows });
        Ok(ReconcileReport { difference_nano, accounts, entries })
    }

    fn take_baseline(&self) -> Option<ReconcileBaseline> {
        self.shared.baseline.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn seq_of(&self, last: LastEntry) -> Result<i64, LedgerError> {
        match last {
            LastEntry::Loaded { seq } => Ok(seq),
            LastEntry::HandedIn { entry, leg } => {
                let entries = self.shared.store.find_transfers(entry).await?;
                let found = entries.iter().find(|entry| entry.transfer.leg == leg);
                found.map(|entry| entry.seq).ok_or(LedgerError::Unavailable)
            }
        }
    }

    /// Adds the entries after `after_seq`, up to where the books were read. Returns their number.
    async fn carry_forward(
        &self,
        columns: &mut HashMap<LedgerAccount, AccountSums>,
        mut after_seq: i64,
        books: &LedgerBooks,
    ) -> Result<usize, LedgerError> {
        let mut added = 0;
        while after_seq < books.last_seq {
            let entries = self.shared.store.read_journal(after_seq, ENTRIES_MAX).await?;
            for entry in &entries {
                if books.last_seq < entry.seq {
                    break;
                }
                let nanos = i128::from(entry.transfer.amount.nanos());
                columns.entry(entry.transfer.debit.clone()).or_default().debits += nanos;
                columns.entry(entry.transfer.credit.clone()).or_default().credits += nanos;
                added += 1;
            }
            let Some(last) = entries.last() else { break };
            after_seq = last.seq;
        }
        Ok(added)
    }
}

fn columns_of(snapshot: &LedgerSnapshot) -> HashMap<LedgerAccount, AccountSums> {
    let lots = snapshot.lots.iter().map(|row| (LedgerAccount::Lot(row.lot), row.columns));
    let systems = snapshot.systems.iter();
    let systems = systems.map(|row| (LedgerAccount::System(row.account.clone()), row.columns));
    lots.chain(systems).collect()
}

/// The sum of differences. A closed lot is empty and no longer in memory, so only a remainder
/// counts. Rows of lots that were closed and have not changed since are not in `rows`.
fn sum_differences(
    expected: &HashMap<LedgerAccount, AccountSums>,
    rows: &HashMap<LedgerAccount, AccountSums>,
) -> u128 {
    let mut sum = 0;
    for (account, row) in rows {
        let known = expected.get(account);
        let is_empty = row.debits == row.credits;
        let net = known.map_or(0, |columns| columns.credits - columns.debits);
        if is_empty && net == 0 {
            continue;
        }
        let columns = known.copied().unwrap_or_default();
        sum += columns.debits.abs_diff(row.debits) + columns.credits.abs_diff(row.credits);
    }
    for (account, columns) in expected {
        let is_closed = columns.debits == columns.credits;
        if !rows.contains_key(account) && !is_closed {
            sum += columns.debits.unsigned_abs() + columns.credits.unsigned_abs();
        }
    }
    sum
}
