//! A search for requests by key, model, id, outcome and time.
//!
//! It reads a bounded number of the owner's newest rows in the requested time, through their index
//! by owner, and reports if there were more.

use moment::Timestamp;
use rusqlite::{Connection, named_params};

use crate::sqlite::usage::{COLUMNS, build_position_query, pruned_before_day, usage_at};
use crate::usage::{
    DayRequests, FOUND_REQUESTS_MAX, FoundRequests, REFUND_SKU, RequestOutcome, RequestSearch,
    SEARCHED_ROWS_MAX, UsageRow,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

pub(crate) fn search_requests(
    connection: &Connection,
    search: &RequestSearch,
) -> rusqlite::Result<FoundRequests> {
    let pruned = pruned_before_day(connection)?.map(Timestamp::start_of_day);
    let from = pruned.map_or(search.from, |pruned| search.from.max(pruned));
    let matched = UnprunedSearch { search, from };
    let by_day = matched.count_by_day(connection)?;
    let requests = if 0 < search.size { matched.read_page(connection)? } else { Vec::new() };
    Ok(FoundRequests { requests, by_day, is_cut: matched.is_cut(connection)? })
}

/// A search limited to the days that are not pruned.
struct UnprunedSearch<'a> {
    search: &'a RequestSearch,
    from: Timestamp,
}

impl UnprunedSearch<'_> {
    fn count_by_day(&self, connection: &Connection) -> rusqlite::Result<Vec<DayRequests>> {
        let sql = count_sql();
        let mut statement = connection.prepare_cached(&sql)?;
        let search = self.search;
        let rows = statement.query_map(
            named_params! {
                "?1": search.owner.0.as_bytes(),
                "?2": self.from.ms(),
                "?3": search.until.ms(),
                "?4": None::<&str>,
                "?5": SEARCHED_ROWS_MAX,
                "?6": search.key.as_ref().map(|key| key.0.as_bytes()),
                "?7": search.model,
                "?8": search.request_id,
                "?9": is_refund(search),
                "?10": DAY_MS,
            },
            |row| Ok(DayRequests { day: row.get(0)?, requests: row.get(1)? }),
        )?;
        rows.collect()
    }

    fn read_page(&self, connection: &Connection) -> rusqlite::Result<Vec<Vec<UsageRow>>> {
        let sql = page_sql();
        let mut statement = connection.prepare_cached(&sql)?;
        let search = self.search;
        let rows = statement.query_map(
            named_params! {
                "?1": search.owner.0.as_bytes(),
                "?2": self.from.ms(),
                "?3": search.until.ms(),
                "?4": None::<&str>,
                "?5": SEARCHED_ROWS_MAX,
                "?6": search.key.as_ref().map(|key| key.0.as_bytes()),
                "?7": search.model,
                "?8": search.request_id,
                "?9": is_refund(search),
                "?10": search.size.min(FOUND_REQUESTS_MAX),
                "?11": search.skip,
            },
            |row| Ok((row.get(19)?, usage_at(row)?)),
        )?;
        let mut requests: Vec<(i64, Vec<UsageRow>)> = Vec::new();
        for row in rows {
            let (request, row) = row?;
            match requests.last_mut() {
                Some((last, rows)) if *last == request => rows.push(row),
                _ => requests.push((request, vec![row])),
            }
        }
        Ok(requests.into_iter().map(|(_, rows)| rows).collect())
    }

    fn is_cut(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let sql = format!("SELECT count(*) FROM ({})", seen_sql());
        let mut statement = connection.prepare_cached(&sql)?;
        let found: usize = statement.query_row(
            named_params! {
                "?1": self.search.owner.0.as_bytes(),
                "?2": self.from.ms(),
                "?3": self.search.until.ms(),
                "?4": None::<&str>,
                "?5": SEARCHED_ROWS_MAX + 1,
            },
            |row| row.get(0),
        )?;
        Ok(SEARCHED_ROWS_MAX < found)
    }
}

fn is_refund(search: &RequestSearch) -> Option<bool> {
    search.outcome.map(|outcome| outcome == RequestOutcome::Refunded)
}

/// SQL for the positions of the rows to read.
fn seen_sql() -> String {
    build_position_query("", "ORDER BY at_ms DESC, seq DESC LIMIT ?5")
}

/// SQL for the matching charges and refunds among those rows, each with its first and last row.
fn matched_sql() -> String {
    format!(
        "WITH seen AS MATERIALIZED ({seen}), matched AS MATERIALIZED (\
         SELECT usage.charge AS of_charge, usage.sku = '{REFUND_SKU}' AS is_refund, \
         min(usage.seq) AS first_seq, max(usage.seq) AS last_seq, max(usage.at_ms) AS last_ms \
         FROM seen CROSS JOIN usage ON usage.seq = seen.seq \
         WHERE (?6 IS NULL OR usage.key = ?6) AND (?7 IS NULL OR usage.model = ?7) \
         AND (?8 IS NULL OR usage.request_id = ?8) \
         AND (?9 IS NULL OR (usage.sku = '{REFUND_SKU}') = ?9) GROUP BY 1, 2)",
        seen = seen_sql()
    )
}

fn count_sql() -> String {
    format!("{} SELECT last_ms / ?10, count(*) FROM matched GROUP BY 1 ORDER BY 1", matched_sql())
}

fn page_sql() -> String {
    format!(
        "{} SELECT {COLUMNS}, last_seq FROM \
         (SELECT * FROM matched ORDER BY last_ms DESC, last_seq DESC LIMIT ?10 OFFSET ?11) AS page \
         CROSS JOIN usage ON usage.seq BETWEEN page.first_seq AND page.last_seq \
         AND usage.charge = page.of_charge AND (usage.sku = '{REFUND_SKU}') = page.is_refund \
         ORDER BY page.last_ms DESC, page.last_seq DESC, usage.seq",
        matched_sql()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn no_search_reads_all_of_the_history() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::apply_migrations(&mut connection).unwrap();
        for sql in [count_sql(), page_sql()] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let mut rows = statement.raw_query();
            let mut searched = 0;
            while let Some(row) = rows.next().unwrap() {
                let step: String = row.get(3).unwrap();
                let reads_all = step == "SCAN usage" || step == "SCAN usage_place";
                assert!(!reads_all, "{step} in {sql}");
                searched += usize::from(step.starts_with("SEARCH usage"));
            }
            assert!(3 <= searched, "{sql}");
        }
    }
}
