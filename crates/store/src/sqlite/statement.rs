//! Puts an owner's statement together: charges from the usage, everything else from the journal.

use credits::{EntryId, OwnerId, TransferCode};
use moment::Timestamp;
use money::Nano;
use rusqlite::{Connection, params};

use crate::sqlite::columns::{id, nano, time};
use crate::sqlite::usage;
use crate::statement::{STATEMENT_LINES_MAX, Statement, StatementKind, StatementLine};
use crate::usage::{PageRequest, USAGE_ROWS_MAX, UsageFilter, UsageOrder, UsageRow};

/// The lines after the first `skip`, newest first.
pub(crate) fn statement(
    connection: &Connection,
    owner: OwnerId,
    skip: usize,
    size: usize,
) -> rusqlite::Result<Statement> {
    let skip = skip.min(STATEMENT_LINES_MAX);
    let size = size.min(STATEMENT_LINES_MAX);
    // One more than is shown, to know whether there is more.
    let wanted = skip + size + 1;
    let filter =
        UsageFilter { owner, currency: None, from: Timestamp::from_ms(0), until: Timestamp::MAX };
    let filter = usage::without_pruned(connection, &filter)?;
    let mut lines = charges(connection, &filter, wanted)?;
    lines.extend(movements(connection, &filter, wanted)?);
    // Where moments are equal, money came before it went.
    lines.sort_by_key(|line| std::cmp::Reverse((line.at, line.amount.is_negative())));
    let balance = balance(connection, owner)?;
    let mut left = balance;
    for line in &mut lines {
        line.balance_after = left;
        left = left.saturating_sub(line.amount);
    }
    let has_more = skip + size < lines.len();
    let lines = lines.into_iter().skip(skip).take(size).collect();
    Ok(Statement { balance, lines, has_more })
}

/// The newest charges and refunds. The rows of one follow each other, and make one line.
fn charges(
    connection: &Connection,
    filter: &UsageFilter,
    wanted: usize,
) -> rusqlite::Result<Vec<StatementLine>> {
    let mut lines: Vec<StatementLine> = Vec::new();
    let mut read = 0;
    loop {
        let page = PageRequest { order: UsageOrder::NewestFirst, skip: read, size: USAGE_ROWS_MAX };
        let rows = usage::page(connection, filter, page)?.rows;
        read += rows.len() as u64;
        let is_last = rows.len() < USAGE_ROWS_MAX;
        for row in rows {
            let line = charge_line(row);
            match lines.last_mut() {
                Some(last) if last.entry == line.entry => {
                    last.amount = last.amount.saturating_add(line.amount);
                }
                _ => lines.push(line),
            }
        }
        // The last line may go on in the rows that were not read, so it does not count.
        if is_last || wanted < lines.len() {
            lines.truncate(wanted);
            return Ok(lines);
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

/// The codes are written out, because the indexes on these rows are found by them.
const MOVEMENTS: &str = "\
    SELECT entry, max(at_ms), code, sum(signed), max(seq) FROM (\
        SELECT entry, at_ms, code, transfer.amount AS signed, transfer.seq AS seq FROM transfer \
        WHERE credit IN (SELECT id FROM account WHERE owner = ?1) AND code <= 3 \
        UNION ALL \
        SELECT entry, at_ms, code, -transfer.amount, transfer.seq FROM transfer \
        WHERE debit IN (SELECT id FROM account WHERE owner = ?1) AND code IN (4, 8)) \
    WHERE ?2 <= at_ms GROUP BY entry, code ORDER BY max(seq) DESC LIMIT ?3";

/// The newest credits, and what lapsed.
fn movements(
    connection: &Connection,
    filter: &UsageFilter,
    wanted: usize,
) -> rusqlite::Result<Vec<StatementLine>> {
    let mut statement = connection.prepare_cached(MOVEMENTS)?;
    let owner = filter.owner.0.as_bytes();
    let rows = statement.query_map(params![owner, filter.from.ms(), wanted], |row| {
        let lapsed = [TransferCode::TakeBack.number(), TransferCode::Expiry.number()];
        let is_lapse = lapsed.contains(&row.get(2)?);
        Ok(StatementLine {
            entry: id(row, 0).map(EntryId)?,
            at: time(row, 1)?,
            kind: if is_lapse { StatementKind::Lapse } else { StatementKind::Credit },
            amount: nano(row, 3)?,
            balance_after: Nano::ZERO,
            request_id: None,
            model: None,
        })
    })?;
    rows.collect()
}

fn balance(connection: &Connection, owner: OwnerId) -> rusqlite::Result<Nano> {
    let sql = "SELECT coalesce(sum(credits - debits), 0) FROM account WHERE owner = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([owner.0.as_bytes()], |row| nano(row, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn a_statement_does_not_read_the_whole_journal() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {MOVEMENTS}");
        let mut statement = connection.prepare(&sql).unwrap();
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
