//! Turns the writes of groups into statements.

use std::collections::HashSet;

use ledger_core::{LedgerAccount, LedgerTransfer, LotKey};
use moment::Timestamp;
use store::error::StoreError;
use store::sql::{self, SqlPosting, SqlText, SqlValues};
use store::sums::TransactionSums;
use store::usage::UsageRow;
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use crate::accounts::{account_id, lot_id, system_name};
use crate::node::NodeIdentity;
use crate::posting::bulk_rows::{SystemAccounts, TransferRows, UsageRows};
use crate::shared_sql::bind_values;
use crate::statements::{SqlStatements, values};

mod bulk_rows;
mod deletions;
mod notices;
mod session_totals;
mod totals;

/// Inserts a new row, or reopens the row of a lot that was closed before.
const OPEN_LOT: &str = "INSERT INTO account (id, owner, currency, name, opened_ms, expires_ms) \
    VALUES ($1, $2, $3, $4, $5, $6) \
    ON CONFLICT (id) DO UPDATE SET is_closed = FALSE WHERE account.is_closed";

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
}

impl<'a> SqlPosting<'a> for PostingBuilder<'a> {
    type Error = StoreError;
    type AccountId = Uuid;

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

    fn sums(&mut self) -> &mut TransactionSums<'a, Uuid> {
        &mut self.sums
    }

    fn find_account(
        &mut self,
        account: &LedgerAccount,
        opened_at: Timestamp,
    ) -> Result<Uuid, StoreError> {
        let id = account_id(account, self.node.id);
        if let LedgerAccount::System(system) = account {
            self.systems.add(id, system.currency, system_name(system), opened_at.ms());
        }
        Ok(id)
    }

    fn open_lot(
        &mut self,
        lot: &LotKey,
        opened_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let values = values![
            lot_id(lot),
            lot.owner.0,
            lot.currency.name(),
            lot.tag.to_string(),
            opened_at.ms(),
            expires_at.map(Timestamp::ms),
        ];
        let is_open = StoreError::Duplicate(format!("{lot} is open"));
        self.statements.add_one(OPEN_LOT, values, is_open);
        Ok(())
    }

    fn add_transfer(
        &mut self,
        debit: Uuid,
        credit: Uuid,
        transfer: &'a LedgerTransfer,
    ) -> Result<(), StoreError> {
        self.transfers.add(debit, credit, transfer);
        Ok(())
    }

    fn add_usage(&mut self, row: &'a UsageRow) -> Result<(), StoreError> {
        self.usage.add(row);
        Ok(())
    }

    fn prune_usage(&mut self, before: Timestamp, rows_max: usize) -> Result<(), StoreError> {
        deletions::prune_usage(&mut self.statements, before, rows_max);
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
