//! Writes the rows of a group in the current transaction.

use ledger_core::{HoldId, JobHold, JournalRecord, LedgerAccount, LedgerTransfer, PaymentLeg};
use moment::Timestamp;
use rusqlite::{CachedStatement, Connection, params};

use crate::error::StoreError;
use crate::names::{allowance_name, units_of};
use crate::sqlite::accounts::AccountRows;
use crate::sqlite::audit;
use crate::sqlite::batches;
use crate::sqlite::characters;
use crate::sqlite::claims;
use crate::sqlite::files;
use crate::sqlite::jobs;
use crate::sqlite::media;
use crate::sqlite::owners;
use crate::sqlite::responses;
use crate::sqlite::rpc;
use crate::sqlite::session_sums;
use crate::sqlite::sums;
use crate::sqlite::usage_tail::UsageTail;
use crate::sqlite::wallets;
use crate::sqlite::write_error::WriteError;
use crate::sums::TransactionSums;
use crate::usage::{PRUNED_BEFORE_DAY, UsageRow};
use crate::usage_digest::digest_usage_row;
use crate::write::{StoreWrite, WriteGroup};

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
            self.write(write)?;
        }
        Ok(())
    }

    /// Writes the accumulated sums. Without this the added rows are incomplete.
    pub(crate) fn finish(self) -> Result<(), WriteError> {
        sums::write_sums(self.sums, self.connection)?;
        self.memory.tail.place_if_long(self.connection)?;
        Ok(())
    }

    fn write(&mut self, write: &'batch StoreWrite) -> Result<(), WriteError> {
        let db = self.connection;
        match write {
            StoreWrite::Journal(record) => self.post_record(record),
            StoreWrite::AddUsage(row) => {
                self.sums.add_usage(row);
                let seq = self.memory.tail.next_seq(db)?;
                add_usage(&mut self.add_usage, seq, row)
            }
            StoreWrite::PruneUsage { before_day: day, rows_max } => {
                prune_usage(db, *day, *rows_max)
            }
            StoreWrite::AddOwner(owner) => owners::add_owner(db, owner),
            StoreWrite::EnsureOwner(owner) => wallets::ensure_owner(db, owner),
            StoreWrite::SetTier { owner, tier } => owners::set_tier(db, *owner, tier),
            StoreWrite::MendTime { at } => owners::reset_time(db, *at),
            StoreWrite::Freeze { owner, since } => owners::set_frozen(db, *owner, *since),
            StoreWrite::AddKey { key, active_keys_max } => {
                owners::add_key(db, key, *active_keys_max)
            }
            StoreWrite::ChangeKey { owner, key, settings, at } => {
                owners::change_key(db, *owner, *key, settings, at.ms())
            }
            StoreWrite::RevokeKey { owner, key, at } => {
                owners::revoke_key(db, *owner, *key, at.ms())
            }
            StoreWrite::MoveKey { key, from, to } => owners::move_key(db, *key, from, to),
            StoreWrite::TouchKey { key, at } => {
                self.sums.touch(*key, at.ms());
                Ok(())
            }
            StoreWrite::AddLimitHit(hit) => owners::add_limit_hit(db, hit),
            StoreWrite::UseNonce(used) => wallets::use_nonce(db, used),
            StoreWrite::DropExpiredNonces { now, rows_max } => {
                wallets::drop_expired_nonces(db, *now, *rows_max)
            }
            StoreWrite::LinkWallet(link) => wallets::link_wallet(db, link),
            StoreWrite::UnlinkWallet { kind, address, owner } => {
                wallets::unlink_wallet(db, *kind, address, *owner)
            }
            StoreWrite::KeepAnswer { key, answer } => rpc::write_stored_response(db, key, answer),
            StoreWrite::DropExpiredAnswers { now, rows_max } => {
                rpc::delete_expired_responses(db, *now, *rows_max)
            }
            StoreWrite::AddSentTransaction(sent) => rpc::add_sent_transaction(db, sent),
            StoreWrite::NameTransaction { request_id, hash } => {
                rpc::name_transaction(db, request_id, hash)
            }
            StoreWrite::OpenClaim(claim) => claims::open_claim(db, claim),
            StoreWrite::AdvanceClaim { claim, from, step, at } => {
                claims::advance_claim(db, *claim, *from, step, *at)
            }
            StoreWrite::NoteReceivedClaim { claim, received, at } => {
                claims::note_received(db, *claim, received, *at)
            }
            StoreWrite::DropReceivedClaim(claim) => claims::drop_received(db, *claim),
            StoreWrite::NoteMissingClaim { claim, at } => claims::note_missing(db, *claim, *at),
            StoreWrite::NoteFoundClaim(claim) => claims::note_found(db, *claim),
            StoreWrite::DropFailedClaims { before, rows_max } => {
                claims::drop_failed(db, *before, *rows_max)
            }
            StoreWrite::AddAudit(entry) => audit::add_entry(db, entry),
            StoreWrite::Job(write) => jobs::post_job(db, write),
            StoreWrite::Media(write) => media::post_media(db, write),
            StoreWrite::File(write) => files::post_file(db, write),
            StoreWrite::Batch(write) => batches::post_batch(db, write),
            StoreWrite::Character(write) => characters::post_character(db, write),
            StoreWrite::Dialogue(write) => responses::post_dialogue(db, write),
            StoreWrite::AddSetting { name, value } => owners::add_setting(db, name, value),
            StoreWrite::PutSetting { name, value } => owners::put_setting(db, name, value),
        }
    }

    fn post_record(&mut self, record: &JournalRecord) -> Result<(), WriteError> {
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
    session_sums::prune_sessions(connection, before_day, rows_max)?;
    Ok(())
}
