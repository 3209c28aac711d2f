//! Builds an owner's statement: charges from the usage, everything else from the journal.

use ledger_core::{EntryId, OwnerId};
use money::Nano;
use store::statement::{
    AccountStatement, StatementLine, StatementPage, add_charges, all_usage, movement_line,
};
use store::usage::{PageRequest, USAGE_ROWS_MAX, UsageFilter, UsageOrder};

use crate::columns::{read_column, read_nano, read_time, refuse_unknown, to_row_limit};
use crate::error::PgError;
use crate::queries::usage;
use crate::session::PostgresSession;

/// The codes are literals, because the partial indexes on these rows need them.
const MOVEMENTS: &str = "\
    SELECT entry, max(at_ms), code, sum(signed)::int8 FROM (\
        SELECT entry, at_ms, code, transfer.amount AS signed, transfer.seq AS seq FROM transfer \
        WHERE credit IN (SELECT id FROM account WHERE owner = $1) AND code <= 3 \
        UNION ALL \
        SELECT entry, at_ms, code, -transfer.amount, transfer.seq FROM transfer \
        WHERE debit IN (SELECT id FROM account WHERE owner = $1) AND code IN (4, 8)) AS moved \
    WHERE $2 <= at_ms GROUP BY entry, code ORDER BY max(seq) DESC LIMIT $3";

/// The lines after the first `skip`, newest first.
pub(crate) async fn build_statement(
    db: &PostgresSession,
    owner: OwnerId,
    skip: usize,
    size: usize,
) -> Result<AccountStatement, PgError> {
    let page = StatementPage::new(skip, size);
    let filter = usage::without_pruned(db, &all_usage(owner)).await?;
    let charges = read_charges(db, &filter, page.lines_to_read()).await?;
    let movements = read_movements(db, &filter, page.lines_to_read()).await?;
    Ok(page.into_statement(charges, movements, read_balance(db, owner).await?))
}

/// The newest charges and refunds.
async fn read_charges(
    db: &PostgresSession,
    filter: &UsageFilter,
    wanted: usize,
) -> Result<Vec<StatementLine>, PgError> {
    let mut lines: Vec<StatementLine> = Vec::new();
    let mut read = 0;
    loop {
        let page = PageRequest { order: UsageOrder::NewestFirst, skip: read, size: USAGE_ROWS_MAX };
        let rows = usage::read_page(db, filter, page).await?.rows;
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
    db: &PostgresSession,
    filter: &UsageFilter,
    wanted: usize,
) -> Result<Vec<StatementLine>, PgError> {
    let values = [filter.from.ms(), to_row_limit(wanted)];
    let rows = db.rows(MOVEMENTS, &[&filter.owner.0, &values[0], &values[1]]).await?;
    let line = |row| {
        let code: i16 = read_column(row, 2)?;
        let code = u8::try_from(code).map_err(|_| refuse_unknown(code))?;
        Ok(movement_line(
            EntryId(read_column(row, 0)?),
            read_time(row, 1)?,
            code,
            read_nano(row, 3)?,
        ))
    };
    rows.iter().map(line).collect()
}

async fn read_balance(db: &PostgresSession, owner: OwnerId) -> Result<Nano, PgError> {
    let sql = "SELECT coalesce(sum(credits - debits), 0)::int8 FROM account WHERE owner = $1";
    read_nano(&db.single_row(sql, &[&owner.0]).await?, 0)
}
