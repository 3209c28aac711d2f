//! Runs shared statements on Postgres.

use std::error::Error;
use std::sync::Arc;

use ledger_core::OwnerId;
use store::StoreFuture;
use store::character::{CharacterQuery, ListedCharacter};
use store::error::StoreError;
use store::sql::connection::{
    PagedSequence, ReadIsolation, RowResult, SequencePage, SequencedTable,
};
use store::sql::{
    ColumnValue, ReadMode, RowReader, SqlConnection, SqlFuture, SqlRow, SqlStore, SqlText,
    SqlValue, SqlValues,
};
use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::PostgresStore;
use crate::columns::{read_column, to_sql_text};
use crate::error::PgError;
use crate::pool::PooledSession;
use crate::queries::listing::list_characters;
use crate::queries::{evidence, usage_recount};
use crate::session::PostgresSession;
use crate::snapshot::SettledSequence;
use crate::statements::Value;

/// A value for a parameter of any type that can hold it.
#[derive(Debug)]
struct BoundValue<'a>(SqlValue<'a>);

impl ToSql for BoundValue<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match &self.0 {
            SqlValue::Null => Ok(IsNull::Yes),
            SqlValue::Integer(number) => match *kind {
                Type::INT2 => i16::try_from(*number)?.to_sql(kind, out),
                Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
                _ => number.to_sql_checked(kind, out),
            },
            SqlValue::Flag(flag) => flag.to_sql_checked(kind, out),
            SqlValue::Text(text) => to_sql_text(text).to_sql_checked(kind, out),
            SqlValue::Bytes(bytes) => (&**bytes).to_sql_checked(kind, out),
            SqlValue::Id(id) => id.to_sql_checked(kind, out),
            SqlValue::Ids(ids) => ids.to_sql_checked(kind, out),
            SqlValue::Texts(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| to_sql_text(text)).collect();
                texts.to_sql_checked(kind, out)
            }
        }
    }

    /// The type is checked with the value.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A column of any type that shared statements return.
struct RawColumn<'a>(ColumnValue<'a>);

impl<'a> FromSql<'a> for RawColumn<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<RawColumn<'a>, Box<dyn Error + Sync + Send>> {
        Ok(RawColumn(match *kind {
            Type::INT8 => ColumnValue::Integer(i64::from_sql(kind, raw)?),
            Type::INT4 => ColumnValue::Integer(i32::from_sql(kind, raw)?.into()),
            Type::INT2 => ColumnValue::Integer(i16::from_sql(kind, raw)?.into()),
            Type::BOOL => ColumnValue::Integer(bool::from_sql(kind, raw)?.into()),
            Type::UUID | Type::BYTEA => ColumnValue::Bytes(raw),
            _ => ColumnValue::Text(<&str>::from_sql(kind, raw)?),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<RawColumn<'a>, Box<dyn Error + Sync + Send>> {
        Ok(RawColumn(ColumnValue::Null))
    }

    fn accepts(kind: &Type) -> bool {
        let known = [Type::INT8, Type::INT4, Type::INT2, Type::BOOL, Type::UUID, Type::BYTEA];
        known.contains(kind) || <&str as FromSql>::accepts(kind)
    }
}

struct SharedRow<'a>(&'a Row);

impl SqlRow for SharedRow<'_> {
    fn value(&self, column: usize) -> Result<ColumnValue<'_>, StoreError> {
        let RawColumn(value) = read_column(self.0, column)?;
        Ok(value)
    }
}

impl SqlConnection for PostgresSession {
    fn for_each_row<'c>(
        &'c self,
        sql: SqlText,
        values: &'c [SqlValue<'c>],
        read: RowReader<'c>,
    ) -> SqlFuture<'c, ()> {
        Box::pin(async move {
            let bound: Vec<_> = values.iter().cloned().map(BoundValue).collect();
            let bound: Vec<_> = bound.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
            let read = |row: &Row| read(&SharedRow(row)).map_err(PgError::Refused);
            Ok(PostgresSession::for_each_row(self, sql.postgres, &bound, read).await?)
        })
    }

    fn find_miscounts(&self) -> SqlFuture<'_, Vec<String>> {
        Box::pin(async move { Ok(usage_recount::find_miscounts(self).await?) })
    }

    fn find_faults(&self) -> SqlFuture<'_, Vec<String>> {
        Box::pin(async move { Ok(evidence::find_faults(self).await?) })
    }
}

impl SqlStore for PostgresStore {
    fn read<'a, T: Send + 'static>(
        &'a self,
        mode: ReadMode,
        query: impl for<'c> FnOnce(&'c dyn SqlConnection) -> SqlFuture<'c, T> + Send + 'static,
    ) -> StoreFuture<'a, T> {
        let query = async move |db: Arc<PooledSession>| {
            let session: &PostgresSession = &db;
            query(session).await.map_err(PgError::Refused)
        };
        match mode.isolation {
            ReadIsolation::Lookup => self.query_with_timeout(query),
            ReadIsolation::Statement => self.query(query),
            ReadIsolation::Snapshot => self.query_snapshot(query),
            ReadIsolation::Settled => self.query_settled(query),
        }
    }

    fn search_characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<ListedCharacter>> {
        self.query(async move |db| list_characters(&db, &query, asker).await)
    }

    fn read_sequence<T: Send + 'static>(
        &self,
        of: PagedSequence<T>,
        SequencePage { after_seq, limit }: SequencePage,
    ) -> StoreFuture<'_, Vec<T>> {
        let read =
            move |mode| self.read_rows(mode, of.sql, [after_seq.into(), limit.into()], of.read);
        Box::pin(async move {
            let page = read(ReadMode::STATEMENT).await?;
            let last = page.last().map_or(0, of.seq);
            if page.len() == limit && self.settled_sequence(of.table).covers(last) {
                return Ok(page);
            }
            let page = read(ReadMode::SETTLED).await?;
            self.note_settled(of.table, page.last().map_or(0, of.seq));
            Ok(page)
        })
    }

    fn note_settled(&self, table: SequencedTable, seq: i64) {
        self.settled_sequence(table).raise_to(seq);
    }
}

impl PostgresStore {
    fn settled_sequence(&self, table: SequencedTable) -> &SettledSequence {
        match table {
            SequencedTable::Transfers => &self.settled_transfers,
            SequencedTable::Usage => &self.settled_usage,
        }
    }
}

pub(crate) fn bind_values<'a>(values: impl SqlValues<'a>) -> Vec<Value<'a>> {
    values.into_iter().map(|value| Box::new(BoundValue(value)) as Value<'a>).collect()
}

/// Reads a row of a statement that only Postgres runs.
pub(crate) fn read_shared_row<T>(
    row: &Row,
    read: fn(&dyn SqlRow) -> RowResult<T>,
) -> Result<T, PgError> {
    read(&SharedRow(row)).map_err(PgError::Refused)
}
