//! Builds an owner's statement: charges from the usage, everything else from the journal.

use ledger_core::OwnerId;

use crate::error::StoreError;
use crate::sql::text::shared_sql;
use crate::sql::usage::{read_page, without_pruned};
use crate::sql::value::sql_values;
use crate::sql::{SqlConnection, SqlText};
use crate::statement::{
    AccountStatement, StatementLine, StatementPage, add_charges, all_usage, movement_line,
};
use crate::usage::{PageRequest, USAGE_ROWS_MAX, UsageFilter, UsageOrder};

/// The codes are literals, because the partial indexes on these rows need them.
const MOVEMENTS: SqlText = shared_sql!(
    "SELECT entry, max(at_ms), code, sum(signed)::bigint FROM (\
     SELECT entry, at_ms, code, transfer.amount AS signed, transfer.seq AS seq FROM transfer \
     WHERE credit IN (SELECT id FROM account WHERE owner = $1) AND code <= 3 \
     UNION ALL \
     SELECT entry, at_ms, code, -transfer.amount, transfer.seq FROM transfer \
     WHERE debit IN (SELECT id FROM account WHERE owner = $1) AND code IN (4, 8)) AS moved \
     WHERE $2 <= at_ms GROUP BY entry, code ORDER BY max(seq) DESC LIMIT $3"
);

const BALANCE: SqlText =
    shared_sql!("SELECT coalesce(sum(credits - debits), 0)::bigint FROM account WHERE owner = $1");

/// The lines after the first `skip`, newest first.
pub(crate) async fn build_statement(
    db: &dyn SqlConnection,
    owner: OwnerId,
    skip: usize,
    size: usize,
) -> Result<AccountStatement, StoreError> {
    let page = StatementPage::new(skip, size);
    let filter = without_pruned(db, &all_usage(owner)).await?;
    let charges = read_charges(db, &filter, page.lines_to_read()).await?;
    let movements = read_movements(db, &filter, page.lines_to_read()).await?;
    let balance = db.single_row(BALANCE, &sql_values![owner], |row| row.get(0)).await?;
    Ok(page.into_statement(charges, movements, balance))
}

/// The newest charges and refunds. The rows of one are adjacent, and make one line.
async fn read_charges(
    db: &dyn SqlConnection,
    filter: &UsageFilter,
    wanted: usize,
) -> Result<Vec<StatementLine>, StoreError> {
    let mut lines: Vec<StatementLine> = Vec::new();
    let mut read = 0;
    loop {
        let page = PageRequest { order: UsageOrder::NewestFirst, skip: read, size: USAGE_ROWS_MAX };
        let rows = read_page(db, filter, page).await?.rows;
        read += rows.len() as u64;
        let is_last = rows.len() < USAGE_ROWS_MAX;
        add_charges(&mut lines, rows);
        // The last line may continue in rows that were not read, so it does not count.
        if is_last || wanted < lines.len() {
            lines.truncate(wanted);
            return Ok(lines);
        }
    }
}

/// The newest credits, take-backs and expiries.
async fn read_movements(
    db: &dyn SqlConnection,
    filter: &UsageFilter,
    wanted: usize,
) -> Result<Vec<StatementLine>, StoreError> {
    let values = sql_values![filter.owner, filter.from, wanted];
    let lines = db.rows(MOVEMENTS, &values, |row| {
        Ok(movement_line(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    });
    lines.await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::journal::GIVEN_CREDIT;
    use crate::sqlite::schema::explain_query;

    #[test]
    fn a_statement_does_not_read_the_whole_journal() {
        for sql in [MOVEMENTS, GIVEN_CREDIT] {
            let steps = explain_query(sql.sqlite);
            assert!(!steps.iter().any(|step| step.starts_with("SCAN transfer")), "{steps:?}");
            for index in ["transfer_in", "transfer_out"] {
                assert!(steps.iter().any(|step| step.contains(index)), "{index}: {steps:?}");
            }
        }
    }
}
