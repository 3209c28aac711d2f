//! Runs shared statements on SQLite.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use ledger_core::OwnerId;
use rusqlite::types::{ToSqlOutput, Type, Value, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};

use crate::StoreFuture;
use crate::character::{CharacterQuery, ListedCharacter};
use crate::error::StoreError;
use crate::sql::connection::{PagedSequence, RowResult, SequencePage, SequencedTable};
use crate::sql::value::sql_values;
use crate::sql::{
    ColumnValue, ReadMode, RowReader, SqlConnection, SqlFuture, SqlRow, SqlStore, SqlText, SqlValue,
};
use crate::sqlite::errors::to_store_error;
use crate::sqlite::{SqliteStore, characters, evidence, recount};

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            SqlValue::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            SqlValue::Integer(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            SqlValue::Flag(flag) => ToSqlOutput::Borrowed(ValueRef::Integer(i64::from(*flag))),
            SqlValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            SqlValue::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            SqlValue::Id(id) => ToSqlOutput::Borrowed(ValueRef::Blob(id.as_bytes())),
            SqlValue::Ids(ids) => {
                let ids: Vec<String> = ids.iter().map(|id| id.simple().to_string()).collect();
                to_json(&ids)
            }
            SqlValue::Texts(texts) => to_json(texts),
        })
    }
}

fn to_json(texts: &[String]) -> ToSqlOutput<'static> {
    ToSqlOutput::Owned(Value::Text(serde_json::Value::from(texts).to_string()))
}

impl SqlRow for Row<'_> {
    fn value(&self, column: usize) -> Result<ColumnValue<'_>, StoreError> {
        let value = self.get_ref(column).map_err(to_store_error)?;
        Ok(match value {
            ValueRef::Null => ColumnValue::Null,
            ValueRef::Integer(number) => ColumnValue::Integer(number),
            ValueRef::Text(_) => {
                let text = value.as_str().map_err(|error| StoreError::Failed(error.to_string()));
                ColumnValue::Text(text?)
            }
            ValueRef::Blob(bytes) => ColumnValue::Bytes(bytes),
            ValueRef::Real(_) => {
                let text = format!("column {column} of a row is a floating-point number");
                return Err(StoreError::Failed(text));
            }
        })
    }
}

/// A connection of a shared query. The futures that it returns are ready at once.
pub(crate) struct SqliteReading<'c>(Mutex<&'c mut Connection>);

impl SqlConnection for SqliteReading<'_> {
    fn for_each_row<'c>(
        &'c self,
        sql: SqlText,
        values: &'c [SqlValue<'c>],
        read: RowReader<'c>,
    ) -> SqlFuture<'c, ()> {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(std::future::ready(read_rows(&connection, sql, values, read)))
    }

    fn find_miscounts(&self) -> SqlFuture<'_, Vec<String>> {
        self.run_check(recount::find_miscounts)
    }

    fn find_faults(&self) -> SqlFuture<'_, Vec<String>> {
        self.run_check(evidence::find_faults)
    }
}

impl SqliteReading<'_> {
    fn run_check(
        &self,
        check: fn(&Connection) -> rusqlite::Result<Vec<String>>,
    ) -> SqlFuture<'_, Vec<String>> {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(std::future::ready(check(&connection).map_err(to_store_error)))
    }
}

fn read_rows(
    connection: &Connection,
    sql: SqlText,
    values: &[SqlValue<'_>],
    read: RowReader<'_>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql.sqlite).map_err(to_store_error)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(to_store_error)?;
    while let Some(row) = rows.next().map_err(to_store_error)? {
        read(row)?;
    }
    Ok(())
}

/// Runs a query whose statements all see one snapshot.
pub(crate) fn run_shared_query<T>(
    connection: &mut Connection,
    query: impl for<'c> FnOnce(&'c dyn SqlConnection) -> SqlFuture<'c, T>,
) -> Result<T, StoreError> {
    let run = |connection: &Connection, sql| {
        connection.prepare_cached(sql).and_then(|mut it| it.execute([])).map_err(to_store_error)
    };
    run(connection, "BEGIN")?;
    let answer = {
        let reading = SqliteReading(Mutex::new(connection));
        take_ready(query(&reading))
    };
    run(connection, "ROLLBACK")?;
    answer
}

/// The output of a future that waits for nothing but [`SqliteReading`].
fn take_ready<T>(future: SqlFuture<'_, T>) -> Result<T, StoreError> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a shared query only waits for its statements"),
    }
}

impl SqlStore for SqliteStore {
    fn read<'a, T: Send + 'static>(
        &'a self,
        mode: ReadMode,
        query: impl for<'c> FnOnce(&'c dyn SqlConnection) -> SqlFuture<'c, T> + Send + 'static,
    ) -> StoreFuture<'a, T> {
        self.query_shared(mode.has_charges, query)
    }

    fn search_characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<ListedCharacter>> {
        self.query(move |connection| characters::list_characters(connection, &query, asker))
    }

    fn read_sequence<T: Send + 'static>(
        &self,
        of: PagedSequence<T>,
        SequencePage { after_seq, limit }: SequencePage,
    ) -> StoreFuture<'_, Vec<T>> {
        let values = sql_values![after_seq, limit];
        self.read_rows(ReadMode::SETTLED.with_charges(), of.sql, values, of.read)
    }

    /// One writer draws the numbers here, in the order of its commits.
    fn note_settled(&self, _: SequencedTable, _: i64) {}
}

/// Runs a statement of a write, and returns the number of rows that it changed or returned.
pub(crate) fn run_statement(
    connection: &Connection,
    sql: SqlText,
    values: &[SqlValue<'_>],
) -> rusqlite::Result<usize> {
    if sql.sqlite.is_empty() {
        return Ok(0);
    }
    let mut statement = connection.prepare_cached(sql.sqlite)?;
    if statement.column_count() == 0 {
        return statement.execute(params_from_iter(values));
    }
    let mut rows = statement.query(params_from_iter(values))?;
    let mut returned = 0;
    while rows.next()?.is_some() {
        returned += 1;
    }
    Ok(returned)
}

/// Reads a row of a statement that only SQLite runs.
pub(crate) fn read_shared_row<T>(
    row: &Row<'_>,
    read: fn(&dyn SqlRow) -> RowResult<T>,
) -> rusqlite::Result<T> {
    read(row)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Null, Box::new(error)))
}
