//! Queries about usage, row by row and summed. Each reads a range of an index or of the daily sums,
//! so that none slows down as the history grows.

use ledger_core::{EntryId, KeyId, OwnerId};
use moment::Timestamp;
use money::BalanceCurrency;
use store::sql::settings;
use store::usage::{
    DayRange, FoundRequests, KeyUsage, ModelUsage, PRUNED_BEFORE_DAY, PageRequest, RequestSearch,
    SessionUsage, USAGE_ROWS_MAX, UsageCursor, UsageDetails, UsageFilter, UsageOrder, UsagePage,
    UsageRow,
};
use store::{StoreFuture, UsageStore};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{
    read_column, read_nano, read_optional_unsigned, read_parsed, read_price, read_price_units,
    read_time, read_unsigned, to_row_limit, to_signed,
};
use crate::error::PgError;
use crate::queries::{request_search, session_usage};
use crate::session::PostgresSession;

pub(super) const COLUMNS: &str = "seq, charge, owner, key, at_ms, sku, model, currency, units, price_pico, \
     price_per, amount, request_id, prompt_tokens, completion_tokens, execution_ms, notes, \
     cached_tokens, session";
const MATCHES: &str =
    "owner = $1 AND $2 <= at_ms AND at_ms < $3 AND ($4::text IS NULL OR currency = $4)";

impl UsageStore for PostgresStore {
    fn usage_page(&self, filter: UsageFilter, request: PageRequest) -> StoreFuture<'_, UsagePage> {
        self.query_snapshot(async move |db| read_page(&db, &filter, request).await)
    }

    /// An owner's rows are added by the node that has its lease, in the order of cursors; so
    /// reading on from one skips no row, however many nodes there are.
    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsageCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(UsageCursor, UsageRow)>> {
        self.query_snapshot(async move |db| rows_after(&db, &filter, after, limit).await)
    }

    fn search_requests(&self, search: RequestSearch) -> StoreFuture<'_, FoundRequests> {
        self.query_snapshot(async move |db| request_search::search_requests(&db, &search).await)
    }

    fn usage_by_model(&self, owner: OwnerId, days: DayRange) -> StoreFuture<'_, Vec<ModelUsage>> {
        self.query(async move |db| by_model(&db, owner, days).await)
    }

    fn usage_by_key(&self, owner: OwnerId, days: DayRange) -> StoreFuture<'_, Vec<KeyUsage>> {
        self.query(async move |db| by_key(&db, owner, days).await)
    }

    fn usage_by_session(
        &self,
        owner: OwnerId,
        days: DayRange,
    ) -> StoreFuture<'_, Vec<SessionUsage>> {
        self.query(async move |db| session_usage::by_session(&db, owner, days).await)
    }
}

/// Reads a page. Whole days are counted and skipped by their sums; only the day in which the page
/// begins and the two days that the filter cuts are counted row by row, in the index alone.
pub(crate) async fn read_page(
    db: &PostgresSession,
    filter: &UsageFilter,
    page: PageRequest,
) -> Result<UsagePage, PgError> {
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
    db: &PostgresSession,
    filter: &UsageFilter,
    after: Option<UsageCursor>,
    rows_max: usize,
) -> Result<Vec<(UsageCursor, UsageRow)>, PgError> {
    let filter = without_pruned(db, filter).await?;
    let after = after.unwrap_or(UsageCursor { at: Timestamp::from_ms(i64::MIN), seq: i64::MIN });
    let sql = format!(
        "SELECT {COLUMNS} FROM usage WHERE {MATCHES} AND ($5, $6) < (at_ms, seq) \
         ORDER BY at_ms, seq LIMIT $7"
    );
    let from = filter.from.max(after.at).ms();
    let rows = db
        .rows(
            &sql,
            &[
                &filter.owner.0,
                &from,
                &filter.until.ms(),
                &filter.currency.map(BalanceCurrency::name),
                &after.at.ms(),
                &after.seq,
                &to_row_limit(rows_max.min(USAGE_ROWS_MAX)),
            ],
        )
        .await?;
    let placed = |row| {
        Ok((UsageCursor { at: read_time(row, 4)?, seq: read_column(row, 0)? }, usage_at(row)?))
    };
    rows.iter().map(placed).collect()
}

async fn by_model(
    db: &PostgresSession,
    owner: OwnerId,
    days: DayRange,
) -> Result<Vec<ModelUsage>, PgError> {
    let sql = "SELECT day, model, sku, currency, sum(units)::int8, sum(amount)::int8 \
               FROM usage_daily WHERE owner = $1 AND day BETWEEN $2 AND $3 \
               GROUP BY day, model, sku, currency ORDER BY day, model, sku, currency";
    let rows = db.rows(sql, &[&owner.0, &days.first, &days.last]).await?;
    let usage = |row| {
        Ok(ModelUsage {
            day: read_column(row, 0)?,
            model: read_column(row, 1)?,
            sku: read_column(row, 2)?,
            currency: read_parsed(row, 3, BalanceCurrency::from_name)?,
            units: read_unsigned(row, 4)?,
            amount: read_nano(row, 5)?,
        })
    };
    rows.iter().map(usage).collect()
}

