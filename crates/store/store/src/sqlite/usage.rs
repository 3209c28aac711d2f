//! Queries about usage. Each reads a range of an index or of the daily sums, so that none slows
//! down as the history grows.

use ledger_core::{EntryId, KeyId, OwnerId};
use moment::Timestamp;
use money::BalanceCurrency;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::sql::settings;
use crate::sqlite::columns::{
    read_id, read_nano, read_optional_id, read_parsed, read_price, read_price_units, read_time,
};
use crate::usage::{
    self, DayRange, KeyUsage, ModelUsage, PRUNED_BEFORE_DAY, PageRequest, USAGE_ROWS_MAX,
    UsageCursor, UsageDetails, UsageFilter, UsageOrder, UsagePage, UsageRow,
};

pub(super) const COLUMNS: &str = "usage.seq, charge, owner, key, usage.at_ms, sku, model, currency, units, \
     price_pico, price_per, amount, request_id, prompt_tokens, completion_tokens, execution_ms, \
     notes, cached_tokens, session";
const MATCHES: &str = "owner = ?1 AND ?2 <= at_ms AND at_ms < ?3 AND (?4 IS NULL OR currency = ?4)";
const IS_UNPLACED: &str = "(SELECT through_seq FROM usage_placed) < seq";

/// Reads a page. Whole days are counted and skipped by their sums; only the day in which the page
/// begins and the two days that the filter cuts are counted row by row, in the index alone.
pub(crate) fn read_page(
    connection: &Connection,
    filter: &UsageFilter,
    page: PageRequest,
) -> rusqlite::Result<UsagePage> {
    let filter = without_pruned(connection, filter)?;
    if filter.until <= filter.from {
        return Ok(UsagePage { rows: Vec::new(), total: 0 });
    }
    let counts = counts_by_day(connection, &filter)?;
    let total = counts.iter().map(|(_, count)| count).sum();
    let rows = match page.first_day(counts) {
        Some((day, skip)) => {
            let start = filter.starting_at(day, page.order);
            rows_of_page(connection, &start, PageRequest { skip, ..page })?
        }
        None => Vec::new(),
    };
    Ok(UsagePage { rows, total })
}

pub(crate) fn rows_after(
    connection: &Connection,
    filter: &UsageFilter,
    after: Option<UsageCursor>,
    limit: usize,
) -> rusqlite::Result<Vec<(UsageCursor, UsageRow)>> {
    let filter = without_pruned(connection, filter)?;
    let after = after.unwrap_or(UsageCursor { at: Timestamp::from_ms(i64::MIN), seq: i64::MIN });
    let sql = history_sql();
    let from = filter.from.max(after.at);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(
        params![
            filter.owner.0.as_bytes(),
            from.ms(),
            filter.until.ms(),
            filter.currency.map(BalanceCurrency::name),
            after.at.ms(),
            after.seq,
            limit.min(USAGE_ROWS_MAX),
        ],
        |row| Ok((UsageCursor { at: read_time(row, 4)?, seq: row.get(0)? }, usage_at(row)?)),
    )?;
    rows.collect()
}

pub(crate) fn by_model(
    connection: &Connection,
    owner: OwnerId,
    days: DayRange,
) -> rusqlite::Result<Vec<ModelUsage>> {
    let sql = "SELECT day, model, sku, currency, sum(units), sum(amount) FROM usage_daily \
               WHERE owner = ?1 AND day BETWEEN ?2 AND ?3 \
               GROUP BY day, model, sku, currency ORDER BY day, model, sku, currency";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![owner.0.as_bytes(), days.first, days.last], |row| {
        Ok(ModelUsage {
            day: row.get(0)?,
            model: row.get(1)?,
            sku: row.get(2)?,
            currency: read_parsed(row, 3, BalanceCurrency::from_name)?,
            units: row.get(4)?,
            amount: read_nano(row, 5)?,
        })
    })?;
    rows.collect()
}

pub(crate) fn by_key(
    connection: &Connection,
    owner: OwnerId,
    days: DayRange,
) -> rusqlite::Result<Vec<KeyUsage>> {
    let sql = "SELECT day, nullif(key, x''), description, currency, units, amount FROM \
               (SELECT day, key, currency, sum(units) AS units, sum(amount) AS amount \
                FROM usage_daily WHERE owner = ?1 AND day BETWEEN ?2 AND ?3 \
                GROUP BY day, key, currency) AS spent \
               LEFT JOIN api_key ON api_key.id = spent.key ORDER BY day, key, currency";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![owner.0.as_bytes(), days.first, days.last], |row| {
        Ok(KeyUsage {
            day: row.get(0)?,
            key: read_optional_id(row, 1)?.map(KeyId),
            description: row.get(2)?,
            currency: read_parsed(row, 3, BalanceCurrency::from_name)?,
            units: row.get(4)?,
            amount: read_nano(row, 5)?,
        })
    })?;
    rows.collect()
}

/// Excludes days that are being pruned, so that sums and rows agree.
pub(crate) fn without_pruned(
    connection: &Connection,
    filter: &UsageFilter,
) -> rusqlite::Result<UsageFilter> {
    Ok(filter.without_pruned(pruned_before_day(connection)?))
}

