//! Queries: a connection that runs shared statements, and the stores that have such connections.

use std::pin::Pin;

use ledger_core::OwnerId;

use crate::StoreFuture;
use crate::character::{CharacterQuery, ListedCharacter};
use crate::error::StoreError;
use crate::sql::{SqlRow, SqlText, SqlValue};

pub type SqlFuture<'c, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'c>>;

/// Called with each row of a query.
pub type RowReader<'c> = &'c mut (dyn FnMut(&dyn SqlRow) -> Result<(), StoreError> + Send);

/// A connection of a query. Its statements are prepared once and cached.
pub trait SqlConnection: Sync {
    fn for_each_row<'c>(
        &'c self,
        sql: SqlText,
        values: &'c [SqlValue<'c>],
        read: RowReader<'c>,
    ) -> SqlFuture<'c, ()>;

    /// Describes usage rows and stored sums that differ.
    fn find_miscounts(&self) -> SqlFuture<'_, Vec<String>>;

    /// Describes rows, constraints and triggers that the schema does not allow.
    fn find_faults(&self) -> SqlFuture<'_, Vec<String>>;
}

impl dyn SqlConnection + '_ {
    pub async fn rows<T: Send>(
        &self,
        sql: SqlText,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&dyn SqlRow) -> Result<T, StoreError> + Send,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        let mut read = |row: &dyn SqlRow| {
            rows.push(read(row)?);
            Ok(())
        };
        self.for_each_row(sql, values, &mut read).await?;
        Ok(rows)
    }

    pub async fn row<T: Send>(
        &self,
        sql: SqlText,
        values: &[SqlValue<'_>],
        read: impl FnMut(&dyn SqlRow) -> Result<T, StoreError> + Send,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.rows(sql, values, read).await?.into_iter().next())
    }

    /// The row of a query that always has exactly one.
    pub async fn single_row<T: Send>(
        &self,
        sql: SqlText,
        values: &[SqlValue<'_>],
        read: impl FnMut(&dyn SqlRow) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        let found = self.row(sql, values, read).await?;
        found.ok_or_else(|| StoreError::Failed("a query that has a row returned none".to_owned()))
    }
}

/// The isolation of a query, and the writes that it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadMode {
    pub isolation: ReadIsolation,
    /// True for tables that charges change: acknowledged charges are posted first.
    pub has_charges: bool,
}

/// The view of a query on other transactions. On SQLite all are snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadIsolation {
    /// One indexed statement that a request waits for: times out.
    Lookup,
    /// One statement, or several that need not see the same snapshot.
    Statement,
    Snapshot,
    /// A snapshot below whose newest sequence number no row can appear later.
    Settled,
}

impl ReadMode {
    pub const LOOKUP: ReadMode = ReadMode { isolation: ReadIsolation::Lookup, has_charges: false };
    pub const STATEMENT: ReadMode =
        ReadMode { isolation: ReadIsolation::Statement, has_charges: false };
    pub const SNAPSHOT: ReadMode =
        ReadMode { isolation: ReadIsolation::Snapshot, has_charges: false };
    pub const SETTLED: ReadMode =
        ReadMode { isolation: ReadIsolation::Settled, has_charges: false };

    #[must_use]
    pub const fn with_charges(self) -> ReadMode {
        ReadMode { has_charges: true, ..self }
    }
}

/// Tables whose sequence numbers several nodes draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequencedTable {
    Transfers,
    Usage,
}

/// A table that is read in pages, by a statement whose parameters are those of [`SequencePage`].
pub struct PagedSequence<T> {
    pub table: SequencedTable,
    pub sql: SqlText,
    pub read: fn(&dyn SqlRow) -> RowResult<T>,
    pub seq: fn(&T) -> i64,
}

/// The rows after a sequence number, and at most how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequencePage {
    pub after_seq: i64,
    pub limit: usize,
}

/// The result of reading a row.
pub type RowResult<T> = Result<T, StoreError>;

/// A store that runs shared queries.
pub trait SqlStore: Send + Sync {
    /// Runs a query of several statements.
    fn read<'a, T: Send + 'static>(
        &'a self,
        mode: ReadMode,
        query: impl for<'c> FnOnce(&'c dyn SqlConnection) -> SqlFuture<'c, T> + Send + 'static,
    ) -> StoreFuture<'a, T>;

    /// Searches characters by conditions: a statement that is composed for each database.
    fn search_characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<ListedCharacter>>;

    /// Reads a page of a table by its sequence numbers, below whose last one no row appears later.
    fn read_sequence<T: Send + 'static>(
        &self,
        of: PagedSequence<T>,
        page: SequencePage,
    ) -> StoreFuture<'_, Vec<T>>;

    /// Notes that a table has all rows up to a sequence number.
    fn note_settled(&self, table: SequencedTable, seq: i64);

    fn read_rows<'a, T: Send + 'static, const N: usize>(
        &'a self,
        mode: ReadMode,
        sql: SqlText,
        values: [SqlValue<'static>; N],
        read: fn(&dyn SqlRow) -> RowResult<T>,
    ) -> StoreFuture<'a, Vec<T>> {
        self.read(mode, move |db| Box::pin(async move { db.rows(sql, &values, read).await }))
    }

    fn read_row<'a, T: Send + 'static, const N: usize>(
        &'a self,
        mode: ReadMode,
        sql: SqlText,
        values: [SqlValue<'static>; N],
        read: fn(&dyn SqlRow) -> RowResult<T>,
    ) -> StoreFuture<'a, Option<T>> {
        self.read(mode, move |db| Box::pin(async move { db.row(sql, &values, read).await }))
    }

    /// Reads the row of a query that always has exactly one.
    fn read_single<'a, T: Send + 'static, const N: usize>(
        &'a self,
        mode: ReadMode,
        sql: SqlText,
        values: [SqlValue<'static>; N],
        read: fn(&dyn SqlRow) -> RowResult<T>,
    ) -> StoreFuture<'a, T> {
        self.read(mode, move |db| Box::pin(async move { db.single_row(sql, &values, read).await }))
    }
}
