//! The audit trail: operators' actions on money, and who took them.

use moment::Timestamp;

/// The maximum number of rows per query.
pub const AUDIT_ROWS_MAX: usize = 1000;

/// The actor of actions that the program took by itself.
pub const ITSELF: &str = "tollgate";

/// One action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Timestamp,
    /// The operating system user that acted.
    pub actor: String,
    /// The command, as on the command line, such as `ledger refund`.
    pub action: String,
    /// The account, charge or payment that was acted on.
    pub subject: String,
    /// Further details as text: amounts, and the reason that was given.
    pub detail: String,
}

/// A row and its sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    pub seq: i64,
    pub entry: AuditEntry,
}
