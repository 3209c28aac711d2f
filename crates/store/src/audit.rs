//! The audit trail: what operators did to money, and who they were.

use moment::Timestamp;

/// The most rows that one answer carries.
pub const AUDIT_ROWS_MAX: usize = 1000;

/// The actor of what nobody asked for.
pub const ITSELF: &str = "tollgate";

/// One thing that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Timestamp,
    /// The user of the operating system who did it.
    pub actor: String,
    /// In the words of the command line, such as `ledger refund`.
    pub action: String,
    /// What it was done to: an account, a charge, a payment.
    pub subject: String,
    /// The rest in words: amounts, and the reason that was given.
    pub detail: String,
}

/// A row and its place in the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    pub seq: i64,
    pub entry: AuditEntry,
}