pub(crate) fn pruned_before_day(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached(settings::READ.sqlite)?;
    let value = statement.query_row([PRUNED_BEFORE_DAY], |row| row.get(0)).optional()?;
    Ok(usage::pruned_before_day(value))
}

fn counts_by_day(
    connection: &Connection,
    filter: &UsageFilter,
) -> rusqlite::Result<Vec<(i64, u64)>> {
    let DayRange { first, last } = filter.days();
    let sql = "SELECT day, sum(row_count) FROM usage_daily \
               WHERE owner = ?1 AND day BETWEEN ?2 AND ?3 AND (?4 IS NULL OR currency = ?4) \
               GROUP BY day ORDER BY day";
    let mut statement = connection.prepare_cached(sql)?;
    let currency = filter.currency.map(BalanceCurrency::name);
    let days = statement
        .query_map(params![filter.owner.0.as_bytes(), first, last, currency], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let mut counts: Vec<(i64, u64)> = days.collect::<rusqlite::Result<_>>()?;
    for (day, count) in &mut counts {
        if let Some(part) = filter.part_of_day(*day) {
            *count = count_rows(connection, &part)?;
        }
    }
    Ok(counts)
}

fn count_rows(connection: &Connection, filter: &UsageFilter) -> rusqlite::Result<u64> {
    let sql = count_sql();
    let mut statement = connection.prepare_cached(&sql)?;
    let currency = filter.currency.map(BalanceCurrency::name);
    statement.query_row(
        params![filter.owner.0.as_bytes(), filter.from.ms(), filter.until.ms(), currency],
        |row| row.get(0),
    )
}

fn rows_of_page(
    connection: &Connection,
    filter: &UsageFilter,
    page: PageRequest,
) -> rusqlite::Result<Vec<UsageRow>> {
    let sql = page_sql(page.order);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(
        params![
            filter.owner.0.as_bytes(),
            filter.from.ms(),
            filter.until.ms(),
            filter.currency.map(BalanceCurrency::name),
            page.size.min(USAGE_ROWS_MAX),
            page.skip,
        ],
        usage_at,
    )?;
    rows.collect()
}

fn page_sql(order: UsageOrder) -> String {
    let direction = match order {
        UsageOrder::OldestFirst => "ASC",
        UsageOrder::NewestFirst => "DESC",
    };
    let order = format!("ORDER BY at_ms {direction}, seq {direction} LIMIT ?5 OFFSET ?6");
    format!(
        "SELECT {COLUMNS} FROM ({}) AS place CROSS JOIN usage ON usage.seq = place.seq \
         ORDER BY place.at_ms {direction}, place.seq {direction}",
        build_position_query("", &order)
    )
}

fn history_sql() -> String {
    let places =
        build_position_query("AND (?5, ?6) < (at_ms, seq)", "ORDER BY at_ms, seq LIMIT ?7");
    format!(
        "SELECT {COLUMNS} FROM ({places}) AS place CROSS JOIN usage ON usage.seq = place.seq \
         ORDER BY place.at_ms, place.seq"
    )
}

fn count_sql() -> String {
    format!("SELECT count(*) FROM ({})", build_position_query("", ""))
}

/// SQL for the positions of matching rows: in the index by owner, and among the newest rows, which
/// are not indexed yet.
pub(super) fn build_position_query(and_also: &str, order: &str) -> String {
    format!(
        "SELECT at_ms, seq FROM usage_place WHERE {MATCHES} {and_also} UNION ALL \
         SELECT at_ms, seq FROM usage WHERE {IS_UNPLACED} AND {MATCHES} {and_also} {order}"
    )
}

pub(super) fn usage_at(row: &Row<'_>) -> rusqlite::Result<UsageRow> {
    Ok(UsageRow {
        charge: read_id(row, 1).map(EntryId)?,
        owner: read_id(row, 2).map(OwnerId)?,
        key: read_optional_id(row, 3)?.map(KeyId),
        at: read_time(row, 4)?,
        sku: row.get(5)?,
        model: row.get(6)?,
        currency: read_parsed(row, 7, BalanceCurrency::from_name)?,
        units: row.get(8)?,
        price: read_price(row, 9)?,
        per: read_price_units(row, 10)?,
        amount: read_nano(row, 11)?,
        details: UsageDetails {
            request_id: row.get(12)?,
            prompt_tokens: row.get(13)?,
            completion_tokens: row.get(14)?,
            execution_ms: row.get(15)?,
            cached_tokens: row.get(17)?,
            session: row.get::<_, Option<i64>>(18)?.map(i64::cast_unsigned),
        },
        notes: row.get(16)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn no_question_reads_all_of_the_history() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::apply_migrations(&mut connection).unwrap();
        let queries = [
            page_sql(UsageOrder::OldestFirst),
            page_sql(UsageOrder::NewestFirst),
            history_sql(),
            count_sql(),
        ];
        for sql in queries {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let mut rows = statement.raw_query();
            let mut searched = 0;
            while let Some(row) = rows.next().unwrap() {
                let step: String = row.get(3).unwrap();
                let reads_all = step == "SCAN usage" || step == "SCAN usage_place";
                assert!(!reads_all, "{step} in {sql}");
                searched += usize::from(step.starts_with("SEARCH usage"));
            }
            assert!(2 <= searched, "{sql}");
        }
    }
}
