//! Turns the writes of groups into statements.

use std::collections::HashSet;

use ledger_core::{JournalRecord, KeyId, LedgerAccount};
use moment::Timestamp;
use store::error::StoreError;
use store::sql::settings::put_setting;
use store::sql::{self, SqlPosting, SqlText, SqlValues};
use store::sums::TransactionSums;
use store::usage::{PRUNED_BEFORE_DAY, UsageRow};
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use crate::accounts::{account_id, system_name};
use crate::node::NodeIdentity;
use crate::posting::bulk_rows::{SystemAccounts, TransferRows, UsageRows};
use crate::shared_sql::bind_values;
use crate::statements::SqlStatements;

mod bulk_rows;
mod deletions;
mod journal;
mod notices;
mod session_totals;
mod totals;

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
        if let Some(change) = notices::find_notice(write) {
            self.statements.notify(change);
        }
        sql::post_write(self, write)
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

impl<'a> SqlPosting<'a> for PostingBuilder<'a> {
    type Error = StoreError;

    fn run(&mut self, sql: SqlText, values: impl SqlValues<'a>) -> Result<(), StoreError> {
        if !sql.postgres.is_empty() {
            self.statements.add(sql.postgres, bind_values(values));
        }
        Ok(())
    }

    fn run_one(
        &mut self,
        sql: SqlText,
        values: impl SqlValues<'a>,
        otherwise: StoreError,
    ) -> Result<(), StoreError> {
        self.statements.add_one(sql.postgres, bind_values(values), otherwise);
        Ok(())
    }

    fn post_record(&mut self, record: &'a JournalRecord) -> Result<(), StoreError> {
        self.write_record(record)
    }

    fn add_usage(&mut self, row: &'a UsageRow) -> Result<(), StoreError> {
        self.sums.add_usage(row);
        self.usage.add(row);
        Ok(())
    }

    fn touch_key(&mut self, key: KeyId, at: Timestamp) {
        self.sums.touch(key, at.ms());
    }

    fn prune_usage(&mut self, before_day: i64, rows_max: usize) -> Result<(), StoreError> {
        put_setting(self, PRUNED_BEFORE_DAY, before_day.to_le_bytes())?;
        deletions::prune_usage(&mut self.statements, before_day, rows_max);
        Ok(())
    }

    fn delete_ended_jobs(&mut self, before: Timestamp, rows_max: usize) -> Result<(), StoreError> {
        deletions::delete_ended_jobs(&mut self.statements, before, rows_max);
        Ok(())
    }

    fn delete_gone_files(&mut self, rows_max: usize) -> Result<(), StoreError> {
        deletions::delete_gone_files(&mut self.statements, rows_max);
        Ok(())
    }
}
