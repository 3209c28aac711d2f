//! Writes the rows of a group in the current transaction.

use ledger_core::{LedgerAccount, LedgerTransfer, LotKey};
use moment::Timestamp;
use rusqlite::{CachedStatement, Connection, params};

use crate::error::StoreError;
use crate::names::units_of;
use crate::sql::{self, SqlPosting, SqlText, SqlValues};
use crate::sqlite::accounts::AccountRows;
use crate::sqlite::deletions;
use crate::sqlite::shared_sql::run_statement;
use crate::sqlite::sums;
use crate::sqlite::usage_tail::UsageTail;
use crate::sqlite::write_error::WriteError;
use crate::sums::TransactionSums;
use crate::usage::UsageRow;
use crate::usage_digest::digest_usage_row;
use crate::write::WriteGroup;

/// The writer's caches, kept between transactions.
#[derive(Debug, Default)]
pub(crate) struct SqliteCaches {
    accounts: AccountRows,
    tail: UsageTail,
}

impl SqliteCaches {
    /// Clears the caches after a rollback.
    pub(crate) fn forget(&mut self) {
        self.accounts.forget();
        self.tail.forget();
    }
}

pub(crate) struct SqlitePosting<'batch> {
    connection: &'batch Connection,
    memory: &'batch mut SqliteCaches,
    sums: TransactionSums<'batch, i64>,
    /// The two statements that every charge runs, looked up once per batch.
    add_transfer: CachedStatement<'batch>,
    add_usage: CachedStatement<'batch>,
}

pub(crate) const ADD_TRANSFER: &str = "INSERT INTO transfer \
    (entry, leg, debit, credit, amount, code, at_ms, key, key_day, key_month) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

pub(crate) const ADD_USAGE: &str = "INSERT INTO usage (seq, charge, owner, key, at_ms, sku, model, currency, \
    units, price_pico, price_per, amount, request_id, prompt_tokens, completion_tokens, \
    execution_ms, notes, digest, cached_tokens, session) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
    ?19, ?20)";

impl<'batch> SqlitePosting<'batch> {
    pub(crate) fn new(
        connection: &'batch Connection,
        memory: &'batch mut SqliteCaches,
    ) -> rusqlite::Result<SqlitePosting<'batch>> {
        Ok(SqlitePosting {
            connection,
            memory,
            sums: TransactionSums::default(),
            add_transfer: connection.prepare_cached(ADD_TRANSFER)?,
            add_usage: connection.prepare_cached(ADD_USAGE)?,
        })
    }

    pub(crate) fn add(&mut self, group: &'batch WriteGroup) -> Result<(), WriteError> {
        for write in &group.writes {
            sql::post_write(self, write)?;
        }
        Ok(())
    }

    /// Writes the accumulated sums. Without this the added rows are incomplete.
    pub(crate) fn finish(self) -> Result<(), WriteError> {
        sums::write_sums(self.sums, self.connection)?;
        self.memory.tail.place_if_long(self.connection)?;
        Ok(())
    }
}

impl<'batch> SqlPosting<'batch> for SqlitePosting<'batch> {
    type Error = WriteError;
    type AccountId = i64;

    fn run(&mut self, sql: SqlText, values: impl SqlValues<'batch>) -> Result<(), WriteError> {
        run_statement(self.connection, sql, values.as_ref())?;
        Ok(())
    }

    fn run_one(
        &mut self,
        sql: SqlText,
        values: impl SqlValues<'batch>,
        otherwise: StoreError,
    ) -> Result<(), WriteError> {
        match run_statement(self.connection, sql, values.as_ref())? {
            1 => Ok(()),
            _ => Err(WriteError::Refused(otherwise)),
        }
    }

    fn sums(&mut self) -> &mut TransactionSums<'batch, i64> {
        &mut self.sums
    }

    fn find_account(
        &mut self,
        account: &LedgerAccount,
        opened_at: Timestamp,
    ) -> Result<i64, WriteError> {
        self.memory.accounts.row_number(self.connection, account, opened_at)
    }

    fn open_lot(
        &mut self,
        lot: &LotKey,
        opened_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(), WriteError> {
        self.memory.accounts.open_lot(self.connection, lot, opened_at, expires_at)
    }

    fn add_transfer(
        &mut self,
        debit: i64,
        credit: i64,
        transfer: &'batch LedgerTransfer,
    ) -> Result<(), WriteError> {
        self.add_transfer.execute(params![
            transfer.entry.0.as_bytes(),
            transfer.leg,
            debit,
            credit,
            transfer.amount.nanos(),
            transfer.code.number(),
            transfer.at.ms(),
            transfer.key.as_ref().map(|stamp| stamp.key.0.as_bytes()),
            transfer.key.map(|stamp| stamp.day),
            transfer.key.map(|stamp| stamp.month),
        ])?;
        Ok(())
    }

    fn add_usage(&mut self, row: &'batch UsageRow) -> Result<(), WriteError> {
        let seq = self.memory.tail.next_seq(self.connection)?;
        add_usage(&mut self.add_usage, seq, row)
    }

    fn prune_usage(&mut self, before: Timestamp, rows_max: usize) -> Result<(), WriteError> {
        deletions::prune_usage(self.connection, before, rows_max)
    }

    fn delete_ended_jobs(&mut self, before: Timestamp, rows_max: usize) -> Result<(), WriteError> {
        deletions::delete_ended_jobs(self.connection, before, rows_max)
    }

    fn delete_gone_files(&mut self, rows_max: usize) -> Result<(), WriteError> {
        deletions::delete_gone_files(self.connection, rows_max)
    }
}

fn add_usage(
    statement: &mut CachedStatement<'_>,
    seq: i64,
    row: &UsageRow,
) -> Result<(), WriteError> {
    statement.execute(params![
        seq,
        row.charge.0.as_bytes(),
        row.owner.0.as_bytes(),
        row.key.as_ref().map(|key| key.0.as_bytes()),
        row.at.ms(),
        row.sku,
        row.model,
        row.currency.name(),
        row.units,
        row.price.picos(),
        units_of(row.per),
        row.amount.nanos(),
        row.details.request_id,
        row.details.prompt_tokens,
        row.details.completion_tokens,
        row.details.execution_ms,
        row.notes,
        digest_usage_row(row),
        row.details.cached_tokens,
        row.details.session.map(u64::cast_signed),
    ])?;
    Ok(())
}
