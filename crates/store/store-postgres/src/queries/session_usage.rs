//! The sums of usage by session and day: read, and compared with the rows.

use ledger_core::OwnerId;
use store::evidence::{FAULTS_MAX, SessionMiscount};
use store::usage::{DayRange, REFUND_SKU, SESSION_SUMS_MAX, SESSIONS_MAX, SessionUsage};
use uuid::Uuid;

use crate::columns::{read_column, read_nano, read_optional_time, read_unsigned, to_row_limit};
use crate::error::PgError;
use crate::queries::usage::pruned_before_day;
use crate::session::PostgresSession;

/// Each day is one search in the index, newest first, up to a bound: the inner limit keeps the
/// planner from reading all owners' sums instead.
const BY_SESSION: &str = "SELECT session, sum(requests)::int8, sum(units)::int8, sum(usd)::int8, \
        sum(diem)::int8, sum(input_tokens)::int8, sum(cached_tokens)::int8, \
        sum(output_tokens)::int8, min(first_ms), max(last_ms) \
    FROM (SELECT daily.* FROM generate_series($3::int8, $2::int8, -1) AS days (day) \
        CROSS JOIN LATERAL (SELECT * FROM usage_session WHERE usage_session.day = days.day \
        AND owner = $1 LIMIT $4) AS daily LIMIT $4) AS newest \
    GROUP BY session ORDER BY sum(usd) + sum(diem) DESC, session LIMIT $5";

/// Compares requests, units, amounts and tokens by day, owner and session.
const SESSION_SUMS: &str = "WITH charged AS (SELECT at_ms / 86400000 AS day, owner, session, \
        charge, sku = $3 AS is_refund, sum(units) AS units, \
        sum(CASE currency WHEN 'DIEM' THEN 0 ELSE amount END) AS usd, \
        sum(CASE currency WHEN 'DIEM' THEN amount ELSE 0 END) AS diem, \
        max(coalesce(prompt_tokens, 0)) AS input_tokens, \
        max(coalesce(cached_tokens, 0)) AS cached_tokens, \
        max(coalesce(completion_tokens, 0)) AS output_tokens \
        FROM usage WHERE session IS NOT NULL AND $1 * 86400000::int8 <= at_ms \
        GROUP BY 1, 2, 3, 4, 5), \
    counted AS (SELECT day, owner, session, count(*) FILTER (WHERE NOT is_refund) AS requests, \
        coalesce(sum(units) FILTER (WHERE NOT is_refund), 0)::int8 AS units, \
        sum(usd)::int8 AS usd, sum(diem)::int8 AS diem, \
        coalesce(sum(input_tokens) FILTER (WHERE NOT is_refund), 0)::int8 AS input_tokens, \
        coalesce(sum(cached_tokens) FILTER (WHERE NOT is_refund), 0)::int8 AS cached_tokens, \
        coalesce(sum(output_tokens) FILTER (WHERE NOT is_refund), 0)::int8 AS output_tokens \
        FROM charged GROUP BY 1, 2, 3), \
    summed AS (SELECT day, owner, session, requests, units, usd, diem, input_tokens, \
        cached_tokens, output_tokens FROM usage_session WHERE $1 <= day), \
    differing AS ((SELECT * FROM counted EXCEPT SELECT * FROM summed) \
        UNION (SELECT * FROM summed EXCEPT SELECT * FROM counted)) \
    SELECT DISTINCT owner, session, \
        to_char(to_timestamp(day * 86400) AT TIME ZONE 'UTC', 'YYYY-MM-DD') \
    FROM differing LIMIT $2";

pub(super) async fn by_session(
    db: &PostgresSession,
    owner: OwnerId,
    days: DayRange,
) -> Result<Vec<SessionUsage>, PgError> {
    let days = days.for_sessions(pruned_before_day(db).await?);
    let (sums_max, sessions_max) = (to_row_limit(SESSION_SUMS_MAX), to_row_limit(SESSIONS_MAX));
    let rows =
        db.rows(BY_SESSION, &[&owner.0, &days.first, &days.last, &sums_max, &sessions_max]).await?;
    let usage = |row| {
        Ok(SessionUsage {
            session: read_column::<i64>(row, 0)?.cast_unsigned(),
            requests: read_unsigned(row, 1)?,
            units: read_unsigned(row, 2)?,
            usd: read_nano(row, 3)?,
            diem: read_nano(row, 4)?,
            input_tokens: read_unsigned(row, 5)?,
            cached_tokens: read_unsigned(row, 6)?,
            output_tokens: read_unsigned(row, 7)?,
            first: read_optional_time(row, 8)?,
            last: read_optional_time(row, 9)?,
        })
    };
    rows.iter().map(usage).collect()
}

/// Descriptions of sums that differ from the rows.
pub(super) async fn find_session_miscounts(
    db: &PostgresSession,
    from_day: i64,
) -> Result<Vec<String>, PgError> {
    let rows_max = to_row_limit(FAULTS_MAX);
    let rows = db.rows(SESSION_SUMS, &[&from_day, &rows_max, &REFUND_SKU]).await?;
    let describe = |row| {
        let owner: Uuid = read_column(row, 0)?;
        let miscount = SessionMiscount {
            owner: owner.simple().to_string(),
            session: read_column::<i64>(row, 1)?.cast_unsigned(),
            date: read_column(row, 2)?,
        };
        Ok(miscount.to_string())
    };
    rows.iter().map(describe).collect()
}
