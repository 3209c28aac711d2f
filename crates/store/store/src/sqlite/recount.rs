//! Counts the usage rows and compares them with the stored sums.
//!
//! Pruned rows cannot be counted, so each query begins with the first complete day.

use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use crate::evidence::{DailyMiscount, FAULTS_MAX, RpcMiscount, UsageCount};
use crate::rpc::{QUARTER_MS, RPC_SKU_PREFIX, SPENT_QUARTERS_KEPT};
use crate::sql::settings;
use crate::sqlite::session_sums::find_session_miscounts;
use crate::usage::{PRUNED_BEFORE_DAY, pruned_before_day};

const DAY_MS: i64 = 86_400_000;

/// Descriptions of all differences.
pub(crate) fn find_miscounts(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let from_day = read_pruned_before_day(connection)?.unwrap_or(0).max(0);
    let mut found = daily_sums(connection, from_day)?;
    found.extend(find_index_mismatches(connection)?);
    found.extend(rpc_sums(connection, from_day)?);
    found.extend(find_session_miscounts(connection, from_day)?);
    Ok(found)
}

fn read_pruned_before_day(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached(settings::READ.sqlite)?;
    let value = statement.query_row([PRUNED_BEFORE_DAY], |row| row.get(0)).optional()?;
    Ok(pruned_before_day(value))
}

/// Compares rows, units and amount by owner, day, currency, key, model and SKU.
fn daily_sums(connection: &Connection, from_day: i64) -> rusqlite::Result<Vec<String>> {
    let sql = "WITH counted AS (SELECT owner, at_ms / ?1 AS day, currency, \
                   coalesce(key, x'') AS key, model, sku, count(*) AS rows, sum(units) AS units, \
                   sum(amount) AS amount FROM usage WHERE ?2 * ?1 <= at_ms \
                   GROUP BY 1, 2, 3, 4, 5, 6), \
               daily AS (SELECT * FROM usage_daily WHERE ?2 <= day) \
               SELECT lower(hex(owner)), date(day * ?1 / 1000, 'unixepoch'), currency, \
                   lower(hex(key)), model, sku, \
                   coalesce(counted.rows, 0), coalesce(counted.units, 0), \
                   coalesce(counted.amount, 0), coalesce(daily.row_count, 0), \
                   coalesce(daily.units, 0), coalesce(daily.amount, 0) \
               FROM counted FULL JOIN daily USING (owner, day, currency, key, model, sku) \
               WHERE counted.rows IS NOT daily.row_count OR counted.units IS NOT daily.units \
                   OR counted.amount IS NOT daily.amount LIMIT ?3";
    describe_rows(connection, sql, params![DAY_MS, from_day, FAULTS_MAX], |row| {
        let count = |first: usize| -> rusqlite::Result<UsageCount> {
            let (rows, units, nanos) = (row.get(first)?, row.get(first + 1)?, row.get(first + 2)?);
            Ok(UsageCount { rows, units, nanos })
        };
        let miscount = DailyMiscount {
            owner: row.get(0)?,
            date: row.get(1)?,
            currency: row.get(2)?,
            key: row.get(3)?,
            model: row.get(4)?,
            sku: row.get(5)?,
            counted: count(6)?,
            summed: count(9)?,
        };
        Ok(miscount.to_string())
    })
}

/// Finds usage rows without an index row, and index rows without a usage row.
fn find_index_mismatches(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let unplaced = "SELECT usage.seq FROM usage WHERE usage.seq <= \
                    (SELECT through_seq FROM usage_placed) AND NOT EXISTS \
                    (SELECT 1 FROM usage_place AS place WHERE place.owner = usage.owner \
                    AND place.at_ms = usage.at_ms AND place.seq = usage.seq \
                    AND place.currency = usage.currency) LIMIT ?1";
    let mut found = describe_rows(connection, unplaced, [FAULTS_MAX], |row| {
        Ok(format!("row {} of usage is not where its owner's rows are looked for", read_seq(row)?))
    })?;
    let astray = "SELECT place.seq FROM usage_place AS place WHERE NOT EXISTS \
                  (SELECT 1 FROM usage WHERE usage.seq = place.seq \
                  AND usage.owner = place.owner AND usage.at_ms = place.at_ms) LIMIT ?1";
    found.extend(describe_rows(connection, astray, [FAULTS_MAX], |row| {
        Ok(format!("row {} of usage is looked for where it is not", read_seq(row)?))
    })?);
    Ok(found)
}

/// Compares the credits of the JSON-RPC proxy by owner and quarter of an hour, as far back as they
/// are kept.
fn rpc_sums(connection: &Connection, from_day: i64) -> rusqlite::Result<Vec<String>> {
    let newest = "SELECT coalesce(max(quarter), 0) FROM rpc_spent";
    let newest: i64 = connection.query_row(newest, [], |row| row.get(0))?;
    let from = newest.saturating_sub(SPENT_QUARTERS_KEPT).max(from_day * (DAY_MS / QUARTER_MS));
    let sql = "WITH counted AS (SELECT at_ms / ?1 AS quarter, owner, sum(units) AS credits \
                   FROM usage WHERE ?2 * ?1 <= at_ms AND sku GLOB ?3 GROUP BY 1, 2), \
               kept AS (SELECT * FROM rpc_spent WHERE ?2 <= quarter) \
               SELECT lower(hex(owner)), datetime(quarter * ?1 / 1000, 'unixepoch'), \
                   coalesce(counted.credits, 0), coalesce(kept.credits, 0) \
               FROM counted FULL JOIN kept USING (quarter, owner) \
               WHERE counted.credits IS NOT kept.credits LIMIT ?4";
    let pattern = format!("{RPC_SKU_PREFIX}*");
    describe_rows(connection, sql, params![QUARTER_MS, from, pattern, FAULTS_MAX], |row| {
        let (owner, from) = (row.get(0)?, row.get(1)?);
        let (counted, summed) = (row.get(2)?, row.get(3)?);
        Ok(RpcMiscount { owner, from, counted, summed }.to_string())
    })
}

fn read_seq(row: &Row<'_>) -> rusqlite::Result<i64> {
    row.get(0)
}

fn describe_rows(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    words: impl Fn(&Row<'_>) -> rusqlite::Result<String>,
) -> rusqlite::Result<Vec<String>> {
    connection.prepare(sql)?.query_map(params, |row| words(row))?.collect()
}
