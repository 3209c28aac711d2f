//! Statements for the sums that a batch changes: each row once, in the order of the tables.

use std::borrow::Cow;

use store::error::StoreError;
use store::rpc::SPENT_QUARTERS_KEPT;
use store::sums::{
    AccountChange, DayChange, DayKey, QuarterKey, SortedSums, SpendChange, to_database_sum,
};
use uuid::Uuid;

use crate::columns::{to_row_limit, to_sql_text};
use crate::posting::session_totals;
use crate::statements::{SqlStatements, values};

/// Locks in the order of ids, so that two batches never deadlock.
const LOCK_ACCOUNTS: &str =
    "SELECT 1 FROM account WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE";

const CHANGE_ACCOUNTS: &str = "UPDATE account SET debits = account.debits + change.debits, \
    credits = account.credits + change.credits, pending = account.pending + change.pending, \
    granted = account.granted + change.granted, \
    is_closed = account.is_closed OR change.closes \
    FROM unnest($1::uuid[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::bool[]) \
    AS change (id, debits, credits, pending, granted, closes) WHERE account.id = change.id";

/// The same day or month adds, a later one replaces, an earlier one changes nothing.
const ADD_SPENDS: &str = "INSERT INTO key_spend AS known \
    (key, class, day, day_spent, month, month_spent, lifetime_spent) \
    SELECT key, class, day, day_spent, month, month_spent, lifetime_spent \
    FROM unnest($1::uuid[], $2::text[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], \
    $7::int8[]) AS added (key, class, day, day_spent, month, month_spent, lifetime_spent) \
    ON CONFLICT (key, class) DO UPDATE SET \
    day_spent = CASE WHEN known.day < excluded.day THEN excluded.day_spent \
        WHEN known.day = excluded.day THEN known.day_spent + excluded.day_spent \
        ELSE known.day_spent END, \
    month_spent = CASE WHEN known.month < excluded.month THEN excluded.month_spent \
        WHEN known.month = excluded.month THEN known.month_spent + excluded.month_spent \
        ELSE known.month_spent END, \
    day = greatest(known.day, excluded.day), month = greatest(known.month, excluded.month), \
    lifetime_spent = known.lifetime_spent + excluded.lifetime_spent";

const ADD_DAYS: &str = "INSERT INTO usage_daily AS known \
    (owner, day, currency, key, model, sku, row_count, units, amount) \
    SELECT owner, day, currency, key, model, sku, row_count, units, amount \
    FROM unnest($1::uuid[], $2::int8[], $3::text[], $4::uuid[], $5::text[], $6::text[], \
    $7::int8[], $8::int8[], $9::int8[]) \
    AS added (owner, day, currency, key, model, sku, row_count, units, amount) \
    ON CONFLICT (owner, day, currency, key, model, sku) DO UPDATE SET \
    row_count = known.row_count + excluded.row_count, units = known.units + excluded.units, \
    amount = known.amount + excluded.amount";

const TOUCH_KEYS: &str = "UPDATE api_key \
    SET last_used_ms = greatest(api_key.last_used_ms, used.at_ms) \
    FROM unnest($1::uuid[], $2::int8[]) AS used (id, at_ms) WHERE api_key.id = used.id";

/// Skips rows that another node deletes at the same time.
const DROP_RPC_SPENT: &str = "DELETE FROM rpc_spent WHERE (quarter, owner) IN \
    (SELECT quarter, owner FROM rpc_spent WHERE quarter < $1 FOR UPDATE SKIP LOCKED)";

const ADD_RPC_SPENT: &str = "INSERT INTO rpc_spent AS known (quarter, owner, credits) \
    SELECT quarter, owner, credits FROM unnest($1::int8[], $2::uuid[], $3::int8[]) \
    AS added (quarter, owner, credits) \
    ON CONFLICT (quarter, owner) DO UPDATE SET credits = known.credits + excluded.credits";

/// Adds the statements. Returns the newest quarter of an hour for which old sums are deleted, if it
/// is a new one.
pub(crate) fn post_totals(
    statements: &mut SqlStatements<'_>,
    sums: SortedSums<'_, Uuid>,
    dropped_quarter: Option<i64>,
) -> Result<Option<i64>, StoreError> {
    let spends = sums.folded_spends();
    write_accounts(statements, &sums.accounts)?;
    write_spends(statements, &spends)?;
    write_days(statements, &sums.days)?;
    session_totals::write_sessions(statements, &sums.sessions)?;
    if !sums.touches.is_empty() {
        let (keys, at): (Vec<Uuid>, Vec<i64>) =
            sums.touches.iter().map(|(key, at_ms)| (key.0, *at_ms)).unzip();
        statements.add(TOUCH_KEYS, values![keys, at]);
    }
    write_rpc_spent(statements, &sums.rpc_spent, dropped_quarter)
}

