//! Usage, row by row and summed. Each query reads a range of an index or of the daily sums, so that
//! none slows down as the history grows.

use ledger_core::OwnerId;
use moment::Timestamp;
use money::BalanceCurrency;

use crate::error::StoreError;
use crate::sql::connection::RowResult;
use crate::sql::settings::read_setting;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{
    ReadMode, SqlConnection, SqlRow, SqlStore, SqlText, SqlValue, request_search, session_usage,
    to_signed,
};
use crate::usage::{
    self, DayRange, FoundRequests, KeyUsage, ModelUsage, PRUNED_BEFORE_DAY, PageRequest,
    RequestSearch, SessionUsage, USAGE_ROWS_MAX, UsageCursor, UsageDetails, UsageFilter,
    UsageOrder, UsagePage, UsageRow,
};
use crate::{StoreFuture, UsageStore};

pub(crate) const COLUMNS: SqlText = SqlText::same(
    "usage.seq, usage.charge, usage.owner, usage.key, usage.at_ms, usage.sku, usage.model, \
     usage.currency, usage.units, usage.price_pico, usage.price_per, usage.amount, \
     usage.request_id, usage.prompt_tokens, usage.completion_tokens, usage.execution_ms, \
     usage.notes, usage.cached_tokens, usage.session",
);

/// The first four parameters of the queries: the owner, the time, and the currency or NULL.
pub(crate) const MATCHES: SqlText = SqlText::same(
    "owner = $1 AND $2 <= at_ms AND at_ms < $3 AND ($4::text IS NULL OR currency = $4)",
);

/// The positions of matching rows on SQLite: in the index by owner, and among the newest rows,
/// which are not indexed yet.
macro_rules! positions {
    ($($and_also:literal)?; $($order:literal)?) => {
        shared_sql!(
            "SELECT at_ms, seq FROM usage_place WHERE ",
            MATCHES,
            $($and_also,)?
            " UNION ALL SELECT at_ms, seq FROM usage \
             WHERE (SELECT through_seq FROM usage_placed) < seq AND ",
            MATCHES
            $(, $and_also)?
            $(, $order)?
        )
    };
}
pub(crate) use positions;

/// Rows by an order: on SQLite by their positions.
macro_rules! read_page {
    ($direction:literal) => {{
        const ORDER: SqlText = shared_sql!(
            " ORDER BY at_ms ",
            $direction,
            ", seq ",
            $direction,
            " LIMIT $5 OFFSET $6"
        );
    const POSITIONS: SqlText = positions!(;);
        const SQLITE: SqlText = shared_sql!(
            "SELECT ",
            COLUMNS,
            " FROM (",
            POSITIONS,
            ORDER,
            ") AS place CROSS JOIN usage ON usage.seq = place.seq ORDER BY place.at_ms ",
            $direction,
            ", place.seq ",
            $direction
        );
        const POSTGRES: SqlText =
            shared_sql!("SELECT ", COLUMNS, " FROM usage WHERE ", MATCHES, ORDER);
        SqlText { sqlite: SQLITE.sqlite, postgres: POSTGRES.postgres }
    }};
}

const PAGE_OLDEST_FIRST: SqlText = read_page!("ASC");
const PAGE_NEWEST_FIRST: SqlText = read_page!("DESC");

const READ_AFTER: SqlText = {
    const POSITIONS: SqlText =
        positions!(" AND ($5, $6) < (at_ms, seq)"; " ORDER BY at_ms, seq LIMIT $7");
    const SQLITE: SqlText = shared_sql!(
        "SELECT ",
        COLUMNS,
        " FROM (",
        POSITIONS,
        ") AS place CROSS JOIN usage ON usage.seq = place.seq ORDER BY place.at_ms, place.seq"
    );
    const POSTGRES: SqlText = shared_sql!(
        "SELECT ",
        COLUMNS,
        " FROM usage WHERE ",
        MATCHES,
        " AND ($5, $6) < (at_ms, seq) ORDER BY at_ms, seq LIMIT $7"
    );
    SqlText { sqlite: SQLITE.sqlite, postgres: POSTGRES.postgres }
};

const COUNT: SqlText = {
    const POSITIONS: SqlText = positions!(;);
    const SQLITE: SqlText = shared_sql!("SELECT count(*) FROM (", POSITIONS, ")");
    const POSTGRES: SqlText = shared_sql!("SELECT count(*) FROM usage WHERE ", MATCHES);
    SqlText { sqlite: SQLITE.sqlite, postgres: POSTGRES.postgres }
};

