//! Reads the stored sums: those that a start needs, and those that verification compares.

use credits::{
    Account, AllowanceRow, Columns, HeldKey, HoldId, JobHold, KeyId, KeySpendRow, KeyStamp,
    KeyTerms, Leg, LimitClass, LimitPeriod, LotRow, OwnerId, SystemRow,
};
use money::Nano;
use rusqlite::{Connection, Row};

use crate::journal::Books;
use crate::names::allowance;
use crate::sqlite::columns::{id, id_or_none, nano, nano_or_none, parsed, time, time_or_none};
use crate::sqlite::journal::account_at;

/// Excludes closed lots, so that a start does not slow down with the number of past days.
pub(crate) fn open_books(connection: &Connection) -> rusqlite::Result<Books> {
    read_all(connection, "WHERE is_closed = 0")
}

pub(crate) fn trial_balance(connection: &Connection) -> rusqlite::Result<Books> {
    read_all(connection, "")
}

/// Reads the accounts only. Closed ones are included only if the journal has moved them since.
pub(crate) fn changed_books(connection: &Connection, after_seq: i64) -> rusqlite::Result<Books> {
    let mut books = Books { last_seq: last_seq(connection)?, ..Books::default() };
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

fn read_all(connection: &Connection, which_accounts: &str) -> rusqlite::Result<Books> {
    let mut books = Books { last_seq: last_seq(connection)?, ..Books::default() };
    read_accounts(connection, which_accounts, &mut books)?;
    let snapshot = &mut books.snapshot;
    snapshot.allowances = read_allowances(connection)?;
    snapshot.job_holds = read_job_holds(connection)?;
    snapshot.key_spends = read_key_spends(connection)?;
    books.sort();
    Ok(books)
}

fn read_accounts(connection: &Connection, which: &str, books: &mut Books) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT owner, currency, name, opened_ms, expires_ms, granted, debits, credits, pending \
         FROM account {which}"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let columns =
            Columns { debits: row.get::<_, i64>(6)?.into(), credits: row.get::<_, i64>(7)?.into() };
        match account_at(row, 0)? {
            Account::System(account) => {
                books.snapshot.systems.push(SystemRow { account, columns });
            }
            Account::Lot(lot) => {
                books.snapshot.lots.push(LotRow {
                    lot,
                    opened_at: time(row, 3)?,
                    expires_at: time_or_none(row, 4)?,
                    granted: nano(row, 5)?,
                    columns,
                });
                let pending = nano(row, 8)?;
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
            owner: id(row, 0).map(OwnerId)?,
            kind: parsed(row, 1, allowance)?,
            amount: nano(row, 2)?,
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
        let hold = id(row, 0)?;
        holds.push(JobHold {
            hold: HoldId(hold),
            owner: id(row, 1).map(OwnerId)?,
            key: held_key_at(row)?,
            legs: legs.query_map([hold.as_bytes()], leg_at)?.collect::<Result<_, _>>()?,
            made_at: time(row, 2)?,
        });
    }
    Ok(holds)
}

fn held_key_at(row: &Row<'_>) -> rusqlite::Result<Option<HeldKey>> {
    let Some(key) = id_or_none(row, 3)?.map(KeyId) else { return Ok(None) };
    let terms = KeyTerms {
        key,
        limit_usd: nano_or_none(row, 4)?,
        limit_diem: nano_or_none(row, 5)?,
        period: parsed(row, 6, LimitPeriod::from_name)?,
    };
    let stamp = KeyStamp { key, day: row.get(7)?, month: row.get(8)? };
    Ok(Some(HeldKey { terms, stamp }))
}

fn leg_at(row: &Row<'_>) -> rusqlite::Result<Leg> {
    match account_at(row, 0)? {
        Account::Lot(lot) => Ok(Leg { lot, amount: nano(row, 3)? }),
        Account::System(_) => Err(rusqlite::Error::InvalidColumnName("owner".into())),
    }
}

fn read_key_spends(connection: &Connection) -> rusqlite::Result<Vec<KeySpendRow>> {
    let sql =
        "SELECT key, class, day, day_spent, month, month_spent, lifetime_spent FROM key_spend";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(KeySpendRow {
            key: id(row, 0).map(KeyId)?,
            class: parsed(row, 1, LimitClass::from_name)?,
            day: row.get(2)?,
            day_spent: nano(row, 3)?,
            month: row.get(4)?,
            month_spent: nano(row, 5)?,
            lifetime_spent: nano(row, 6)?,
        })
    })?;
    rows.collect()
}
