//! A cache of the accounts' row numbers in the writer, so that a charge need not look them up.

use hashbrown::HashMap;
use ledger_core::{LedgerAccount, LotKey};
use moment::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::StoreError;
use crate::sqlite::write_error::WriteError;

/// Capacity of the cache, which is cleared when full; a lookup costs microseconds.
const ACCOUNTS_REMEMBERED_MAX: usize = 100_000;

#[derive(Debug, Default)]
pub(crate) struct AccountRows {
    numbers: HashMap<LedgerAccount, i64>,
}

impl AccountRows {
    /// The number of an open lot, or of a system account, which is created on its first use.
    pub(crate) fn row_number(
        &mut self,
        connection: &Connection,
        account: &LedgerAccount,
        at: Timestamp,
    ) -> Result<i64, WriteError> {
        if let Some(number) = self.numbers.get(account) {
            return Ok(*number);
        }
        let number = match account {
            LedgerAccount::Lot(lot) => {
                let missing = WriteError::Refused(StoreError::Missing("the lot was never opened"));
                find_lot(connection, lot)?.ok_or(missing)?
            }
            LedgerAccount::System(system) => {
                let name = system.kind.to_string();
                let currency = system.currency.name();
                match find_system(connection, currency, &name)? {
                    Some(number) => number,
                    None => add_system(connection, currency, &name, at)?,
                }
            }
        };
        self.remember(account.clone(), number);
        Ok(number)
    }

    /// Opens a lot: a new row, or the row of a lot that was closed before.
    pub(crate) fn open_lot(
        &mut self,
        connection: &Connection,
        lot: &LotKey,
        opened_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(), WriteError> {
        let sql = "INSERT INTO account (owner, currency, name, opened_ms, expires_ms) \
                   VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT (owner, currency, name) WHERE owner IS NOT NULL \
                   DO UPDATE SET is_closed = 0 WHERE is_closed = 1 RETURNING id";
        let number = connection
            .prepare_cached(sql)?
            .query_row(
                params![
                    lot.owner.0.as_bytes(),
                    lot.currency.name(),
                    lot.tag.to_string(),
                    opened_at.ms(),
                    expires_at.map(Timestamp::ms)
                ],
                |row| row.get(0),
            )
            .optional()?;
        let Some(number) = number else {
            return Err(WriteError::Refused(StoreError::Duplicate(format!("{lot} is open"))));
        };
        self.remember(LedgerAccount::Lot(*lot), number);
        Ok(())
    }

    /// Clears the cache after a rollback, which makes new numbers invalid.
    pub(crate) fn forget(&mut self) {
        self.numbers.clear();
    }

    fn remember(&mut self, account: LedgerAccount, number: i64) {
        if ACCOUNTS_REMEMBERED_MAX <= self.numbers.len() {
            self.numbers.clear();
        }
        self.numbers.insert(account, number);
    }
}

fn find_lot(connection: &Connection, lot: &LotKey) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT id FROM account WHERE owner = ?1 AND currency = ?2 AND name = ?3";
    let tag = lot.tag.to_string();
    connection
        .prepare_cached(sql)?
        .query_row(params![lot.owner.0.as_bytes(), lot.currency.name(), tag], |row| row.get(0))
        .optional()
}

fn find_system(
    connection: &Connection,
    currency: &str,
    name: &str,
) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT id FROM account WHERE owner IS NULL AND currency = ?1 AND name = ?2";
    connection.prepare_cached(sql)?.query_row([currency, name], |row| row.get(0)).optional()
}

fn add_system(
    connection: &Connection,
    currency: &str,
    name: &str,
    at: Timestamp,
) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO account (currency, name, opened_ms) VALUES (?1, ?2, ?3) RETURNING id";
    connection.prepare_cached(sql)?.query_row(params![currency, name, at.ms()], |row| row.get(0))
}
