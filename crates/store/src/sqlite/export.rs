//! Exports a database, for another kind of store.

use std::io::Write;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::{FromSqlError, Type, ValueRef};
use rusqlite::{Connection, Row};
use uuid::Uuid;

use crate::error::StoreError;
use crate::export::{Column, ColumnKind, TABLES, Table, Value, Writer, account_in_export};
use crate::sqlite::Sqlite;
use crate::sqlite::errors::refusal;
use crate::write::Group;

impl Sqlite {
    /// Exports everything that was acknowledged, as of one moment. No other process should write
    /// meanwhile: its writes would be in this database only.
    pub async fn export<W: Write>(&self, mut to: Writer<'_, W>) -> Result<u64, StoreError> {
        // Posts the charge log: an empty group is written after it.
        self.queue.push(Group::default()).await?;
        let mut connection = Connection::open(&self.path).map_err(refusal)?;
        name_accounts(&connection).map_err(refusal)?;
        let moment = connection.transaction().map_err(refusal)?;
        for table in TABLES {
            to.table(table)?;
            let sql = select(table);
            let mut statement = moment.prepare(&sql).map_err(refusal)?;
            let mut rows = statement.query([]).map_err(refusal)?;
            while let Some(row) = rows.next().map_err(refusal)? {
                to.row(cells(row, table).map_err(refusal)?)?;
            }
        }
        to.finish()
    }
}

/// Registers the SQL function `account_in_export`.
pub(crate) fn name_accounts(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("account_in_export", 3, flags, |arguments| {
        let owner: Option<[u8; 16]> = arguments.get(0)?;
        let (currency, name): (String, String) = (arguments.get(1)?, arguments.get(2)?);
        Ok(*account_in_export(owner.map(Uuid::from_bytes), &currency, &name).as_bytes())
    })
}

fn select(table: &Table) -> String {
    let columns: Vec<String> =
        table.columns.iter().map(|column| expression(table, column)).collect();
    let order = table.order.join(", ");
    format!("SELECT {} FROM {} ORDER BY {order}", columns.join(", "), table.name)
}

/// The SQL expression for a column of the export.
fn expression(table: &Table, Column { name, .. }: &Column) -> String {
    match (table.name, *name) {
        ("transfer", "debit" | "credit") | ("job_hold_leg", "account") => format!(
            "(SELECT account_in_export(account.owner, account.currency, account.name) \
             FROM account WHERE account.id = {name})"
        ),
        // Usage of a wallet has an empty key.
        ("usage_daily", "key") => "CASE length(key) WHEN 0 THEN zeroblob(16) ELSE key END".into(),
        _ => (*name).to_owned(),
    }
}

fn cells(row: &Row<'_>, table: &Table) -> rusqlite::Result<Vec<Value>> {
    let columns = table.columns.iter().enumerate();
    columns.map(|(index, column)| cell(row.get_ref(index)?, index, column.kind)).collect()
}

fn cell(value: ValueRef<'_>, index: usize, kind: ColumnKind) -> rusqlite::Result<Value> {
    Ok(match (value, kind) {
        (ValueRef::Null, _) => Value::Empty,
        (ValueRef::Integer(number), ColumnKind::Number) => Value::Number(number),
        (ValueRef::Integer(0), ColumnKind::Flag) => Value::Flag(false),
        (ValueRef::Integer(1), ColumnKind::Flag) => Value::Flag(true),
        (ValueRef::Blob(bytes), ColumnKind::Bytes) => Value::Bytes(bytes.to_owned()),
        (ValueRef::Blob(bytes), ColumnKind::Id) => match Uuid::from_slice(bytes) {
            Ok(id) => Value::Id(id),
            Err(_) => return Err(unknown(value, index)),
        },
        (ValueRef::Text(_), ColumnKind::Text) => Value::Text(value.as_str()?.to_owned()),
        _ => return Err(unknown(value, index)),
    })
}

fn unknown(value: ValueRef<'_>, index: usize) -> rusqlite::Error {
    let kind: Type = value.data_type();
    rusqlite::Error::FromSqlConversionFailure(index, kind, Box::new(FromSqlError::InvalidType))
}
