//! Verifies the books from the journal alone, for `tollgate ledger verify`.
//!
//! The module that checks each invariant:
//! - I1, I2, I4, I7, I8 (counters), I9, I11, I14: `ledger_core::JournalAudit`, a fold of the journal.
//! - I3, I5: `jobs`. I6, I10: `usage`. I8 (limits): `limits`. I12: `cash`. I13: `conservation`.
//! - I10 also includes the database's own integrity check.
//!
//! A lease of money to another node would count in I13; one node has none.

mod cash;
mod conservation;
mod digest_check;
mod jobs;
mod limits;
mod price_check;
mod usage;

use ledger_core::{InvariantViolation, JournalAudit, LedgerInvariant, LedgerRules};
use store::Store;
use store::evidence::VerificationEvidence;
use store::journal::{ENTRIES_MAX, JournalEntry};
use store::time_reset::{TIME_MENDS, read_time_resets};

use crate::error::LedgerError;
use cash::CashAudit;
use usage::UsageAudit;

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationReport {
    pub transfers: u64,
    pub accounts: usize,
    /// Descriptions of what is wrong; empty if the books are right. At most
    /// [`VIOLATIONS_MAX`](ledger_core::VIOLATIONS_MAX) are listed.
    pub violations: Vec<InvariantViolation>,
    /// Number of violations, listed or not.
    pub violations_total: u64,
    /// Usage rows of earlier releases, which have no digest: a change of their request id, model,
    /// notes or counts is not found.
    pub undigested_rows: u64,
}

impl VerificationReport {
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

/// Reads the whole journal and compares the derived state with everything that must agree with it.
/// Can run beside a working service: entries written after it began are left out.
pub async fn verify_books(store: &dyn Store) -> Result<VerificationReport, LedgerError> {
    let evidence = store.read_evidence().await?;
    let snapshot = &evidence.books.snapshot;
    let mut audit = JournalAudit::from_snapshot(snapshot);
    for set in &evidence.allowances {
        audit.read_allowance(set.owner, set.kind, set.amount);
    }
    let mut cash = CashAudit::from_evidence(&evidence);
    let mut usage = UsageAudit::from_evidence(&evidence);
    let mut mends = read_time_resets(store.setting(TIME_MENDS).await?).into_iter().peekable();
    let mut journal = JournalReader { store, after_seq: 0, last_seq: evidence.books.last_seq };
    while let Some(entries) = journal.next().await? {
        for JournalEntry { seq, transfer } in &entries {
            while let Some(mend) = mends.next_if(|mend| mend.after_seq < *seq) {
                audit.read_time_mend(mend.at);
            }
            audit.read(transfer);
            cash.read(transfer);
            usage.read(transfer);
        }
        for entry in audit.take_split_entries() {
            let recorded = store.find_transfers(entry).await?;
            audit.read_entry(entry, recorded.iter().map(|recorded| &recorded.transfer));
        }
        usage.catch_up(store).await?;
    }
    mends.for_each(|mend| audit.read_time_mend(mend.at));
    usage.read_rest(store).await?;
    if audit.has_refunds() {
        journal.after_seq = 0;
        while let Some(entries) = journal.next().await? {
            entries.iter().for_each(|entry| audit.read_again(&entry.transfer));
        }
    }
    let transfers = audit.transfer_count();
    let mut violations = audit.finish(snapshot);
    let undigested_rows = usage.undigested_rows();
    violations.append(usage.finish());
    violations.extend(cash.finish());
    violations.extend(jobs::check_pending(&evidence.books));
    violations.extend(jobs::charged_while_held(store, snapshot).await?);
    violations.extend(limits::check_key_limits(&evidence));
    violations.extend(conservation::check_conservation(snapshot));
    let miscounts = evidence.miscounts.iter();
    violations.extend(miscounts.map(|words| LedgerInvariant::Bill.violation(words.clone())));
    violations
        .extend(evidence.faults.iter().map(|fault| LedgerInvariant::Once.violation(fault.clone())));
    let accounts = snapshot.lots.len() + snapshot.systems.len();
    violations.extend(find_start_violation(evidence));
    let violations_total = violations.count();
    let violations = violations.into_kept();
    Ok(VerificationReport { transfers, accounts, violations, violations_total, undigested_rows })
}

/// The violation that would keep the service from starting with these rows, if any.
fn find_start_violation(evidence: VerificationEvidence) -> Option<InvariantViolation> {
    ledger_core::CreditLedger::from_snapshot(LedgerRules::default(), evidence.books.snapshot).err()
}

/// Reads the journal page by page, up to where the rows were read.
struct JournalReader<'a> {
    store: &'a dyn Store,
    after_seq: i64,
    last_seq: i64,
}

impl JournalReader<'_> {
    async fn next(&mut self) -> Result<Option<Vec<JournalEntry>>, LedgerError> {
        if self.last_seq <= self.after_seq {
            return Ok(None);
        }
        let entries = self.store.read_journal(self.after_seq, ENTRIES_MAX).await?;
        let Some(last) = entries.last() else { return Ok(None) };
        self.after_seq = last.seq;
        let known = entries.into_iter().take_while(|entry| entry.seq <= self.last_seq);
        Ok(Some(known.collect()))
    }
}
