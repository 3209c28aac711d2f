//! Exports a database, for another kind of store.

use std::io::Write;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::{FromSqlError, Type, ValueRef};
use rusqlite::{Connection, Row};
use uuid::Uuid;

use crate::error::StoreError;
use crate::export::{
    ColumnKind, ExportColumn, ExportTable, ExportValue, ExportWriter, TABLES, account_in_export,
};
use crate::sqlite::SqliteStore;
use crate::sqlite::errors::to_store_error;
use crate::write::WriteGroup;

impl SqliteStore {
    /// Exports everything that was acknowledged, as of one moment. No other process should write
    /// meanwhile: its writes would be in this database only.
    pub async fn export<W: Write>(&self, mut to: ExportWriter<'_, W>) -> Result<u64, StoreError> {
        // Posts the charge log: an empty group is written after it.
        self.queue.push(WriteGroup::default()).await?;
        let mut connection = Connection::open(&self.path).map_err(to_store_error)?;
        name_accounts(&connection).map_err(to_store_error)?;
        let moment = connection.transaction().map_err(to_store_error)?;
        for table in TABLES {
            to.begin_table(table)?;
            let sql = build_select(table);
            let mut statement = moment.prepare(&sql).map_err(to_store_error)?;
            let mut rows = statement.query([]).map_err(to_store_error)?;
            while let Some(row) = rows.next().map_err(to_store_error)? {
                to.write_row(read_cells(row, table).map_err(to_store_error)?)?;
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

fn build_select(table: &ExportTable) -> String {
    let columns: Vec<String> =
        table.columns.iter().map(|column| build_expression(table, column)).collect();
    let order = table.order.join(", ");
    format!("SELECT {} FROM {} ORDER BY {order}", columns.join(", "), table.name)
}

/// The SQL expression for a column of the export.
fn build_expression(table: &ExportTable, ExportColumn { name, .. }: &ExportColumn) -> String {
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

fn read_cells(row: &Row<'_>, table: &ExportTable) -> rusqlite::Result<Vec<ExportValue>> {
    let columns = table.columns.iter().enumerate();
    columns.map(|(index, column)| read_cell(row.get_ref(index)?, index, column.kind)).collect()
}

fn read_cell(value: ValueRef<'_>, index: usize, kind: ColumnKind) -> rusqlite::Result<ExportValue> {
    Ok(match (value, kind) {
        (ValueRef::Null, _) => ExportValue::Empty,
        (ValueRef::Integer(number), ColumnKind::Number) => ExportValue::Number(number),
        (ValueRef::Integer(0), ColumnKind::Flag) => ExportValue::Flag(false),
        (ValueRef::Integer(1), ColumnKind::Flag) => ExportValue::Flag(true),
        (ValueRef::Blob(bytes), ColumnKind::Bytes) => ExportValue::Bytes(bytes.to_owned()),
        (ValueRef::Blob(bytes), ColumnKind::Id) => match Uuid::from_slice(bytes) {
            Ok(id) => ExportValue::Id(id),
            Err(_) => return Err(unknown_type_error(value, index)),
        },
        (ValueRef::Text(_), ColumnKind::Text) => ExportValue::Text(value.as_str()?.to_owned()),
        _ => return Err(unknown_type_error(value, index)),
    })
}

fn unknown_type_error(value: ValueRef<'_>, index: usize) -> rusqlite::Error {
    let kind: Type = value.data_type();
    rusqlite::Error::FromSqlConversionFailure(index, kind, Box::new(FromSqlError::InvalidType))
}
