//! Turns the writes of groups into statements.

use std::collections::HashSet;

use credits::Account;
use store::error::StoreError;
use store::sums::Sums;
use store::write::{Group, Write};
use uuid::Uuid;

use crate::accounts::{account_id, system_name};
use crate::node::Identity;
use crate::posting::hot::{SystemAccounts, Transfers, UsageRows};
use crate::statements::SqlStatements;

mod characters;
mod claims;
mod hot;
mod jobs;
mod journal;
mod media;
mod owners;
mod rpc;
mod totals;
mod wallets;

/// The writer's caches, kept between transactions.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// System accounts that are known to exist.
    systems: HashSet<Uuid>,
    /// The newest quarter of an hour for which old sums were deleted.
    dropped_quarter: Option<i64>,
}

/// Values learnt in a transaction, to be cached once it is committed.
#[derive(Debug, Default)]
pub(crate) struct Learnt {
    systems: Vec<Uuid>,
    quarter: Option<i64>,
}

impl Memory {
    pub(crate) fn keep(&mut self, learnt: Learnt) {
        self.systems.extend(learnt.systems);
        self.dropped_quarter = self.dropped_quarter.max(learnt.quarter);
    }
}

/// The statements of a batch under construction. Frequent rows and sums are accumulated and written
/// after everything else, by a few statements for all groups.
pub(crate) struct Posting<'a> {
    node: Identity,
    pub(crate) statements: SqlStatements<'a>,
    sums: Sums<'a, Uuid>,
    transfers: Transfers,
    usage: UsageRows<'a>,
    systems: SystemAccounts,
}

impl<'a> Posting<'a> {
    pub(crate) fn new(node: Identity) -> Posting<'a> {
        Posting {
            node,
            statements: SqlStatements::default(),
            sums: Sums::default(),
            transfers: Transfers::default(),
            usage: UsageRows::default(),
            systems: SystemAccounts::default(),
        }
    }

    /// Adds a group, at this position in its batch. After an error the posting must be dropped.
    pub(crate) fn add(&mut self, place: usize, group: &'a Group) -> Result<(), StoreError> {
        self.statements.group = Some(place);
        for write in &group.writes {
            self.write(write)?;
        }
        Ok(())
    }

    /// All statements, in order.
    pub(crate) fn finish(
        mut self,
        memory: &Memory,
    ) -> Result<(SqlStatements<'a>, Learnt), StoreError> {
        self.statements.group = None;
        let systems = self.systems.write(&mut self.statements, self.node, &memory.systems);
        self.transfers.write(&mut self.statements);
        self.usage.write(&mut self.statements)?;
        let quarter =
            totals::write(&mut self.statements, self.sums.sorted(), memory.dropped_quarter)?;
        Ok((self.statements, Learnt { systems, quarter }))
    }

    fn write(&mut self, write: &'a Write) -> Result<(), StoreError> {
        let statements = &mut self.statements;
        match write {
            Write::Journal(record) => return self.record(record),
            Write::AddUsage(row) => {
                self.sums.add_usage(row);
                self.usage.add(row);
            }
            Write::TouchKey { key, at } => self.sums.touch(*key, at.ms()),
            Write::PruneUsage { before_day, rows_max } => {
                owners::prune_usage(statements, *before_day, *rows_max);
            }
            Write::AddOwner(owner) => owners::add_owner(statements, owner),
            Write::SetTier { owner, tier } => owners::set_tier(statements, *owner, tier),
            Write::MendTime { at } => owners::mend_time(statements, *at),
            Write::Freeze { owner, since } => {
                owners::freeze(statements, *owner, since.map(|since| since.ms()));
            }
            Write::AddKey { key, active_keys_max } => {
                owners::add_key(statements, key, *active_keys_max)
            }
            Write::ChangeKey { owner, key, settings, at } => {
                owners::change_key(statements, (*owner, *key), settings, at.ms());
            }
            Write::RevokeKey { owner, key, at } => {
                owners::revoke_key(statements, (*owner, *key), at.ms());
            }
            Write::MoveKey { key, from, to } => owners::move_key(statements, *key, (from, to)),
            Write::AddLimitHit(hit) => owners::add_limit_hit(statements, hit),
            Write::AddSetting { name, value } => owners::add_setting(statements, name, value),
            Write::PutSetting { name, value } => owners::put_setting(statements, name, value),
            Write::AddAudit(entry) => owners::add_audit(statements, entry),
            Write::Job(write) => return jobs::write(statements, write),
            Write::Media(write) => return media::write(statements, write),
            Write::EnsureOwner(owner) => wallets::ensure_owner(statements, owner),
            Write::UseNonce(used) => wallets::use_nonce(statements, used),
            Write::DropExpiredNonces { now, rows_max } => {
                wallets::drop_expired_nonces(statements, *now, *rows_max);
            }
            Write::LinkWallet(link) => wallets::link_wallet(statements, link),
            Write::UnlinkWallet { kind, address, owner } => {
                wallets::unlink_wallet(statements, (*kind, address), *owner);
            }
            Write::KeepAnswer { key, answer } => rpc::keep_answer(statements, key, answer),
            Write::DropExpiredAnswers { now, rows_max } => {
                rpc::drop_expired_answers(statements, *now, *rows_max);
            }
            Write::AddSentTransaction(sent) => rpc::add_sent_transaction(statements, sent),
            Write::NameTransaction { request_id, hash } => {
                rpc::name_transaction(statements, request_id, hash);
            }
            Write::OpenClaim(claim) => return claims::open(statements, claim),
            Write::AdvanceClaim { claim, from, step, at } => {
                return claims::advance(statements, (*claim, *from), step, *at);
            }
            Write::NoteReceivedClaim { claim, received, at } => {
                claims::note_received(statements, *claim, received, *at);
            }
            Write::DropReceivedClaim(claim) => claims::drop_received(statements, *claim),
            Write::NoteMissingClaim { claim, at } => claims::note_missing(statements, *claim, *at),
            Write::NoteFoundClaim(claim) => claims::note_found(statements, *claim),
            Write::DropFailedClaims { before, rows_max } => {
                claims::drop_failed(statements, *before, *rows_max);
            }
            Write::Character(write) => characters::write(statements, write),
        }
        Ok(())
    }

    /// The id of an account; a system account is created on its first use.
    fn account(&mut self, account: &Account, opened_ms: i64) -> Uuid {
        let id = account_id(account, self.node.id);
        if let Account::System(system) = account {
            self.systems.add(id, system.currency, system_name(system), opened_ms);
        }
        id
    }
}
