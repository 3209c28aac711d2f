//! An owner's account statement: credits, charges, and the balance after each.

use ledger_core::{EntryId, OwnerId, TransferCode};
use moment::Timestamp;
use money::Nano;

use crate::usage::{UsageFilter, UsageRow};

/// The maximum number of lines of a statement; older ones are in the usage.
pub const STATEMENT_LINES_MAX: usize = 10_000;

/// Some lines of a statement, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountStatement {
    /// The current balance over all currencies: each buys the same work.
    pub balance: Nano,
    pub lines: Vec<StatementLine>,
    /// True if there are older lines.
    pub has_more: bool,
}

/// One command of the ledger, as shown to its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementLine {
    pub entry: EntryId,
    pub at: Timestamp,
    pub kind: StatementKind,
    /// Negative for money that was spent or taken.
    pub amount: Nano,
    pub balance_after: Nano,
    /// The id of the request that was charged.
    pub request_id: Option<String>,
    pub model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementKind {
    /// Paid in, or granted by the operator.
    Credit,
    /// Paid for work.
    Charge,
    /// A charge that was refunded.
    Refund,
    /// Taken back by the operator, or expired.
    Lapse,
}

/// The requested lines of an owner's statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementPage {
    skip: usize,
    size: usize,
}

impl StatementPage {
    pub fn new(skip: usize, size: usize) -> StatementPage {
        StatementPage { skip: skip.min(STATEMENT_LINES_MAX), size: size.min(STATEMENT_LINES_MAX) }
    }

    /// The number of newest lines to read: one more than is shown, to know if there are more.
    pub fn lines_to_read(self) -> usize {
        self.skip + self.size + 1
    }

    /// Builds the page from the newest charges, the newest movements and the current balance.
    pub fn into_statement(
        self,
        charges: Vec<StatementLine>,
        movements: Vec<StatementLine>,
        balance: Nano,
    ) -> AccountStatement {
        let mut lines = charges;
        lines.extend(movements);
        // At equal times, credits come before debits.
        lines.sort_by_key(|line| std::cmp::Reverse((line.at, line.amount.is_negative())));
        let mut left = balance;
        for line in &mut lines {
            line.balance_after = left;
            left = left.saturating_sub(line.amount);
        }
        let has_more = self.skip + self.size < lines.len();
        let lines = lines.into_iter().skip(self.skip).take(self.size).collect();
        AccountStatement { balance, lines, has_more }
    }
}

/// A filter for all charges of an owner, including pruned days.
pub fn all_usage(owner: OwnerId) -> UsageFilter {
    UsageFilter { owner, currency: None, from: Timestamp::from_ms(0), until: Timestamp::MAX }
}

/// Adds the next usage rows, newest first: those of one charge are adjacent, and make one line.
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
        entry: if is_refund { row.charge.refund_entry() } else { row.charge },
        at: row.at,
        kind: if is_refund { StatementKind::Refund } else { StatementKind::Charge },
        amount: Nano::ZERO.saturating_sub(row.amount),
        balance_after: Nano::ZERO,
        request_id: text(row.details.request_id),
        model: text(row.model),
    }
}

/// A line that is not a charge: a credit or a lapse. `code` is the number of a [`TransferCode`].
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