fn write_accounts(
    statements: &mut SqlStatements<'_>,
    changes: &[(Uuid, AccountChange)],
) -> Result<(), StoreError> {
    if changes.is_empty() {
        return Ok(());
    }
    let sums = |of: fn(&AccountChange) -> i128| -> Result<Vec<i64>, StoreError> {
        changes.iter().map(|(_, change)| to_database_sum(of(change))).collect()
    };
    let ids: Vec<Uuid> = changes.iter().map(|(id, _)| *id).collect();
    statements.add(LOCK_ACCOUNTS, values![ids.clone()]);
    let values = values![
        ids,
        sums(|change| change.debits)?,
        sums(|change| change.credits)?,
        sums(|change| change.pending)?,
        sums(|change| change.granted)?,
        changes.iter().map(|(_, change)| change.closes).collect::<Vec<_>>(),
    ];
    let rows = to_row_limit(changes.len()).cast_unsigned();
    let missing = StoreError::Missing("the lot was never opened");
    statements.add_exactly(rows, CHANGE_ACCOUNTS, values, missing);
    Ok(())
}

fn write_spends(
    statements: &mut SqlStatements<'_>,
    spends: &[SpendChange],
) -> Result<(), StoreError> {
    if spends.is_empty() {
        return Ok(());
    }
    let sums = |of: fn(&SpendChange) -> i128| -> Result<Vec<i64>, StoreError> {
        spends.iter().map(|spend| to_database_sum(of(spend))).collect()
    };
    let values = values![
        spends.iter().map(|spend| spend.key.0).collect::<Vec<_>>(),
        spends.iter().map(|spend| spend.class.name()).collect::<Vec<_>>(),
        spends.iter().map(|spend| spend.day).collect::<Vec<_>>(),
        sums(|spend| spend.day_spent)?,
        spends.iter().map(|spend| spend.month).collect::<Vec<_>>(),
        sums(|spend| spend.month_spent)?,
        sums(|spend| spend.lifetime_spent)?,
    ];
    statements.add(ADD_SPENDS, values);
    Ok(())
}

fn write_days(
    statements: &mut SqlStatements<'_>,
    days: &[(DayKey<'_>, DayChange)],
) -> Result<(), StoreError> {
    if days.is_empty() {
        return Ok(());
    }
    let texts = |of: fn(&DayKey<'_>) -> String| -> Vec<String> {
        days.iter().map(|(key, _)| of(key)).collect()
    };
    let sums = |of: fn(&DayChange) -> i128| -> Result<Vec<i64>, StoreError> {
        days.iter().map(|(_, change)| to_database_sum(of(change))).collect()
    };
    let owned = |part: &str| Cow::into_owned(to_sql_text(part));
    let values = values![
        days.iter().map(|(key, _)| key.owner.0).collect::<Vec<_>>(),
        days.iter().map(|(key, _)| key.day).collect::<Vec<_>>(),
        texts(|key| key.currency.name().to_owned()),
        days.iter().map(|(key, _)| key.key.map_or(Uuid::nil(), |key| key.0)).collect::<Vec<_>>(),
        days.iter().map(|(key, _)| owned(key.model)).collect::<Vec<_>>(),
        days.iter().map(|(key, _)| owned(key.sku)).collect::<Vec<_>>(),
        days.iter().map(|(_, change)| change.rows).collect::<Vec<_>>(),
        sums(|change| change.units)?,
        sums(|change| change.amount)?,
    ];
    statements.add(ADD_DAYS, values);
    Ok(())
}

fn write_rpc_spent(
    statements: &mut SqlStatements<'_>,
    spent: &[(QuarterKey, i128)],
    dropped: Option<i64>,
) -> Result<Option<i64>, StoreError> {
    let Some((newest, _)) = spent.last() else { return Ok(None) };
    let is_new = dropped < Some(newest.quarter);
    if is_new {
        statements.add(DROP_RPC_SPENT, values![newest.quarter.saturating_sub(SPENT_QUARTERS_KEPT)]);
    }
    let values = values![
        spent.iter().map(|(key, _)| key.quarter).collect::<Vec<_>>(),
        spent.iter().map(|(key, _)| key.owner.0).collect::<Vec<_>>(),
        spent
            .iter()
            .map(|(_, credits)| to_database_sum(*credits))
            .collect::<Result<Vec<_>, _>>()?,
    ];
    statements.add(ADD_RPC_SPENT, values);
    Ok(is_new.then_some(newest.quarter))
}
