//! What a backup came to.

/// A backup that is whole and on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackedUp {
    pub bytes: u64,
    /// The last entry of the journal that it contains.
    pub last_seq: i64,
}
