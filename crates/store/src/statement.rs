//! An owner's account statement: credits, charges, and the balance after each.

use credits::{EntryId, OwnerId, TransferCode};
use moment::Timestamp;
use money::Nano;

use crate::usage::{UsageFilter, UsageRow};

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

/// Which lines of an owner's statement are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementPage {
    skip: usize,
    size: usize,
}

impl StatementPage {
    pub fn new(skip: usize, size: usize) -> StatementPage {
        StatementPage { skip: skip.min(STATEMENT_LINES_MAX), size: size.min(STATEMENT_LINES_MAX) }
    }

    /// How many of the newest lines must be read: one more than is shown, to know whether there are
    /// more.
    pub fn wanted(self) -> usize {
        self.skip + self.size + 1
    }

    /// The page, from the newest charges, the newest movements and what is left.
    pub fn of(
        self,
        charges: Vec<StatementLine>,
        movements: Vec<StatementLine>,
        balance: Nano,
    ) -> Statement {
        let mut lines = charges;
        lines.extend(movements);
        // Where moments are equal, money came before it went.
        lines.sort_by_key(|line| std::cmp::Reverse((line.at, line.amount.is_negative())));
        let mut left = balance;
        for line in &mut lines {
            line.balance_after = left;
            left = left.saturating_sub(line.amount);
        }
        let has_more = self.skip + self.size < lines.len();
        let lines = lines.into_iter().skip(self.skip).take(self.size).collect();
        Statement { balance, lines, has_more }
    }
}

/// Everything that an owner was charged, before what was pruned is left out.
pub fn all_usage(owner: OwnerId) -> UsageFilter {
    UsageFilter { owner, currency: None, from: Timestamp::from_ms(0), until: Timestamp::MAX }
}

/// Adds the next rows of usage, newest first: those of one charge follow each other, and make one
/// line.
pub fn add_charges(lines: &mut Vec<StatementLine>, rows: Vec<UsageRow>) {
    for row in rows {
        let line = charge_line(row);
        match lines.last_mut() {
            Some(last) if last.entry == line.entry => {
                last.amount = last.amount.saturating_add(line.amount);
            }
            _ => lines.push(line),
        }
    }
}

fn charge_line(row: UsageRow) -> StatementLine {
    let is_refund = row.amount.is_negative();
    let text = |text: String| if text.is_empty() { None } else { Some(text) };
    StatementLine {
        entry: if is_refund { row.charge.refund() } else { row.charge },
        at: row.at,
        kind: if is_refund { StatementKind::Refund } else { StatementKind::Charge },
        amount: Nano::ZERO.saturating_sub(row.amount),
        balance_after: Nano::ZERO,
        request_id: text(row.details.request_id),
        model: text(row.model),
    }
}

/// A line that is no charge: what came in or lapsed. `code` is the number of a [`TransferCode`].
pub fn movement_line(entry: EntryId, at: Timestamp, code: u8, amount: Nano) -> StatementLine {
    let is_lapse = [TransferCode::TakeBack.number(), TransferCode::Expiry.number()].contains(&code);
    StatementLine {
        entry,
        at,
        kind: if is_lapse { StatementKind::Lapse } else { StatementKind::Credit },
        amount,
        balance_after: Nano::ZERO,
        request_id: None,
        model: None,
    }
}
