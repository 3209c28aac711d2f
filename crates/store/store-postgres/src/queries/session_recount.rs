//! Counts the usage rows and compares them with the sums by session and day.

use store::evidence::{FAULTS_MAX, SessionMiscount};
use store::usage::REFUND_SKU;
use uuid::Uuid;

use crate::columns::{read_column, to_row_limit};
use crate::error::PgError;
use crate::session::PostgresSession;

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
