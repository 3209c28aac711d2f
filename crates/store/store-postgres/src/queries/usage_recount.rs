//! Counts the usage rows and compares them with the stored sums.
//!
//! Pruned rows cannot be counted, so each query begins with the first complete day.

use store::evidence::{DailyMiscount, FAULTS_MAX, RpcMiscount, UsageCount};
use store::rpc::{QUARTER_MS, RPC_SKU_PREFIX, SPENT_QUARTERS_KEPT};
use store::sql::usage::pruned_before_day;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::columns::{read_column, to_row_limit};
use crate::error::PgError;
use crate::queries::session_recount::find_session_miscounts;
use crate::session::PostgresSession;

const DAY_MS: i64 = 86_400_000;

/// Compares rows, units and amount by owner, day, currency, key, model and SKU.
const DAILY_SUMS: &str = "WITH counted AS (SELECT owner, at_ms / $1 AS day, currency, \
        coalesce(key, $4) AS key, model, sku, count(*) AS rows, sum(units)::int8 AS units, \
        sum(amount)::int8 AS amount FROM usage WHERE $2 * $1 <= at_ms GROUP BY 1, 2, 3, 4, 5, 6), \
    daily AS (SELECT * FROM usage_daily WHERE $2 <= day) \
    SELECT owner, to_char(to_timestamp(day * $1 / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD'), \
        currency, key, model, sku, \
        coalesce(counted.rows, 0), coalesce(counted.units, 0), coalesce(counted.amount, 0), \
        coalesce(daily.row_count, 0), coalesce(daily.units, 0), coalesce(daily.amount, 0) \
    FROM counted FULL JOIN daily USING (owner, day, currency, key, model, sku) \
    WHERE counted.rows IS DISTINCT FROM daily.row_count \
        OR counted.units IS DISTINCT FROM daily.units \
        OR counted.amount IS DISTINCT FROM daily.amount LIMIT $3";

/// Compares the credits of the JSON-RPC proxy by owner and quarter of an hour, as far back as they
/// are kept.
const RPC_SUMS: &str = "WITH counted AS (SELECT at_ms / $1 AS quarter, owner, \
        sum(units)::int8 AS credits FROM usage \
        WHERE $2 * $1 <= at_ms AND starts_with(sku, $3) GROUP BY 1, 2), \
    kept AS (SELECT * FROM rpc_spent WHERE $2 <= quarter) \
    SELECT owner, \
        to_char(to_timestamp(quarter * $1 / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), \
        coalesce(counted.credits, 0), coalesce(kept.credits, 0) \
    FROM counted FULL JOIN kept USING (quarter, owner) \
    WHERE counted.credits IS DISTINCT FROM kept.credits LIMIT $4";

/// Descriptions of all differences.
pub(crate) async fn find_miscounts(db: &PostgresSession) -> Result<Vec<String>, PgError> {
    let from_day = pruned_before_day(db).await?.unwrap_or(0).max(0);
    let mut found = Vec::new();
    let rows_max = to_row_limit(FAULTS_MAX);
    for row in db.rows(DAILY_SUMS, &[&DAY_MS, &from_day, &rows_max, &Uuid::nil()]).await? {
        found.push(daily_at(&row)?.to_string());
    }
    let newest = db.single_row("SELECT coalesce(max(quarter), 0) FROM rpc_spent", &[]).await?;
    let newest: i64 = read_column(&newest, 0)?;
    let from = newest.saturating_sub(SPENT_QUARTERS_KEPT).max(from_day * (DAY_MS / QUARTER_MS));
    for row in db.rows(RPC_SUMS, &[&QUARTER_MS, &from, &RPC_SKU_PREFIX, &rows_max]).await? {
        let owner: Uuid = read_column(&row, 0)?;
        let miscount = RpcMiscount {
            owner: owner.simple().to_string(),
            from: read_column(&row, 1)?,
            counted: read_column(&row, 2)?,
            summed: read_column(&row, 3)?,
        };
        found.push(miscount.to_string());
    }
    found.extend(find_session_miscounts(db, from_day).await?);
    Ok(found)
}

fn daily_at(row: &Row) -> Result<DailyMiscount, PgError> {
    let (owner, key): (Uuid, Uuid) = (read_column(row, 0)?, read_column(row, 3)?);
    let count = |first| {
        let (rows, units) = (read_column(row, first)?, read_column(row, first + 1)?);
        Ok::<_, PgError>(UsageCount { rows, units, nanos: read_column(row, first + 2)? })
    };
    Ok(DailyMiscount {
        owner: owner.simple().to_string(),
        date: read_column(row, 1)?,
        currency: read_column(row, 2)?,
        key: if key.is_nil() { String::new() } else { key.simple().to_string() },
        model: read_column(row, 4)?,
        sku: read_column(row, 5)?,
        counted: count(6)?,
        summed: count(9)?,
    })
}
