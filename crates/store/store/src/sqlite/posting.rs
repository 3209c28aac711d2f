//! Writes the rows of a group in the current transaction.

use ledger_core::{
    HoldId, JobHold, JournalRecord, KeyId, LedgerAccount, LedgerTransfer, PaymentLeg,
};
use moment::Timestamp;
use rusqlite::{CachedStatement, Connection, params};

use crate::error::StoreError;
use crate::names::{allowance_name, units_of};
use crate::sql::settings::put_setting;
use crate::sql::{self, SqlPosting, SqlText, SqlValues};
use crate::sqlite::accounts::AccountRows;
use crate::sqlite::deletions;
use crate::sqlite::shared_sql::run_statement;
use crate::sqlite::sums;
use crate::sqlite::usage_tail::UsageTail;
use crate::sqlite::write_error::WriteError;
use crate::sums::TransactionSums;
use crate::usage::{PRUNED_BEFORE_DAY, UsageRow};
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

    fn write_record(&mut self, record: &JournalRecord) -> Result<(), WriteError> {
        let connection = self.connection;
        match record {
            JournalRecord::LotOpened { lot, opened_at, expires_at } => {
                self.memory.accounts.open_lot(connection, lot, *opened_at, *expires_at)
            }
            JournalRecord::LotClosed { lot } => {
                let number =
                    self.account_number(&LedgerAccount::Lot(*lot), Timestamp::default())?;
                self.sums.account(number).closes = true;
                Ok(())
            }
            JournalRecord::Transfer(transfer) => self.post_transfer(transfer),
            JournalRecord::AllowanceSet { entry, owner, kind, amount, at } => {
                let kind = allowance_name(*kind);
                let change = "INSERT INTO allowance_change (entry, owner, kind, amount, at_ms) \
                              VALUES (?1, ?2, ?3, ?4, ?5)";
                let set = "INSERT INTO allowance (owner, kind, amount) VALUES (?1, ?2, ?3) \
                           ON CONFLICT (owner, kind) DO UPDATE SET amount = excluded.amount";
                let (owner, nanos) = (owner.0.as_bytes(), amount.nanos());
                connection.prepare_cached(change)?.execute(params![
                    entry.0.as_bytes(),
                    owner,
                    kind,
                    nanos,
                    at.ms()
                ])?;
                connection.prepare_cached(set)?.execute(params![owner, kind, nanos])?;
                Ok(())
            }
            JournalRecord::AllowanceOpened { owner, kind, period } => {
                let sql = "INSERT INTO allowance (owner, kind, opened_period) VALUES (?1, ?2, ?3) \
                           ON CONFLICT (owner, kind) \
                           DO UPDATE SET opened_period = excluded.opened_period";
                let kind = allowance_name(*kind);
                connection.prepare_cached(sql)?.execute(params![
                    owner.0.as_bytes(),
                    kind,
                    period
                ])?;
                Ok(())
            }
            JournalRecord::KeySpent { stamp, class, amount } => {
                self.sums.add_spend(*stamp, *class, amount.nanos());
                Ok(())
            }
            JournalRecord::JobHeld(hold) => self.write_job_hold(hold),
            JournalRecord::JobHoldEnded { hold, legs } => self.end_job_hold(*hold, legs),
        }
    }

    fn post_transfer(&mut self, transfer: &LedgerTransfer) -> Result<(), WriteError> {
        let debit = self.account_number(&transfer.debit, transfer.at)?;
        let credit = self.account_number(&transfer.credit, transfer.at)?;
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
        self.sums.add_transfer(debit, credit, transfer);
        Ok(())
    }

    fn write_job_hold(&mut self, hold: &JobHold) -> Result<(), WriteError> {
        let sql = "INSERT INTO job_hold (id, owner, made_ms, key, limit_usd, limit_diem, \
                   limit_period, key_day, key_month) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let terms = hold.key.map(|key| key.terms);
        let stamp = hold.key.map(|key| key.stamp);
        self.connection.prepare_cached(sql)?.execute(params![
            hold.hold.0.as_bytes(),
            hold.owner.0.as_bytes(),
            hold.made_at.ms(),
            terms.as_ref().map(|terms| terms.key.0.as_bytes()),
            terms.and_then(|terms| terms.limit_usd).map(|limit| limit.nanos()),
            terms.and_then(|terms| terms.limit_diem).map(|limit| limit.nanos()),
            terms.map(|terms| terms.period.name()),
            stamp.map(|stamp| stamp.day),
            stamp.map(|stamp| stamp.month),
        ])?;
        let sql = "INSERT INTO job_hold_leg (hold, position, account, amount) \
                   VALUES (?1, ?2, ?3, ?4)";
        for (position, leg) in hold.legs.iter().enumerate() {
            let number = self.account_number(&LedgerAccount::Lot(leg.lot), hold.made_at)?;
            let nanos = leg.amount.nanos();
            self.connection.prepare_cached(sql)?.execute(params![
                hold.hold.0.as_bytes(),
                position,
                number,
                nanos
            ])?;
            self.sums.account(number).pending += i128::from(nanos);
        }
        Ok(())
    }

    fn end_job_hold(&mut self, hold: HoldId, legs: &[PaymentLeg]) -> Result<(), WriteError> {
        let sql = "DELETE FROM job_hold WHERE id = ?1";
        let ended = self.connection.prepare_cached(sql)?.execute([hold.0.as_bytes()])?;
        if ended != 1 {
            return Err(WriteError::Refused(StoreError::Missing(
                "the job's hold has ended before",
            )));
        }
        for leg in legs {
            let number = self.account_number(&LedgerAccount::Lot(leg.lot), Timestamp::default())?;
            self.sums.account(number).pending -= i128::from(leg.amount.nanos());
        }
        Ok(())
    }

    fn account_number(
        &mut self,
        account: &LedgerAccount,
        at: Timestamp,
    ) -> Result<i64, WriteError> {
        self.memory.accounts.row_number(self.connection, account, at)
    }
}

impl<'batch> SqlPosting<'batch> for SqlitePosting<'batch> {
    type Error = WriteError;

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

    fn post_record(&mut self, record: &'batch JournalRecord) -> Result<(), WriteError> {
        self.write_record(record)
    }

    fn add_usage(&mut self, row: &'batch UsageRow) -> Result<(), WriteError> {
        self.sums.add_usage(row);
        let seq = self.memory.tail.next_seq(self.connection)?;
        add_usage(&mut self.add_usage, seq, row)
    }

    fn touch_key(&mut self, key: KeyId, at: Timestamp) {
        self.sums.touch(key, at.ms());
    }

    fn prune_usage(&mut self, before_day: i64, rows_max: usize) -> Result<(), WriteError> {
        put_setting(self, PRUNED_BEFORE_DAY, before_day.to_le_bytes())?;
        deletions::prune_usage(self.connection, before_day, rows_max)
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
