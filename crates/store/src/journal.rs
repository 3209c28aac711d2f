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
