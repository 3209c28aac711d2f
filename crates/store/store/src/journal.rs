//! The journal as it is read: for exports, refunds of old charges, and verification.

use ledger_core::{LedgerSnapshot, LedgerTransfer, LotKey};
use money::Nano;

/// The maximum number of entries per query.
pub const ENTRIES_MAX: usize = 10_000;

/// A transfer and its sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    pub seq: i64,
    pub transfer: LedgerTransfer,
}

/// The sums of the journal, all read in one snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerBooks {
    /// The sequence number of the last entry that the sums contain; zero if there is none.
    pub last_seq: i64,
    pub snapshot: LedgerSnapshot,
    /// The amount of each lot that jobs hold, where not zero.
    pub pending: Vec<(LotKey, Nano)>,
}

impl LedgerBooks {
    /// Sorts all rows by their keys; a database sorts names differently.
    pub fn sort(&mut self) {
        let snapshot = &mut self.snapshot;
        snapshot.lots.sort_by_key(|row| row.lot);
        snapshot.systems.sort_by(|one, other| one.account.cmp(&other.account));
        snapshot.allowances.sort_by_key(|row| (row.owner, row.kind));
        snapshot.job_holds.sort_by_key(|hold| hold.hold);
        snapshot.key_spends.sort_by_key(|row| (row.key, row.class));
        self.pending.sort_by_key(|(lot, _)| *lot);
    }
}
