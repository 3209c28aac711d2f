//! A search for requests by key, model, id, outcome and time.
//!
//! It reads a bounded number of the owner's newest rows in the requested time, through their index
//! by owner, and reports if there were more.

use moment::Timestamp;

use crate::error::StoreError;
use crate::sql::text::shared_sql;
use crate::sql::usage::{COLUMNS, MATCHES, positions, pruned_before_day, usage_at};
use crate::sql::value::sql_values;
use crate::sql::{SqlConnection, SqlText, SqlValue, to_signed};
use crate::usage::{
    DayRequests, FOUND_REQUESTS_MAX, FoundRequests, REFUND_SKU, RequestOutcome, RequestSearch,
    SEARCHED_ROWS_MAX, UsageRow,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

const REFUND: SqlText = SqlText::same(REFUND_SKU);

/// The rows to read: on SQLite their positions. The fourth parameter is NULL.
const SEEN: SqlText = {
    const SQLITE: SqlText = positions!(; " ORDER BY at_ms DESC, seq DESC LIMIT $5");
    const POSTGRES: SqlText = shared_sql!(
        "SELECT * FROM usage WHERE ",
        MATCHES,
        " ORDER BY at_ms DESC, seq DESC LIMIT $5"
    );
    SqlText { sqlite: SQLITE.sqlite, postgres: POSTGRES.postgres }
};

/// SQLite reads the positions first.
const SEEN_FIRST: SqlText = {
    const SQLITE: SqlText = shared_sql!("seen AS MATERIALIZED (", SEEN, "), ");
    SqlText { sqlite: SQLITE.sqlite, postgres: "" }
};

/// The rows that are read, as `usage`.
const SEEN_USAGE: SqlText = {
    const POSTGRES: SqlText = shared_sql!("(", SEEN, ") AS usage");
    SqlText { sqlite: "seen CROSS JOIN usage ON usage.seq = seen.seq", postgres: POSTGRES.postgres }
};

/// The matching charges and refunds among those rows, each with its first and last row.
const MATCHED: SqlText = shared_sql!(
    "WITH ",
    SEEN_FIRST,
    "matched AS MATERIALIZED (\
     SELECT usage.charge AS of_charge, usage.sku = '",
    REFUND,
    "' AS is_refund, min(usage.seq) AS first_seq, max(usage.seq) AS last_seq, \
     max(usage.at_ms) AS last_ms FROM ",
    SEEN_USAGE,
    " WHERE ($6::uuid IS NULL OR usage.key = $6) AND ($7::text IS NULL OR usage.model = $7) \
     AND ($8::text IS NULL OR usage.request_id = $8) \
     AND ($9::bool IS NULL OR (usage.sku = '",
    REFUND,
    "') = $9) GROUP BY 1, 2)"
);

const COUNT_BY_DAY: SqlText =
    shared_sql!(MATCHED, " SELECT last_ms / $10, count(*) FROM matched GROUP BY 1 ORDER BY 1");

/// SQLite keeps the order of a cross join.
const JOIN: SqlText = SqlText { sqlite: " CROSS JOIN ", postgres: " JOIN " };

const READ_PAGE: SqlText = shared_sql!(
    MATCHED,
    " SELECT ",
    COLUMNS,
    ", last_seq FROM \
     (SELECT * FROM matched ORDER BY last_ms DESC, last_seq DESC LIMIT $10 OFFSET $11) AS page",
    JOIN,
    "usage ON usage.seq BETWEEN page.first_seq AND page.last_seq \
     AND usage.charge = page.of_charge AND (usage.sku = '",
    REFUND,
    "') = page.is_refund ORDER BY page.last_ms DESC, page.last_seq DESC, usage.seq"
);

const COUNT_SEEN: SqlText = shared_sql!("SELECT count(*) FROM (", SEEN, ") AS seen");

pub(crate) async fn search_requests(
    db: &dyn SqlConnection,
    search: &RequestSearch,
) -> Result<FoundRequests, StoreError> {
    let pruned = pruned_before_day(db).await?.map(Timestamp::start_of_day);
    let from = pruned.map_or(search.from, |pruned| search.from.max(pruned));
    let matched = UnprunedSearch { search, from };
    let by_day = matched.count_by_day(db).await?;
    let requests = if 0 < search.size { matched.read_page(db).await? } else { Vec::new() };
    Ok(FoundRequests { requests, by_day, is_cut: matched.is_cut(db).await? })
}

/// A search limited to the days that are not pruned.
struct UnprunedSearch<'a> {
    search: &'a RequestSearch,
    from: Timestamp,
}

impl UnprunedSearch<'_> {
    async fn count_by_day(&self, db: &dyn SqlConnection) -> Result<Vec<DayRequests>, StoreError> {
        let mut values = self.values();
        values.push(DAY_MS.into());
        let days = db.rows(COUNT_BY_DAY, &values, |row| {
            Ok(DayRequests { day: row.get(0)?, requests: row.get(1)? })
        });
        days.await
    }

    async fn read_page(&self, db: &dyn SqlConnection) -> Result<Vec<Vec<UsageRow>>, StoreError> {
        let mut values = self.values();
        values.push(self.search.size.min(FOUND_REQUESTS_MAX).into());
        values.push(to_signed(self.search.skip)?.into());
        let rows = db.rows(READ_PAGE, &values, |row| Ok((row.get(19)?, usage_at(row)?)));
        let mut requests: Vec<(i64, Vec<UsageRow>)> = Vec::new();
        for (request, row) in rows.await? {
            match requests.last_mut() {
                Some((last, rows)) if *last == request => rows.push(row),
                _ => requests.push((request, vec![row])),
            }
        }
        Ok(requests.into_iter().map(|(_, rows)| rows).collect())
    }

    async fn is_cut(&self, db: &dyn SqlConnection) -> Result<bool, StoreError> {
        let RequestSearch { owner, until, .. } = self.search;
        let (any, limit) = (SqlValue::Null, SEARCHED_ROWS_MAX + 1);
        let values = sql_values![*owner, self.from, *until, any, limit];
        let counted: usize = db.single_row(COUNT_SEEN, &values, |row| row.get(0)).await?;
        Ok(SEARCHED_ROWS_MAX < counted)
    }

    /// The parameters of [`MATCHED`].
    fn values(&self) -> Vec<SqlValue<'_>> {
        let search = self.search;
        let is_refund = search.outcome.map(|outcome| outcome == RequestOutcome::Refunded);
        let values = sql_values![
            search.owner,
            self.from,
            search.until,
            SqlValue::Null,
            SEARCHED_ROWS_MAX,
            search.key,
            search.model.as_ref(),
            search.request_id.as_ref(),
            is_refund,
        ];
        values.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema::explain_query;

    #[test]
    fn no_search_reads_all_of_the_history() {
        for sql in [COUNT_BY_DAY, READ_PAGE] {
            let steps = explain_query(sql.sqlite);
            let reads_all = |step: &String| *step == "SCAN usage" || *step == "SCAN usage_place";
            assert!(!steps.iter().any(reads_all), "{steps:?} in {}", sql.sqlite);
            let searches = steps.iter().filter(|step| step.starts_with("SEARCH usage")).count();
            assert!(3 <= searches, "{steps:?} in {}", sql.sqlite);
        }
    }
}
