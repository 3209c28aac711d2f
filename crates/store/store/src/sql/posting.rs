//! The statements of writes.

use std::hash::Hash;

use ledger_core::{LedgerAccount, LedgerTransfer, LotKey};
use moment::Timestamp;

use crate::error::StoreError;
use crate::sql::claims::TakenStep;
use crate::sql::keys::OwnedKey;
use crate::sql::{
    SqlText, SqlValue, audit, batches, characters, claims, files, jobs, keys, media, owners,
    records, responses, rpc, session_usage, settings, wallets,
};
use crate::sums::TransactionSums;
use crate::usage::{PRUNED_BEFORE_DAY, UsageRow};
use crate::write::StoreWrite;

/// The values of a statement: an array or a vector.
pub trait SqlValues<'a>: AsRef<[SqlValue<'a>]> + IntoIterator<Item = SqlValue<'a>> {}

impl<'a, V: AsRef<[SqlValue<'a>]> + IntoIterator<Item = SqlValue<'a>>> SqlValues<'a> for V {}

/// Takes the statements of a group: SQLite runs each at once, Postgres collects those of a batch
/// and sends them together. So no statement depends on the answer of an earlier one.
pub trait SqlPosting<'a> {
    type Error: From<StoreError>;
    type AccountId: Copy + Eq + Ord + Hash + Into<SqlValue<'a>>;

    fn run(&mut self, sql: SqlText, values: impl SqlValues<'a>) -> Result<(), Self::Error>;

    /// Runs a statement that must change or return exactly one row.
    fn run_one(
        &mut self,
        sql: SqlText,
        values: impl SqlValues<'a>,
        otherwise: StoreError,
    ) -> Result<(), Self::Error>;

    /// The sums that the rows change, which are written after them.
    fn sums(&mut self) -> &mut TransactionSums<'a, Self::AccountId>;

    /// The id of an account; a system account is created on its first use.
    fn find_account(
        &mut self,
        account: &LedgerAccount,
        opened_at: Timestamp,
    ) -> Result<Self::AccountId, Self::Error>;

    // Rows that each database writes in its own way follow.

    /// Opens a lot: a new row, or the row of a lot that was closed before.
    fn open_lot(
        &mut self,
        lot: &LotKey,
        opened_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(), Self::Error>;

    fn add_transfer(
        &mut self,
        debit: Self::AccountId,
        credit: Self::AccountId,
        transfer: &'a LedgerTransfer,
    ) -> Result<(), Self::Error>;

    fn add_usage(&mut self, row: &'a UsageRow) -> Result<(), Self::Error>;

    /// Deletes the oldest usage rows.
    fn prune_usage(&mut self, before: Timestamp, rows_max: usize) -> Result<(), Self::Error>;

    /// Deletes ended jobs, except those whose media still exists: the row is needed to find it.
    fn delete_ended_jobs(&mut self, before: Timestamp, rows_max: usize) -> Result<(), Self::Error>;

    /// Deletes files whose content was deleted.
    fn delete_gone_files(&mut self, rows_max: usize) -> Result<(), Self::Error>;
}

/// Writes the rows of one write.
pub fn post_write<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    write: &'a StoreWrite,
) -> Result<(), P::Error> {
    match write {
        StoreWrite::Journal(record) => records::post_record(posting, record),
        StoreWrite::AddUsage(row) => add_usage(posting, row),
        StoreWrite::PruneUsage { before_day, rows_max } => {
            prune_usage(posting, *before_day, *rows_max)
        }
        StoreWrite::AddOwner(owner) => owners::add_owner(posting, owner),
        StoreWrite::EnsureOwner(owner) => wallets::ensure_owner(posting, owner),
        StoreWrite::SetTier { owner, tier } => owners::set_tier(posting, *owner, tier),
        StoreWrite::MendTime { at } => owners::reset_time(posting, *at),
        StoreWrite::Freeze { owner, since } => owners::set_frozen(posting, *owner, *since),
        StoreWrite::AddKey { key, active_keys_max } => {
            keys::add_key(posting, key, *active_keys_max)
        }
        StoreWrite::ChangeKey { owner, key, settings, at } => {
            let key = OwnedKey { owner: *owner, key: *key };
            keys::change_key(posting, key, settings, at.ms())
        }
        StoreWrite::RevokeKey { owner, key, at } => {
            keys::revoke_key(posting, OwnedKey { owner: *owner, key: *key }, at.ms())
        }
        StoreWrite::MoveKey { key, from, to } => keys::move_key(posting, *key, from, to),
        StoreWrite::TouchKey { key, at } => {
            posting.sums().touch(*key, at.ms());
            Ok(())
        }
        StoreWrite::AddLimitHit(hit) => keys::add_limit_hit(posting, hit),
        StoreWrite::UseNonce(used) => wallets::use_nonce(posting, used),
        StoreWrite::DropExpiredNonces { now, rows_max } => {
            wallets::drop_expired_nonces(posting, *now, *rows_max)
        }
        StoreWrite::LinkWallet(link) => wallets::link_wallet(posting, link),
        StoreWrite::UnlinkWallet { kind, address, owner } => {
            wallets::unlink_wallet(posting, *kind, address, *owner)
        }
        StoreWrite::KeepAnswer { key, answer } => rpc::write_stored_response(posting, key, answer),
        StoreWrite::DropExpiredAnswers { now, rows_max } => {
            rpc::delete_expired_responses(posting, *now, *rows_max)
        }
        StoreWrite::AddSentTransaction(sent) => rpc::add_sent_transaction(posting, sent),
        StoreWrite::NameTransaction { request_id, hash } => {
            rpc::name_transaction(posting, request_id, hash)
        }
        StoreWrite::OpenClaim(claim) => claims::open_claim(posting, claim),
        StoreWrite::AdvanceClaim { claim, from, step, at } => {
            let step = TakenStep { claim: *claim, from: *from, step, at: *at };
            claims::advance_claim(posting, step)
        }
        StoreWrite::NoteReceivedClaim { claim, received, at } => {
            claims::note_received(posting, *claim, received, *at)
        }
        StoreWrite::DropReceivedClaim(claim) => claims::drop_received(posting, *claim),
        StoreWrite::NoteMissingClaim { claim, at } => claims::note_missing(posting, *claim, *at),
        StoreWrite::NoteFoundClaim(claim) => claims::note_found(posting, *claim),
        StoreWrite::DropFailedClaims { before, rows_max } => {
            claims::drop_failed(posting, *before, *rows_max)
        }
        StoreWrite::AddAudit(entry) => audit::add_entry(posting, entry),
        StoreWrite::Job(write) => jobs::post_job(posting, write),
        StoreWrite::Media(write) => media::post_media(posting, write),
        StoreWrite::File(write) => files::post_file(posting, write),
        StoreWrite::Batch(write) => batches::post_batch(posting, write),
        StoreWrite::Character(write) => characters::post_character(posting, write),
        StoreWrite::Dialogue(write) => responses::post_dialogue(posting, write),
        StoreWrite::AddSetting { name, value } => settings::add_setting(posting, name, value),
        StoreWrite::PutSetting { name, value } => {
            settings::put_setting(posting, name, value.as_slice())
        }
    }
}

fn add_usage<'a, P: SqlPosting<'a>>(posting: &mut P, row: &'a UsageRow) -> Result<(), P::Error> {
    posting.sums().add_usage(row);
    posting.add_usage(row)
}

fn prune_usage<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    before_day: i64,
    rows_max: usize,
) -> Result<(), P::Error> {
    settings::put_setting(posting, PRUNED_BEFORE_DAY, before_day.to_le_bytes())?;
    posting.prune_usage(Timestamp::start_of_day(before_day), rows_max)?;
    session_usage::prune_sessions(posting, before_day, rows_max)
}
