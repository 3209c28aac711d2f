//! Distributes one list of amounts over another with the same sum.

use crate::nano::Nano;

/// The part of a row that a column paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BillShare {
    pub row: usize,
    pub column: usize,
    pub amount: Nano,
}

/// Assigns the rows of a bill to the columns that paid it, in order: each row is paid by the first
/// columns that have something left. The shares of a row add up to the row and those of a column to
/// the column; if one side is smaller, the rest of the other side is in no share.
///
/// An amount of zero or less has no share.
pub fn distribute_amounts(rows: &[Nano], columns: &[Nano]) -> Vec<BillShare> {
    let mut shares = Vec::with_capacity(rows.len() + columns.len());
    let mut unused = columns.iter().copied().enumerate();
    let mut column = unused.next();
    for (row, &amount) in rows.iter().enumerate() {
        let mut owed = amount;
        while owed.is_positive() {
            let Some((index, left)) = column else { return shares };
            let paid = owed.min(left);
            if !paid.is_positive() {
                column = unused.next();
                continue;
            }
            shares.push(BillShare { row, column: index, amount: paid });
            owed = owed.saturating_sub(paid);
            column = Some((index, left.saturating_sub(paid)));
        }
    }
    shares
}