async fn by_key(
    db: &PostgresSession,
    owner: OwnerId,
    days: DayRange,
) -> Result<Vec<KeyUsage>, PgError> {
    let sql = "SELECT day, nullif(key, $4), description, currency, units, amount FROM \
               (SELECT day, key, currency, sum(units)::int8 AS units, sum(amount)::int8 AS amount \
                FROM usage_daily WHERE owner = $1 AND day BETWEEN $2 AND $3 \
                GROUP BY day, key, currency) AS spent \
               LEFT JOIN api_key ON api_key.id = spent.key ORDER BY day, key, currency";
    let rows = db.rows(sql, &[&owner.0, &days.first, &days.last, &Uuid::nil()]).await?;
    let usage = |row| {
        let key: Option<Uuid> = read_column(row, 1)?;
        Ok(KeyUsage {
            day: read_column(row, 0)?,
            key: key.map(KeyId),
            description: read_column(row, 2)?,
            currency: read_parsed(row, 3, BalanceCurrency::from_name)?,
            units: read_unsigned(row, 4)?,
            amount: read_nano(row, 5)?,
        })
    };
    rows.iter().map(usage).collect()
}

/// Excludes days that are being pruned, so that sums and rows agree.
pub(crate) async fn without_pruned(
    db: &PostgresSession,
    filter: &UsageFilter,
) -> Result<UsageFilter, PgError> {
    Ok(filter.without_pruned(pruned_before_day(db).await?))
}

pub(crate) async fn pruned_before_day(db: &PostgresSession) -> Result<Option<i64>, PgError> {
    Ok(store::usage::pruned_before_day(settings::read_setting(db, PRUNED_BEFORE_DAY).await?))
}

async fn counts_by_day(
    db: &PostgresSession,
    filter: &UsageFilter,
) -> Result<Vec<(i64, u64)>, PgError> {
    let DayRange { first, last } = filter.days();
    let sql = "SELECT day, sum(row_count)::int8 FROM usage_daily \
               WHERE owner = $1 AND day BETWEEN $2 AND $3 \
               AND ($4::text IS NULL OR currency = $4) GROUP BY day ORDER BY day";
    let currency = filter.currency.map(BalanceCurrency::name);
    let rows = db.rows(sql, &[&filter.owner.0, &first, &last, &currency]).await?;
    let mut counts = Vec::with_capacity(rows.len());
    for row in rows {
        let (day, mut count) = (read_column(&row, 0)?, read_unsigned(&row, 1)?);
        if let Some(part) = filter.part_of_day(day) {
            count = count_rows(db, &part).await?;
        }
        counts.push((day, count));
    }
    Ok(counts)
}

async fn count_rows(db: &PostgresSession, filter: &UsageFilter) -> Result<u64, PgError> {
    let sql = format!("SELECT count(*) FROM usage WHERE {MATCHES}");
    let currency = filter.currency.map(BalanceCurrency::name);
    let (from, until) = (filter.from.ms(), filter.until.ms());
    read_unsigned(&db.single_row(&sql, &[&filter.owner.0, &from, &until, &currency]).await?, 0)
}

async fn rows_of_page(
    db: &PostgresSession,
    filter: &UsageFilter,
    page: PageRequest,
) -> Result<Vec<UsageRow>, PgError> {
    let direction = match page.order {
        UsageOrder::OldestFirst => "ASC",
        UsageOrder::NewestFirst => "DESC",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM usage WHERE {MATCHES} \
         ORDER BY at_ms {direction}, seq {direction} LIMIT $5 OFFSET $6"
    );
    let rows = db
        .rows(
            &sql,
            &[
                &filter.owner.0,
                &filter.from.ms(),
                &filter.until.ms(),
                &filter.currency.map(BalanceCurrency::name),
                &to_row_limit(page.size.min(USAGE_ROWS_MAX)),
                &to_signed(page.skip)?,
            ],
        )
        .await?;
    rows.iter().map(usage_at).collect()
}

pub(super) fn usage_at(row: &Row) -> Result<UsageRow, PgError> {
    let key: Option<Uuid> = read_column(row, 3)?;
    Ok(UsageRow {
        charge: EntryId(read_column(row, 1)?),
        owner: OwnerId(read_column(row, 2)?),
        key: key.map(KeyId),
        at: read_time(row, 4)?,
        sku: read_column(row, 5)?,
        model: read_column(row, 6)?,
        currency: read_parsed(row, 7, BalanceCurrency::from_name)?,
        units: read_unsigned(row, 8)?,
        price: read_price(row, 9)?,
        per: read_price_units(row, 10)?,
        amount: read_nano(row, 11)?,
        details: UsageDetails {
            request_id: read_column(row, 12)?,
            prompt_tokens: read_optional_unsigned(row, 13)?,
            completion_tokens: read_optional_unsigned(row, 14)?,
            execution_ms: read_optional_unsigned(row, 15)?,
            cached_tokens: read_optional_unsigned(row, 17)?,
            session: read_column::<Option<i64>>(row, 18)?.map(i64::cast_unsigned),
        },
        notes: read_column(row, 16)?,
    })
}
