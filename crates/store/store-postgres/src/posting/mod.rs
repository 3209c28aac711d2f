//! Turns the writes of groups into statements.

use std::collections::HashSet;

use ledger_core::LedgerAccount;
use store::error::StoreError;
use store::sums::TransactionSums;
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use crate::accounts::{account_id, system_name};
use crate::node::NodeIdentity;
use crate::posting::bulk_rows::{SystemAccounts, TransferRows, UsageRows};
use crate::statements::SqlStatements;

mod batches;
mod bulk_rows;
mod characters;
mod claims;
mod conversations;
mod files;
mod jobs;
mod journal;
mod media;
mod owners;
mod responses;
mod rpc;
mod session_totals;
mod totals;
mod wallets;

/// The writer's caches, kept between transactions.
#[derive(Debug, Default)]
pub(crate) struct WriterCache {
    /// System accounts that are known to exist.
    systems: HashSet<Uuid>,
    /// The newest quarter of an hour for which old sums were deleted.
    dropped_quarter: Option<i64>,
}

/// Values learnt in a transaction, to be cached once it is committed.
#[derive(Debug, Default)]
pub(crate) struct CacheUpdates {
    systems: Vec<Uuid>,
    quarter: Option<i64>,
}

impl WriterCache {
    pub(crate) fn apply_updates(&mut self, learnt: CacheUpdates) {
        self.systems.extend(learnt.systems);
        self.dropped_quarter = self.dropped_quarter.max(learnt.quarter);
    }
}

/// The statements of a batch under construction. Frequent rows and sums are accumulated and written
/// after everything else, by a few statements for all groups.
pub(crate) struct PostingBuilder<'a> {
    node: NodeIdentity,
    pub(crate) statements: SqlStatements<'a>,
    sums: TransactionSums<'a, Uuid>,
    transfers: TransferRows,
    usage: UsageRows<'a>,
    systems: SystemAccounts,
}

impl<'a> PostingBuilder<'a> {
    pub(crate) fn new(node: NodeIdentity) -> PostingBuilder<'a> {
        PostingBuilder {
            node,
            statements: SqlStatements::default(),
            sums: TransactionSums::default(),
            transfers: TransferRows::default(),
            usage: UsageRows::default(),
            systems: SystemAccounts::default(),
        }
    }

    /// Adds a group, at this position in its batch. After an error the posting must be dropped.
    pub(crate) fn add(&mut self, place: usize, group: &'a WriteGroup) -> Result<(), StoreError> {
        self.statements.group = Some(place);
        for write in &group.writes {
            self.write(write)?;
        }
        Ok(())
    }

    /// All statements, in order.
    pub(crate) fn finish(
        mut self,
        memory: &WriterCache,
    ) -> Result<(SqlStatements<'a>, CacheUpdates), StoreError> {
        self.statements.group = None;
        let systems = self.systems.write(&mut self.statements, self.node, &memory.systems);
        self.transfers.write(&mut self.statements);
        self.usage.write(&mut self.statements)?;
        let quarter = totals::post_totals(
            &mut self.statements,
            self.sums.into_sorted(),
            memory.dropped_quarter,
        )?;
        Ok((self.statements, CacheUpdates { systems, quarter }))
    }

    fn write(&mut self, write: &'a StoreWrite) -> Result<(), StoreError> {
        let statements = &mut self.statements;
        match write {
            StoreWrite::Journal(record) => return self.post_record(record),
            StoreWrite::AddUsage(row) => {
                self.sums.add_usage(row);
                self.usage.add(row);
            }
            StoreWrite::TouchKey { key, at } => self.sums.touch(*key, at.ms()),
            StoreWrite::PruneUsage { before_day, rows_max } => {
                owners::prune_usage(statements, *before_day, *rows_max);
                session_totals::prune_sessions(statements, *before_day, *rows_max);
            }
            StoreWrite::AddOwner(owner) => owners::add_owner(statements, owner),
            StoreWrite::SetTier { owner, tier } => owners::set_tier(statements, *owner, tier),
            StoreWrite::MendTime { at } => owners::mend_time(statements, *at),
            StoreWrite::Freeze { owner, since } => owners::set_frozen(statements, *owner, *since),
            StoreWrite::AddKey { key, active_keys_max } => {
                owners::add_key(statements, key, *active_keys_max)
            }
            StoreWrite::ChangeKey { owner, key, settings, at } => {
                owners::change_key(statements, *owner, *key, settings, at.ms());
            }
            StoreWrite::RevokeKey { owner, key, at } => {
                owners::revoke_key(statements, *owner, *key, at.ms());
            }
            StoreWrite::MoveKey { key, from, to } => owners::move_key(statements, *key, from, to),
            StoreWrite::AddLimitHit(hit) => owners::add_limit_hit(statements, hit),
            StoreWrite::AddSetting { name, value } => owners::add_setting(statements, name, value),
            StoreWrite::PutSetting { name, value } => owners::put_setting(statements, name, value),
            StoreWrite::AddAudit(entry) => owners::add_audit(statements, entry),
            StoreWrite::Job(write) => return jobs::post_job(statements, write),
            StoreWrite::Media(write) => return media::post_media(statements, write),
            StoreWrite::File(write) => return files::post_file(statements, write),
            StoreWrite::Batch(write) => return batches::post_batch(statements, write),
            StoreWrite::EnsureOwner(owner) => wallets::ensure_owner(statements, owner),
            StoreWrite::UseNonce(used) => wallets::use_nonce(statements, used),
            StoreWrite::DropExpiredNonces { now, rows_max } => {
                wallets::drop_expired_nonces(statements, *now, *rows_max);
            }
            StoreWrite::LinkWallet(link) => wallets::link_wallet(statements, link),
            StoreWrite::UnlinkWallet { kind, address, owner } => {
                wallets::unlink_wallet(statements, *kind, address, *owner);
            }
            StoreWrite::KeepAnswer { key, answer } => rpc::keep_answer(statements, key, answer),
            StoreWrite::DropExpiredAnswers { now, rows_max } => {
                rpc::drop_expired_answers(statements, *now, *rows_max);
            }
            StoreWrite::AddSentTransaction(sent) => rpc::add_sent_transaction(statements, sent),
            StoreWrite::NameTransaction { request_id, hash } => {
                rpc::name_transaction(statements, request_id, hash);
            }
            StoreWrite::OpenClaim(claim) => return claims::open_claim(statements, claim),
            StoreWrite::AdvanceClaim { claim, from, step, at } => {
                return claims::advance_claim(statements, *claim, *from, step, *at);
            }
            StoreWrite::NoteReceivedClaim { claim, received, at } => {
                claims::note_received(statements, *claim, received, *at);
            }
            StoreWrite::DropReceivedClaim(claim) => claims::drop_received(statements, *claim),
            StoreWrite::NoteMissingClaim { claim, at } => {
                claims::note_missing(statements, *claim, *at)
            }
            StoreWrite::NoteFoundClaim(claim) => claims::note_found(statements, *claim),
            StoreWrite::DropFailedClaims { before, rows_max } => {
                claims::drop_failed(statements, *before, *rows_max);
            }
            StoreWrite::Character(write) => characters::post_character(statements, write),
            StoreWrite::Dialogue(write) => return responses::post_dialogue(statements, write),
        }
        Ok(())
    }

    /// The id of an account; a system account is created on its first use.
    fn ensure_account(&mut self, account: &LedgerAccount, opened_ms: i64) -> Uuid {
        let id = account_id(account, self.node.id);
        if let LedgerAccount::System(system) = account {
            self.systems.add(id, system.currency, system_name(system), opened_ms);
        }
        id
    }
}
