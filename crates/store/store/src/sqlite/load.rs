//! Reads the stored sums: those that a start needs, and those that verification compares.

use ledger_core::{
    AccountSums, AllowanceRow, HeldKey, HoldId, JobHold, KeyId, KeySpendRow, KeyStamp, KeyTerms,
    LedgerAccount, LimitClass, LimitPeriod, LotRow, OwnerId, PaymentLeg, SystemRow,
};
use money::Nano;
use rusqlite::{Connection, Row};

use crate::journal::LedgerBooks;
use crate::names::parse_allowance;
use crate::sqlite::columns::{
    read_id, read_nano, read_optional_id, read_optional_nano, read_optional_time, read_parsed,
    read_time,
};
use crate::sqlite::journal::account_at;

/// Excludes closed lots, so that a start does not slow down with the number of past days.
pub(crate) fn open_books(connection: &Connection) -> rusqlite::Result<LedgerBooks> {
    read_all(connection, "WHERE is_closed = 0")
}

pub(crate) fn trial_balance(connection: &Connection) -> rusqlite::Result<LedgerBooks> {
    read_all(connection, "")
}

/// Reads the accounts only. Closed ones are included only if the journal has moved them since.
pub(crate) fn changed_books(
    connection: &Connection,
    after_seq: i64,
) -> rusqlite::Result<LedgerBooks> {
    let mut books = LedgerBooks { last_seq: last_seq(connection)?, ..LedgerBooks::default() };
    read_accounts(connection, "WHERE is_closed = 0", &mut books)?;
    let touched = format!(
        "WHERE is_closed = 1 AND id IN (SELECT debit FROM transfer WHERE {after_seq} < seq \
         UNION SELECT credit FROM transfer WHERE {after_seq} < seq)"
    );
    read_accounts(connection, &touched, &mut books)?;
    Ok(books)
}

fn last_seq(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(max(seq), 0) FROM transfer";
    connection.query_row(sql, [], |row| row.get(0))
}

fn read_all(connection: &Connection, which_accounts: &str) -> rusqlite::Result<LedgerBooks> {
    let mut books = LedgerBooks { last_seq: last_seq(connection)?, ..LedgerBooks::default() };
    read_accounts(connection, which_accounts, &mut books)?;
    let snapshot = &mut books.snapshot;
    snapshot.allowances = read_allowances(connection)?;
    snapshot.job_holds = read_job_holds(connection)?;
    snapshot.key_spends = read_key_spends(connection)?;
    books.sort();
    Ok(books)
}

fn read_accounts(
    connection: &Connection,
    which: &str,
    books: &mut LedgerBooks,
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT owner, currency, name, opened_ms, expires_ms, granted, debits, credits, pending \
         FROM account {which}"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let columns = AccountSums {
            debits: row.get::<_, i64>(6)?.into(),
            credits: row.get::<_, i64>(7)?.into(),
        };
        match account_at(row, 0)? {
            LedgerAccount::System(account) => {
                books.snapshot.systems.push(SystemRow { account, columns });
            }
            LedgerAccount::Lot(lot) => {
                books.snapshot.lots.push(LotRow {
                    lot,
                    opened_at: read_time(row, 3)?,
                    expires_at: read_optional_time(row, 4)?,
                    granted: read_nano(row, 5)?,
                    columns,
                });
                let pending = read_nano(row, 8)?;
                if pending != Nano::ZERO {
                    books.pending.push((lot, pending));
                }
            }
        }
    }
    Ok(())
}

fn read_allowances(connection: &Connection) -> rusqlite::Result<Vec<AllowanceRow>> {
    let mut statement =
        connection.prepare("SELECT owner, kind, amount, opened_period FROM allowance")?;
    let rows = statement.query_map([], |row| {
        Ok(AllowanceRow {
            owner: read_id(row, 0).map(OwnerId)?,
            kind: read_parsed(row, 1, parse_allowance)?,
            amount: read_nano(row, 2)?,
            opened: row.get(3)?,
        })
    })?;
    rows.collect()
}

fn read_job_holds(connection: &Connection) -> rusqlite::Result<Vec<JobHold>> {
    let sql = "SELECT id, owner, made_ms, key, limit_usd, limit_diem, limit_period, key_day, \
               key_month FROM job_hold";
    let mut statement = connection.prepare(sql)?;
    let mut legs = connection.prepare(
        "SELECT account.owner, account.currency, account.name, amount FROM job_hold_leg \
         JOIN account ON account.id = job_hold_leg.account WHERE hold = ?1 ORDER BY position",
    )?;
    let mut holds = Vec::new();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let hold = read_id(row, 0)?;
        holds.push(JobHold {
            hold: HoldId(hold),
            owner: read_id(row, 1).map(OwnerId)?,
            key: held_key_at(row)?,
            legs: legs.query_map([hold.as_bytes()], leg_at)?.collect::<Result<_, _>>()?,
            made_at: read_time(row, 2)?,
        });
    }
    Ok(holds)
}

fn held_key_at(row: &Row<'_>) -> rusqlite::Result<Option<HeldKey>> {
    let Some(key) = read_optional_id(row, 3)?.map(KeyId) else { return Ok(None) };
    let terms = KeyTerms {
        key,
        limit_usd: read_optional_nano(row, 4)?,
        limit_diem: read_optional_nano(row, 5)?,
        period: read_parsed(row, 6, LimitPeriod::from_name)?,
    };
    let stamp = KeyStamp { key, day: row.get(7)?, month: row.get(8)? };
    Ok(Some(HeldKey { terms, stamp }))
}

fn leg_at(row: &Row<'_>) -> rusqlite::Result<PaymentLeg> {
    match account_at(row, 0)? {
        LedgerAccount::Lot(lot) => Ok(PaymentLeg { lot, amount: read_nano(row, 3)? }),
        LedgerAccount::System(_) => Err(rusqlite::Error::InvalidColumnName("owner".into())),
    }
}

fn read_key_spends(connection: &Connection) -> rusqlite::Result<Vec<KeySpendRow>> {
    let sql =
        "SELECT key, class, day, day_spent, month, month_spent, lifetime_spent FROM key_spend";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(KeySpendRow {
            key: read_id(row, 0).map(KeyId)?,
            class: read_parsed(row, 1, LimitClass::from_name)?,
            day: row.get(2)?,
            day_spent: read_nano(row, 3)?,
            month: row.get(4)?,
            month_spent: read_nano(row, 5)?,
            lifetime_spent: read_nano(row, 6)?,
        })
    })?;
    rows.collect()
}
