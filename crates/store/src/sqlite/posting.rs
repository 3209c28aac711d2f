//! Writes the rows of a group in the current transaction.

use credits::{Account, HoldId, JobHold, Leg, Record, Transfer};
use moment::Timestamp;
use rusqlite::{CachedStatement, Connection, params};

use crate::error::StoreError;
use crate::names::{allowance_name, units_of};
use crate::sqlite::accounts::AccountRows;
use crate::sqlite::audit;
use crate::sqlite::characters;
use crate::sqlite::claims;
use crate::sqlite::jobs;
use crate::sqlite::media;
use crate::sqlite::owners;
use crate::sqlite::rpc;
use crate::sqlite::sums;
use crate::sqlite::usage_tail::UsageTail;
use crate::sqlite::wallets;
use crate::sqlite::writer::WriteError;
use crate::sums::Sums;
use crate::usage::{PRUNED_BEFORE_DAY, UsageRow};
use crate::usage_digest::digest_usage_row;
use crate::write::{Group, Write};

/// The writer's caches, kept between transactions.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    accounts: AccountRows,
    tail: UsageTail,
}

impl Memory {
    /// Clears the caches after a rollback.
    pub(crate) fn forget(&mut self) {
        self.accounts.forget();
        self.tail.forget();
    }
}

pub(crate) struct Posting<'batch> {
    connection: &'batch Connection,
    memory: &'batch mut Memory,
    sums: Sums<'batch, i64>,
    /// The two statements that every charge runs, looked up once per batch.
    add_transfer: CachedStatement<'batch>,
    add_usage: CachedStatement<'batch>,
}

pub(crate) const ADD_TRANSFER: &str = "INSERT INTO transfer \
    (entry, leg, debit, credit, amount, code, at_ms, key, key_day, key_month) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

pub(crate) const ADD_USAGE: &str = "INSERT INTO usage (seq, charge, owner, key, at_ms, sku, model, currency, \
    units, price_pico, price_per, amount, request_id, prompt_tokens, completion_tokens, \
    execution_ms, notes, digest) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

