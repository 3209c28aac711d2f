//! Verifying the books from the journal alone: what `tollgate ledger verify` does.

use std::collections::BTreeMap;

use credits::{Audit, Invariant, LotKey, Rules, Violation};
use money::Nano;
use store::Store;
use store::journal::{Books, ENTRIES_MAX};

use crate::error::LedgerError;

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub transfers: u64,
    pub accounts: usize,
    /// What is wrong, in words; empty if the books are right.
    pub violations: Vec<Violation>,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

/// Reads the whole journal and compares what follows from it with the rows that the service starts
/// from. It can run beside a working service: entries that come in meanwhile are left out.
pub async fn verify(store: &dyn Store) -> Result<Report, LedgerError> {
    let books = store.trial_balance().await?;
    let mut audit = Audit::default();
    read_journal(store, &books, |transfer| audit.read(transfer)).await?;
    if audit.has_refunds() {
        read_journal(store, &books, |transfer| audit.read_again(transfer)).await?;
    }
    let transfers = audit.transfers();
    let mut violations = audit.finish(&books.snapshot);
    violations.extend(pending_violations(&books));
    let accounts = books.snapshot.lots.len() + books.snapshot.systems.len();
    if let Err(violation) = credits::Ledger::from_snapshot(Rules::default(), books.snapshot) {
        violations.push(violation);
    }
    Ok(Report { transfers, accounts, violations })
}

async fn read_journal(
    store: &dyn Store,
    books: &Books,
    mut read: impl FnMut(&credits::Transfer),
) -> Result<(), LedgerError> {
    let mut after_seq = 0;
    while after_seq < books.last_seq {
        let entries = store.journal(after_seq, ENTRIES_MAX).await?;
        for entry in entries.iter().take_while(|entry| entry.seq <= books.last_seq) {
            read(&entry.transfer);
        }
        let Some(last) = entries.last() else { break };
        after_seq = last.seq;
    }
    Ok(())
}

/// What is pending on a lot is what open jobs hold of it.
fn pending_violations(books: &Books) -> Vec<Violation> {
    let mut held: BTreeMap<LotKey, Nano> = BTreeMap::new();
    for leg in books.snapshot.job_holds.iter().flat_map(|hold| &hold.legs) {
        let sum = held.entry(leg.lot).or_default();
        *sum = sum.saturating_add(leg.amount);
    }
    let pending: BTreeMap<LotKey, Nano> = books.pending.iter().copied().collect();
    let mut lots: Vec<&LotKey> = held.keys().chain(pending.keys()).collect();
    lots.sort();
    lots.dedup();
    lots.into_iter()
        .filter(|lot| held.get(lot) != pending.get(lot))
        .map(|lot| {
            let held = held.get(lot).copied().unwrap_or_default();
            let pending = pending.get(lot).copied().unwrap_or_default();
            let words = format!("{lot}: {pending} is pending and jobs hold {held}");
            Violation { invariant: Invariant::Pending, words }
        })
        .collect()
}
