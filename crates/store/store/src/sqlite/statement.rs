//! Builds an owner's statement: charges from the usage, everything else from the journal.

use ledger_core::{EntryId, OwnerId};
use money::Nano;
use rusqlite::{Connection, params};

use crate::sqlite::columns::{read_id, read_nano, read_time};
use crate::sqlite::usage;
use crate::statement::{
    AccountStatement, StatementLine, StatementPage, add_charges, all_usage, movement_line,
};
use crate::usage::{PageRequest, USAGE_ROWS_MAX, UsageFilter, UsageOrder};

/// The lines after the first `skip`, newest first.
pub(crate) fn build_statement(
    connection: &Connection,
    owner: OwnerId,
    skip: usize,
    size: usize,
) -> rusqlite::Result<AccountStatement> {
    let page = StatementPage::new(skip, size);
    let filter = usage::without_pruned(connection, &all_usage(owner))?;
    let charges = read_charges(connection, &filter, page.lines_to_read())?;
    let movements = read_movements(connection, &filter, page.lines_to_read())?;
    Ok(page.into_statement(charges, movements, read_balance(connection, owner)?))
}

/// The newest charges and refunds. The rows of one are adjacent, and make one line.
fn read_charges(
    connection: &Connection,
    filter: &UsageFilter,
    wanted: usize,
) -> rusqlite::Result<Vec<StatementLine>> {
    let mut lines: Vec<StatementLine> = Vec::new();
    let mut read = 0;
    loop {
        let page = PageRequest { order: UsageOrder::NewestFirst, skip: read, size: USAGE_ROWS_MAX };
        let rows = usage::read_page(connection, filter, page)?.rows;
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

/// The codes are literals, because the partial indexes on these rows need them.
const MOVEMENTS: &str = "\
    SELECT entry, max(at_ms), code, sum(signed), max(seq) FROM (\
        SELECT entry, at_ms, code, transfer.amount AS signed, transfer.seq AS seq FROM transfer \
        WHERE credit IN (SELECT id FROM account WHERE owner = ?1) AND code <= 3 \
        UNION ALL \
        SELECT entry, at_ms, code, -transfer.amount, transfer.seq FROM transfer \
        WHERE debit IN (SELECT id FROM account WHERE owner = ?1) AND code IN (4, 8)) \
    WHERE ?2 <= at_ms GROUP BY entry, code ORDER BY max(seq) DESC LIMIT ?3";

/// The newest credits, take-backs and expiries.
fn read_movements(
    connection: &Connection,
    filter: &UsageFilter,
    wanted: usize,
) -> rusqlite::Result<Vec<StatementLine>> {
    let mut statement = connection.prepare_cached(MOVEMENTS)?;
    let owner = filter.owner.0.as_bytes();
    let rows = statement.query_map(params![owner, filter.from.ms(), wanted], |row| {
        let (entry, at) = (read_id(row, 0).map(EntryId)?, read_time(row, 1)?);
        Ok(movement_line(entry, at, row.get(2)?, read_nano(row, 3)?))
    })?;
    rows.collect()
}

fn read_balance(connection: &Connection, owner: OwnerId) -> rusqlite::Result<Nano> {
    let sql = "SELECT coalesce(sum(credits - debits), 0) FROM account WHERE owner = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([owner.0.as_bytes()], |row| read_nano(row, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::journal::GIVEN_CREDIT;
    use crate::sqlite::schema;

    #[test]
    fn a_statement_does_not_read_the_whole_journal() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::apply_migrations(&mut connection).unwrap();
        for query in [MOVEMENTS, GIVEN_CREDIT] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
            let mut rows = statement.raw_query();
            let mut steps = Vec::new();
            while let Some(row) = rows.next().unwrap() {
                steps.push(row.get::<_, String>(3).unwrap());
            }
            assert!(!steps.iter().any(|step| step.starts_with("SCAN transfer")), "{steps:?}");
            for index in ["transfer_in", "transfer_out"] {
                assert!(steps.iter().any(|step| step.contains(index)), "{index}: {steps:?}");
            }
        }
    }
}