impl<'batch> Posting<'batch> {
    pub(crate) fn new(
        connection: &'batch Connection,
        memory: &'batch mut Memory,
    ) -> rusqlite::Result<Posting<'batch>> {
        Ok(Posting {
            connection,
            memory,
            sums: Sums::default(),
            add_transfer: connection.prepare_cached(ADD_TRANSFER)?,
            add_usage: connection.prepare_cached(ADD_USAGE)?,
        })
    }

    pub(crate) fn add(&mut self, group: &'batch Group) -> Result<(), WriteError> {
        for write in &group.writes {
            self.write(write)?;
        }
        Ok(())
    }

    /// Writes the accumulated sums. Without this the added rows are incomplete.
    pub(crate) fn finish(self) -> Result<(), WriteError> {
        self.finish_with(&mut || Ok(()))
    }

    /// Like `finish`, and calls `between` among the rows, which may be many.
    pub(crate) fn finish_with(
        self,
        between: &mut dyn FnMut() -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        sums::write(self.sums, self.connection, between)?;
        self.memory.tail.place_if_long(self.connection)?;
        Ok(())
    }

    fn write(&mut self, write: &'batch Write) -> Result<(), WriteError> {
        let connection = self.connection;
        match write {
            Write::Journal(record) => self.record(record),
            Write::AddUsage(row) => {
                self.sums.add_usage(row);
                let seq = self.memory.tail.next_seq(connection)?;
                add_usage(&mut self.add_usage, seq, row)
            }
            Write::PruneUsage { before_day, rows_max } => {
                prune_usage(connection, *before_day, *rows_max)
            }
            Write::AddOwner(owner) => owners::add_owner(connection, owner),
            Write::EnsureOwner(owner) => wallets::ensure_owner(connection, owner),
            Write::SetTier { owner, tier } => owners::set_tier(connection, *owner, tier),
            Write::MendTime { at } => owners::mend_time(connection, *at),
            Write::Freeze { owner, since } => {
                owners::freeze(connection, *owner, since.map(|since| since.ms()))
            }
            Write::AddKey { key, active_keys_max } => {
                owners::add_key(connection, key, *active_keys_max)
            }
            Write::ChangeKey { owner, key, settings, at } => {
                owners::change_key(connection, (*owner, *key), settings, at.ms())
            }
            Write::RevokeKey { owner, key, at } => {
                owners::revoke_key(connection, *owner, *key, at.ms())
            }
            Write::MoveKey { key, from, to } => owners::move_key(connection, *key, (from, to)),
            Write::TouchKey { key, at } => {
                self.sums.touch(*key, at.ms());
                Ok(())
            }
            Write::AddLimitHit(hit) => owners::add_limit_hit(connection, hit),
            Write::UseNonce(used) => wallets::use_nonce(connection, used),
            Write::DropExpiredNonces { now, rows_max } => {
                wallets::drop_expired_nonces(connection, *now, *rows_max)
            }
            Write::LinkWallet(link) => wallets::link_wallet(connection, link),
            Write::UnlinkWallet { kind, address, owner } => {
                wallets::unlink_wallet(connection, (*kind, address), *owner)
            }
            Write::KeepAnswer { key, answer } => rpc::keep_answer(connection, key, answer),
            Write::DropExpiredAnswers { now, rows_max } => {
                rpc::drop_expired_answers(connection, *now, *rows_max)
            }
            Write::AddSentTransaction(sent) => rpc::add_sent_transaction(connection, sent),
            Write::NameTransaction { request_id, hash } => {
                rpc::name_transaction(connection, request_id, hash)
            }
            Write::OpenClaim(claim) => claims::open(connection, claim),
            Write::AdvanceClaim { claim, from, step, at } => {
                claims::advance(connection, (*claim, *from), step, *at)
            }
            Write::NoteReceivedClaim { claim, received, at } => {
                claims::note_received(connection, *claim, received, *at)
            }
            Write::DropReceivedClaim(claim) => claims::drop_received(connection, *claim),
            Write::NoteMissingClaim { claim, at } => claims::note_missing(connection, *claim, *at),
            Write::NoteFoundClaim(claim) => claims::note_found(connection, *claim),
            Write::DropFailedClaims { before, rows_max } => {
                claims::drop_failed(connection, *before, *rows_max)
            }
            Write::AddAudit(entry) => audit::add(connection, entry),
            Write::Job(write) => jobs::write(connection, write),
            Write::Media(write) => media::write(connection, write),
            Write::Character(write) => characters::write(connection, write),
            Write::AddSetting { name, value } => owners::add_setting(connection, name, value),
            Write::PutSetting { name, value } => owners::put_setting(connection, name, value),
        }
    }

    fn record(&mut self, record: &Record) -> Result<(), WriteError> {
        let connection = self.connection;
        match record {
            Record::LotOpened { lot, opened_at, expires_at } => {
                self.memory.accounts.open_lot(connection, lot, *opened_at, *expires_at)
            }
            Record::LotClosed { lot } => {
                let number = self.number(&Account::Lot(*lot), Timestamp::default())?;
                self.sums.account(number).closes = true;
                Ok(())
            }
            Record::Transfer(transfer) => self.transfer(transfer),
            Record::AllowanceSet { entry, owner, kind, amount, at } => {
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
            Record::AllowanceOpened { owner, kind, period } => {
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
            Record::KeySpent { stamp, class, amount } => {
                self.sums.add_spend(*stamp, *class, amount.nanos());
                Ok(())
            }
            Record::JobHeld(hold) => self.job_held(hold),
            Record::JobHoldEnded { hold, legs } => self.job_hold_ended(*hold, legs),
        }
    }

    fn transfer(&mut self, transfer: &Transfer) -> Result<(), WriteError> {
        let debit = self.number(&transfer.debit, transfer.at)?;
        let credit = self.number(&transfer.credit, transfer.at)?;
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

    fn job_held(&mut self, hold: &JobHold) -> Result<(), WriteError> {
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
            let number = self.number(&Account::Lot(leg.lot), hold.made_at)?;
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

    fn job_hold_ended(&mut self, hold: HoldId, legs: &[Leg]) -> Result<(), WriteError> {
        let sql = "DELETE FROM job_hold WHERE id = ?1";
        let ended = self.connection.prepare_cached(sql)?.execute([hold.0.as_bytes()])?;
        if ended != 1 {
            return Err(WriteError::Refused(StoreError::Missing(
                "the job's hold has ended before",
            )));
        }
        for leg in legs {
            let number = self.number(&Account::Lot(leg.lot), Timestamp::default())?;
            self.sums.account(number).pending -= i128::from(leg.amount.nanos());
        }
        Ok(())
    }

    fn number(&mut self, account: &Account, at: Timestamp) -> Result<i64, WriteError> {
        self.memory.accounts.number(self.connection, account, at)
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
    ])?;
    Ok(())
}

/// Deletes the oldest rows, which have the lowest sequence numbers.
fn prune_usage(
    connection: &Connection,
    before_day: i64,
    rows_max: usize,
) -> Result<(), WriteError> {
    owners::put_setting(connection, PRUNED_BEFORE_DAY, &before_day.to_le_bytes())?;
    let before_ms = Timestamp::start_of_day(before_day).ms();
    let oldest = "SELECT owner, at_ms, seq FROM \
                  (SELECT owner, at_ms, seq FROM usage ORDER BY seq LIMIT ?2) WHERE at_ms < ?1";
    let places = format!("DELETE FROM usage_place WHERE (owner, at_ms, seq) IN ({oldest})");
    connection.prepare_cached(&places)?.execute(params![before_ms, rows_max])?;
    let rows = format!("DELETE FROM usage WHERE seq IN (SELECT seq FROM ({oldest}))");
    connection.prepare_cached(&rows)?.execute(params![before_ms, rows_max])?;
    Ok(())
}
