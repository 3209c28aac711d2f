//! The result of a backup.

/// A complete backup on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupSummary {
    pub bytes: u64,
    /// The sequence number of the last journal entry it contains.
    pub last_seq: i64,
}
