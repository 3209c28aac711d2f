//! Writes the sums that a transaction changes, once before it commits.

use ledger_core::KeyId;
use rusqlite::{Connection, params};

use crate::rpc::SPENT_QUARTERS_KEPT;
use crate::sqlite::session_sums::write_sessions;
use crate::sqlite::write_error::WriteError;
use crate::sums::{
    AccountChange, DayChange, DayKey, QuarterKey, SpendKey, TransactionSums, to_database_sum,
};

/// Writes the sums in the order of the tables.
pub(crate) fn write_sums(
    sums: TransactionSums<'_, i64>,
    connection: &Connection,
) -> Result<(), WriteError> {
    let sums = sums.into_sorted();
    write_accounts(connection, &sums.accounts)?;
    write_spends(connection, &sums.spends)?;
    write_days(connection, &sums.days)?;
    write_sessions(connection, &sums.sessions)?;
    for (key, at_ms) in sums.touches {
        touch_key(connection, key, at_ms)?;
    }
    write_rpc_spent(connection, sums.rpc_spent)
}

fn write_accounts(
    connection: &Connection,
    changes: &[(i64, AccountChange)],
) -> Result<(), WriteError> {
    let sql = "UPDATE account SET debits = debits + ?2, credits = credits + ?3, \
               pending = pending + ?4, granted = granted + ?5, \
               is_closed = is_closed OR ?6 WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    for (number, change) in changes {
        statement.execute(params![
            number,
            to_stored_sum(change.debits)?,
            to_stored_sum(change.credits)?,
            to_stored_sum(change.pending)?,
            to_stored_sum(change.granted)?,
            change.closes
        ])?;
    }
    Ok(())
}

/// Writes the spending of keys: the same day or month adds, a later one replaces, an earlier one
/// changes nothing.
fn write_spends(connection: &Connection, spends: &[(SpendKey, i128)]) -> Result<(), WriteError> {
    let sql = "INSERT INTO key_spend \
               (key, class, day, day_spent, month, month_spent, lifetime_spent) \
               VALUES (?1, ?2, ?3, ?5, ?4, ?5, ?5) \
               ON CONFLICT (key, class) DO UPDATE SET \
               day_spent = CASE WHEN day < excluded.day THEN excluded.day_spent \
                   WHEN day = excluded.day THEN day_spent + excluded.day_spent \
                   ELSE day_spent END, \
               month_spent = CASE WHEN month < excluded.month THEN excluded.month_spent \
                   WHEN month = excluded.month THEN month_spent + excluded.month_spent \
                   ELSE month_spent END, \
               day = max(day, excluded.day), month = max(month, excluded.month), \
               lifetime_spent = lifetime_spent + excluded.lifetime_spent";
    let mut statement = connection.prepare_cached(sql)?;
    for (SpendKey { stamp, class }, nanos) in spends {
        statement.execute(params![
            stamp.key.0.as_bytes(),
            class.name(),
            stamp.day,
            stamp.month,
            to_stored_sum(*nanos)?
        ])?;
    }
    Ok(())
}

fn write_days(connection: &Connection, days: &[(DayKey<'_>, DayChange)]) -> Result<(), WriteError> {
    let sql = "INSERT INTO usage_daily \
               (owner, day, currency, key, model, sku, row_count, units, amount) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
               ON CONFLICT (owner, day, currency, key, model, sku) DO UPDATE SET \
               row_count = row_count + excluded.row_count, units = units + excluded.units, \
               amount = amount + excluded.amount";
    let mut statement = connection.prepare_cached(sql)?;
    for (key, change) in days {
        let key_bytes = key.key.as_ref().map_or(&[][..], |key| key.0.as_bytes());
        statement.execute(params![
            key.owner.0.as_bytes(),
            key.day,
            key.currency.name(),
            key_bytes,
            key.model,
            key.sku,
            change.rows,
            to_stored_sum(change.units)?,
            to_stored_sum(change.amount)?
        ])?;
    }
    Ok(())
}

fn write_rpc_spent(
    connection: &Connection,
    spent: Vec<(QuarterKey, i128)>,
) -> Result<(), WriteError> {
    let Some((newest, _)) = spent.last() else { return Ok(()) };
    drop_old_spent(connection, newest.quarter)?;
    for (key, credits) in spent {
        add_spent(connection, key, to_stored_sum(credits)?)?;
    }
    Ok(())
}

/// Adds to the credits of an owner in a quarter of an hour.
fn add_spent(
    connection: &Connection,
    QuarterKey { quarter, owner }: QuarterKey,
    credits: i64,
) -> Result<(), WriteError> {
    let sql = "INSERT INTO rpc_spent (quarter, owner, credits) VALUES (?1, ?2, ?3) \
               ON CONFLICT (quarter, owner) DO UPDATE SET credits = credits + excluded.credits";
    connection.prepare_cached(sql)?.execute(params![quarter, owner.0.as_bytes(), credits])?;
    Ok(())
}

/// Deletes quarters that are too old to be queried.
fn drop_old_spent(connection: &Connection, newest: i64) -> Result<(), WriteError> {
    let sql = "DELETE FROM rpc_spent WHERE quarter < ?1";
    connection.prepare_cached(sql)?.execute([newest.saturating_sub(SPENT_QUARTERS_KEPT)])?;
    Ok(())
}

fn touch_key(connection: &Connection, key: KeyId, at_ms: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE api_key SET last_used_ms = max(coalesce(last_used_ms, 0), ?2) WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![key.0.as_bytes(), at_ms])?;
    Ok(())
}

pub(super) fn to_stored_sum(sum: i128) -> Result<i64, WriteError> {
    to_database_sum(sum).map_err(WriteError::Refused)
}
