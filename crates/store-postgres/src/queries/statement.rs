//! Builds an owner's statement: charges from the usage, everything else from the journal.

use credits::{EntryId, OwnerId};
use money::Nano;
use store::statement::{
    Statement, StatementLine, StatementPage, add_charges, all_usage, movement_line,
};
use store::usage::{PageRequest, USAGE_ROWS_MAX, UsageFilter, UsageOrder};

use crate::columns::{get, limit, nano, time, unknown};
use crate::error::PgError;
use crate::queries::usage;
use crate::session::Session;

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
pub(crate) async fn statement(
    db: &Session,
    owner: OwnerId,
    skip: usize,
    size: usize,
) -> Result<Statement, PgError> {
    let page = StatementPage::new(skip, size);
    let filter = usage::without_pruned(db, &all_usage(owner)).await?;
    let charges = charges(db, &filter, page.wanted()).await?;
    let movements = movements(db, &filter, page.wanted()).await?;
    Ok(page.of(charges, movements, balance(db, owner).await?))
}

/// The newest charges and refunds.
async fn charges(
    db: &Session,
    filter: &UsageFilter,
    wanted: usize,
) -> Result<Vec<StatementLine>, PgError> {
    let mut lines: Vec<StatementLine> = Vec::new();
    let mut read = 0;
    loop {
        let page = PageRequest { order: UsageOrder::NewestFirst, skip: read, size: USAGE_ROWS_MAX };
        let rows = usage::page(db, filter, page).await?.rows;
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
async fn movements(
    db: &Session,
    filter: &UsageFilter,
    wanted: usize,
) -> Result<Vec<StatementLine>, PgError> {
    let values = [filter.from.ms(), limit(wanted)];
    let rows = db.rows(MOVEMENTS, &[&filter.owner.0, &values[0], &values[1]]).await?;
    let line = |row| {
        let code: i16 = get(row, 2)?;
        let code = u8::try_from(code).map_err(|_| unknown(code))?;
        Ok(movement_line(EntryId(get(row, 0)?), time(row, 1)?, code, nano(row, 3)?))
    };
    rows.iter().map(line).collect()
}

async fn balance(db: &Session, owner: OwnerId) -> Result<Nano, PgError> {
    let sql = "SELECT coalesce(sum(credits - debits), 0)::int8 FROM account WHERE owner = $1";
    nano(&db.one(sql, &[&owner.0]).await?, 0)
}