const COUNT_BY_DAY: SqlText = shared_sql!(
    "SELECT day, sum(row_count)::bigint FROM usage_daily \
     WHERE owner = $1 AND day BETWEEN $2 AND $3 AND ($4::text IS NULL OR currency = $4) \
     GROUP BY day ORDER BY day"
);

const SUM_BY_MODEL: SqlText = shared_sql!(
    "SELECT day, model, sku, currency, sum(units)::bigint, sum(amount)::bigint FROM usage_daily \
     WHERE owner = $1 AND day BETWEEN $2 AND $3 \
     GROUP BY day, model, sku, currency ORDER BY day, model, sku, currency"
);

/// The key of usage without one.
pub(crate) const NO_KEY: SqlText =
    SqlText { sqlite: "x''", postgres: "'00000000-0000-0000-0000-000000000000'::uuid" };

const SUM_BY_KEY: SqlText = shared_sql!(
    "SELECT day, nullif(key, ",
    NO_KEY,
    "), description, currency, units, amount FROM \
     (SELECT day, key, currency, sum(units)::bigint AS units, sum(amount)::bigint AS amount \
     FROM usage_daily WHERE owner = $1 AND day BETWEEN $2 AND $3 \
     GROUP BY day, key, currency) AS spent \
     LEFT JOIN api_key ON api_key.id = spent.key ORDER BY day, key, currency"
);

impl<S: SqlStore> UsageStore for S {
    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> StoreFuture<'_, UsagePage> {
        self.read(ReadMode::SNAPSHOT.with_charges(), move |db| {
            Box::pin(async move { read_page(db, &filter, page).await })
        })
    }

    /// An owner's rows are added by the node that has its lease, in the order of cursors; so
    /// reading on from one skips no row, however many nodes there are.
    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsageCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(UsageCursor, UsageRow)>> {
        self.read(ReadMode::SNAPSHOT.with_charges(), move |db| {
            Box::pin(async move { rows_after(db, &filter, after, limit).await })
        })
    }

    fn search_requests(&self, search: RequestSearch) -> StoreFuture<'_, FoundRequests> {
        self.read(ReadMode::SNAPSHOT.with_charges(), move |db| {
            Box::pin(async move { request_search::search_requests(db, &search).await })
        })
    }

    fn usage_by_model(&self, owner: OwnerId, days: DayRange) -> StoreFuture<'_, Vec<ModelUsage>> {
        let values = sql_values![owner, days.first, days.last];
        self.read_rows(ReadMode::STATEMENT.with_charges(), SUM_BY_MODEL, values, |row| {
            Ok(ModelUsage {
                day: row.get(0)?,
                model: row.get(1)?,
                sku: row.get(2)?,
                currency: row.parse(3, BalanceCurrency::from_name)?,
                units: row.get(4)?,
                amount: row.get(5)?,
            })
        })
    }

    fn usage_by_key(&self, owner: OwnerId, days: DayRange) -> StoreFuture<'_, Vec<KeyUsage>> {
        let values = sql_values![owner, days.first, days.last];
        self.read_rows(ReadMode::STATEMENT.with_charges(), SUM_BY_KEY, values, |row| {
            Ok(KeyUsage {
                day: row.get(0)?,
                key: row.get(1)?,
                description: row.get(2)?,
                currency: row.parse(3, BalanceCurrency::from_name)?,
                units: row.get(4)?,
                amount: row.get(5)?,
            })
        })
    }

    fn usage_by_session(
        &self,
        owner: OwnerId,
        days: DayRange,
    ) -> StoreFuture<'_, Vec<SessionUsage>> {
        self.read(ReadMode::STATEMENT.with_charges(), move |db| {
            Box::pin(async move { session_usage::by_session(db, owner, days).await })
        })
    }
}

/// Reads a page. Whole days are counted and skipped by their sums; only the day in which the page
/// begins and the two days that the filter cuts are counted row by row, in the index alone.
pub(crate) async fn read_page(
    db: &dyn SqlConnection,
    filter: &UsageFilter,
    page: PageRequest,
) -> Result<UsagePage, StoreError> {
    let filter = without_pruned(db, filter).await?;
    if filter.until <= filter.from {
        return Ok(UsagePage { rows: Vec::new(), total: 0 });
    }
    let counts = counts_by_day(db, &filter).await?;
    let total = counts.iter().map(|(_, count)| count).sum();
    let rows = match page.first_day(counts) {
        Some((day, skip)) => {
            let start = filter.starting_at(day, page.order);
            rows_of_page(db, &start, PageRequest { skip, ..page }).await?
        }
        None => Vec::new(),
    };
    Ok(UsagePage { rows, total })
}

