//! An owner's money as a bank would tell it: what came, what went, and what was left each time.

use credits::EntryId;
use moment::Timestamp;
use money::Nano;

/// The most lines that a statement can be read back to; older ones are in the usage.
pub const STATEMENT_LINES_MAX: usize = 10_000;

/// Some lines of a statement, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What the owner has now, in all currencies together: each buys the same work.
    pub balance: Nano,
    pub lines: Vec<StatementLine>,
    /// Whether there are older lines.
    pub has_more: bool,
}

/// One command of the ledger, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementLine {
    pub entry: EntryId,
    pub at: Timestamp,
    pub kind: StatementKind,
    /// Negative where money went.
    pub amount: Nano,
    pub balance_after: Nano,
    /// The request that was charged for.
    pub request_id: Option<String>,
    pub model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementKind {
    /// Paid in, or given by the operator.
    Credit,
    /// Paid for work.
    Charge,
    /// A charge that was given back.
    Refund,
    /// Taken back by the operator, or expired.
    Lapse,
}
