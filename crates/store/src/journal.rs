//! The journal as it is read back: for export, for refunds of old charges, and for verification.

use credits::{LotKey, Snapshot, Transfer};
use money::Nano;

/// The most entries that one answer carries.
pub const ENTRIES_MAX: usize = 10_000;

/// A transfer and its place in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub seq: i64,
    pub transfer: Transfer,
}

/// The sums that the journal was folded into, all read at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Books {
    /// The last entry that the sums contain; zero if there is none.
    pub last_seq: i64,
    pub snapshot: Snapshot,
    /// What jobs hold of each lot, where that is not zero.
    pub pending: Vec<(LotKey, Nano)>,
}

impl Books {
    /// Puts all rows into the order of their keys: that of names in a database is another.
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