async fn rows_after(
    db: &dyn SqlConnection,
    filter: &UsageFilter,
    after: Option<UsageCursor>,
    limit: usize,
) -> Result<Vec<(UsageCursor, UsageRow)>, StoreError> {
    let filter = without_pruned(db, filter).await?;
    let after = after.unwrap_or(UsageCursor { at: Timestamp::from_ms(i64::MIN), seq: i64::MIN });
    let values = sql_values![
        filter.owner,
        filter.from.max(after.at),
        filter.until,
        filter.currency.map(BalanceCurrency::name),
        after.at,
        after.seq,
        limit.min(USAGE_ROWS_MAX),
    ];
    let rows = db.rows(READ_AFTER, &values, |row| {
        Ok((UsageCursor { at: row.get(4)?, seq: row.get(0)? }, usage_at(row)?))
    });
    rows.await
}

/// Excludes days that are being pruned, so that sums and rows agree.
pub(crate) async fn without_pruned(
    db: &dyn SqlConnection,
    filter: &UsageFilter,
) -> Result<UsageFilter, StoreError> {
    Ok(filter.without_pruned(pruned_before_day(db).await?))
}

pub async fn pruned_before_day(db: &dyn SqlConnection) -> Result<Option<i64>, StoreError> {
    Ok(usage::pruned_before_day(read_setting(db, PRUNED_BEFORE_DAY).await?))
}

async fn counts_by_day(
    db: &dyn SqlConnection,
    filter: &UsageFilter,
) -> Result<Vec<(i64, u64)>, StoreError> {
    let DayRange { first, last } = filter.days();
    let currency = filter.currency.map(BalanceCurrency::name);
    let values = sql_values![filter.owner, first, last, currency];
    let counts = db.rows(COUNT_BY_DAY, &values, |row| Ok((row.get::<i64>(0)?, row.get(1)?)));
    let mut counts: Vec<(i64, u64)> = counts.await?;
    for (day, count) in &mut counts {
        if let Some(part) = filter.part_of_day(*day) {
            *count = db.single_row(COUNT, &filter_values(&part), |row| row.get(0)).await?;
        }
    }
    Ok(counts)
}

fn filter_values(filter: &UsageFilter) -> [SqlValue<'static>; 4] {
    let currency = filter.currency.map(BalanceCurrency::name);
    sql_values![filter.owner, filter.from, filter.until, currency]
}

async fn rows_of_page(
    db: &dyn SqlConnection,
    filter: &UsageFilter,
    page: PageRequest,
) -> Result<Vec<UsageRow>, StoreError> {
    let sql = match page.order {
        UsageOrder::OldestFirst => PAGE_OLDEST_FIRST,
        UsageOrder::NewestFirst => PAGE_NEWEST_FIRST,
    };
    let [owner, from, until, currency] = filter_values(filter);
    let limit = page.size.min(USAGE_ROWS_MAX);
    let values = sql_values![owner, from, until, currency, limit, to_signed(page.skip)?];
    db.rows(sql, &values, usage_at).await
}

pub(crate) fn usage_at(row: &dyn SqlRow) -> RowResult<UsageRow> {
    Ok(UsageRow {
        charge: row.get(1)?,
        owner: row.get(2)?,
        key: row.get(3)?,
        at: row.get(4)?,
        sku: row.get(5)?,
        model: row.get(6)?,
        currency: row.parse(7, BalanceCurrency::from_name)?,
        units: row.get(8)?,
        price: row.get(9)?,
        per: row.get(10)?,
        amount: row.get(11)?,
        details: UsageDetails {
            request_id: row.get(12)?,
            prompt_tokens: row.get(13)?,
            completion_tokens: row.get(14)?,
            execution_ms: row.get(15)?,
            cached_tokens: row.get(17)?,
            session: row.get::<Option<i64>>(18)?.map(i64::cast_unsigned),
        },
        notes: row.get(16)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema::explain_query;

    #[test]
    fn no_question_reads_all_of_the_history() {
        for sql in [PAGE_OLDEST_FIRST, PAGE_NEWEST_FIRST, READ_AFTER, COUNT] {
            let steps = explain_query(sql.sqlite);
            let reads_all = |step: &String| *step == "SCAN usage" || *step == "SCAN usage_place";
            assert!(!steps.iter().any(reads_all), "{steps:?} in {}", sql.sqlite);
            let searches = steps.iter().filter(|step| step.starts_with("SEARCH usage")).count();
            assert!(2 <= searches, "{steps:?} in {}", sql.sqlite);
        }
    }
}
