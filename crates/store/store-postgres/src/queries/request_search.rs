//! A search for requests by key, model, id, outcome and time.
//!
//! It reads a bounded number of the owner's newest rows in the requested time, through their index
//! by owner, and reports if there were more.

use moment::Timestamp;
use store::usage::{
    DayRequests, FOUND_REQUESTS_MAX, FoundRequests, REFUND_SKU, RequestOutcome, RequestSearch,
    SEARCHED_ROWS_MAX, UsageRow,
};

use crate::columns::{read_column, read_unsigned, to_row_limit, to_signed};
use crate::error::PgError;
use crate::queries::usage::{COLUMNS, pruned_before_day, usage_at};
use crate::session::PostgresSession;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// SQL for the rows to read.
const SEEN: &str = "SELECT * FROM usage WHERE owner = $1 AND $2 <= at_ms AND at_ms < $3 \
     ORDER BY at_ms DESC, seq DESC LIMIT $4";

pub(super) async fn search_requests(
    db: &PostgresSession,
    search: &RequestSearch,
) -> Result<FoundRequests, PgError> {
    let pruned = pruned_before_day(db).await?.map(Timestamp::start_of_day);
    let from = pruned.map_or(search.from, |pruned| search.from.max(pruned));
    let matched = BoundedSearch { search, from };
    let by_day = matched.count_by_day(db).await?;
    let requests = if 0 < search.size { matched.read_page(db).await? } else { Vec::new() };
    Ok(FoundRequests { requests, by_day, is_cut: matched.is_cut(db).await? })
}

/// A search limited to the days that are not pruned.
struct BoundedSearch<'a> {
    search: &'a RequestSearch,
    from: Timestamp,
}

impl BoundedSearch<'_> {
    async fn count_by_day(&self, db: &PostgresSession) -> Result<Vec<DayRequests>, PgError> {
        let search = self.search;
        let sql = format!(
            "{} SELECT last_ms / $9, count(*) FROM matched GROUP BY 1 ORDER BY 1",
            matched_sql()
        );
        let rows = db
            .rows(
                &sql,
                &[
                    &search.owner.0,
                    &self.from.ms(),
                    &search.until.ms(),
                    &to_row_limit(SEARCHED_ROWS_MAX),
                    &search.key.map(|key| key.0),
                    &search.model,
                    &search.request_id,
                    &is_refund(search),
                    &DAY_MS,
                ],
            )
            .await?;
        let count =
            |row| Ok(DayRequests { day: read_column(row, 0)?, requests: read_unsigned(row, 1)? });
        rows.iter().map(count).collect()
    }

    async fn read_page(&self, db: &PostgresSession) -> Result<Vec<Vec<UsageRow>>, PgError> {
        let search = self.search;
        let sql = format!(
            "{} SELECT {COLUMNS}, last_seq FROM \
             (SELECT * FROM matched ORDER BY last_ms DESC, last_seq DESC LIMIT $9 OFFSET $10) \
             AS page JOIN usage ON seq BETWEEN first_seq AND last_seq \
             AND charge = of_charge AND (sku = '{REFUND_SKU}') = is_refund \
             ORDER BY last_ms DESC, last_seq DESC, seq",
            matched_sql()
        );
        let rows = db
            .rows(
                &sql,
                &[
                    &search.owner.0,
                    &self.from.ms(),
                    &search.until.ms(),
                    &to_row_limit(SEARCHED_ROWS_MAX),
                    &search.key.map(|key| key.0),
                    &search.model,
                    &search.request_id,
                    &is_refund(search),
                    &to_row_limit(search.size.min(FOUND_REQUESTS_MAX)),
                    &to_signed(search.skip)?,
                ],
            )
            .await?;
        let mut requests: Vec<(i64, Vec<UsageRow>)> = Vec::new();
        for row in &rows {
            let (request, row) = (read_column(row, 19)?, usage_at(row)?);
            match requests.last_mut() {
                Some((last, rows)) if *last == request => rows.push(row),
                _ => requests.push((request, vec![row])),
            }
        }
        Ok(requests.into_iter().map(|(_, rows)| rows).collect())
    }

    async fn is_cut(&self, db: &PostgresSession) -> Result<bool, PgError> {
        let sql = format!("SELECT count(*) FROM ({SEEN}) AS seen");
        let (from, until) = (self.from.ms(), self.search.until.ms());
        let rows_max = to_row_limit(SEARCHED_ROWS_MAX + 1);
        let counted =
            db.single_row(&sql, &[&self.search.owner.0, &from, &until, &rows_max]).await?;
        Ok(SEARCHED_ROWS_MAX < read_unsigned::<usize>(&counted, 0)?)
    }
}

fn is_refund(search: &RequestSearch) -> Option<bool> {
    search.outcome.map(|outcome| outcome == RequestOutcome::Refunded)
}

/// SQL for the matching charges and refunds among those rows, each with its first and last row.
fn matched_sql() -> String {
    format!(
        "WITH matched AS MATERIALIZED (\
         SELECT charge AS of_charge, sku = '{REFUND_SKU}' AS is_refund, min(seq) AS first_seq, \
         max(seq) AS last_seq, max(at_ms) AS last_ms FROM ({SEEN}) AS seen \
         WHERE ($5::uuid IS NULL OR key = $5) AND ($6::text IS NULL OR model = $6) \
         AND ($7::text IS NULL OR request_id = $7) \
         AND ($8::bool IS NULL OR (sku = '{REFUND_SKU}') = $8) GROUP BY 1, 2)"
    )
}
