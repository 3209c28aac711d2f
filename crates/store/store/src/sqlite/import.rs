//! Fills a new database from an export.

use std::io::BufRead;
use std::path::Path;

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ToSql, Transaction, params_from_iter};

use crate::error::StoreError;
use crate::export::{ExportColumn, ExportReader, ExportTable, ExportValue};
use crate::sqlite::errors::to_store_error;
use crate::sqlite::export::name_accounts;
use crate::sqlite::{create_private, schema};

/// Imports into a new file, which must be deleted after an error. Returns the number of rows.
pub fn import_database<R: BufRead>(
    mut from: ExportReader<'_, R>,
    path: &Path,
) -> Result<u64, StoreError> {
    create_private(path)?;
    let mut connection = Connection::open(path).map_err(to_store_error)?;
    // The caller syncs the file before it moves it to its place.
    connection.pragma_update(None, "synchronous", "OFF").map_err(to_store_error)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(to_store_error)?;
    name_accounts(&connection).map_err(to_store_error)?;
    schema::apply_migrations(&mut connection)?;
    let transaction = connection.transaction().map_err(to_store_error)?;
    let triggers = drop_triggers(&transaction).map_err(to_store_error)?;
    while let Some(table) = from.next_table()? {
        let insert = build_insert(table);
        let mut statement = transaction.prepare(&insert).map_err(to_store_error)?;
        while let Some(cells) = from.next_row()? {
            statement.execute(params_from_iter(cells.iter())).map_err(to_store_error)?;
        }
        drop(statement);
        if table.name == "account" {
            number_accounts(&transaction).map_err(to_store_error)?;
        }
    }
    place_usage(&transaction).map_err(to_store_error)?;
    transaction.execute_batch("DROP TABLE temp.account_number").map_err(to_store_error)?;
    transaction.execute_batch(&triggers).map_err(to_store_error)?;
    transaction.commit().map_err(to_store_error)?;
    Ok(from.rows())
}

/// Drops the triggers, because the imported rows already include their effects. Returns the SQL
/// that recreates them.
fn drop_triggers(transaction: &Transaction<'_>) -> rusqlite::Result<String> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid";
    let mut statement = transaction.prepare(sql)?;
    let triggers = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let triggers: Vec<(String, String)> = triggers.collect::<Result<_, _>>()?;
    for (name, _) in &triggers {
        transaction.execute_batch(&format!("DROP TRIGGER {name}"))?;
    }
    Ok(triggers.into_iter().map(|(_, sql)| sql + ";\n").collect())
}

/// Creates the table that maps account ids of the export to row numbers.
fn number_accounts(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "CREATE TEMP TABLE account_number (id BLOB PRIMARY KEY, number INTEGER NOT NULL) \
         STRICT, WITHOUT ROWID; \
         INSERT INTO account_number SELECT account_in_export(owner, currency, name), id FROM account",
    )
}

fn place_usage(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "INSERT INTO usage_place (owner, at_ms, seq, currency) \
         SELECT owner, at_ms, seq, currency FROM usage ORDER BY owner, at_ms, seq; \
         UPDATE usage_placed SET through_seq = (SELECT coalesce(max(seq), 0) FROM usage); \
         UPDATE audit_count SET rows = (SELECT count(*) FROM audit)",
    )
}

fn build_insert(table: &ExportTable) -> String {
    let mut names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let columns = table.columns.iter().enumerate();
    let mut values: Vec<String> =
        columns.map(|(index, column)| build_expression(table, column, index + 1)).collect();
    let open_states = match table.name {
        "job" => Some("'QUEUED', 'RUNNING', 'UNKNOWN'"),
        "call_batch" => Some("'validating', 'in_progress', 'finalizing', 'cancelling'"),
        _ => None,
    };
    if let Some(open_states) = open_states {
        let state = names.iter().position(|name| *name == "state").unwrap_or_default() + 1;
        names.push("is_open");
        values.push(format!("?{state} IN ({open_states})"));
    }
    format!("INSERT INTO {} ({}) VALUES ({})", table.name, names.join(", "), values.join(", "))
}

/// The SQL expression for a column, from the parameter with this number.
fn build_expression(table: &ExportTable, column: &ExportColumn, cell: usize) -> String {
    match (table.name, column.name) {
        ("transfer", "debit" | "credit") | ("job_hold_leg", "account") => {
            format!("(SELECT number FROM temp.account_number WHERE id = ?{cell})")
        }
        ("usage_daily", "key") => {
            format!("CASE ?{cell} WHEN zeroblob(16) THEN x'' ELSE ?{cell} END")
        }
        _ => format!("?{cell}"),
    }
}

impl ToSql for ExportValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            ExportValue::Empty => ToSqlOutput::from(rusqlite::types::Null),
            ExportValue::Id(id) => ToSqlOutput::from(id.as_bytes().as_slice()),
            ExportValue::Number(number) => ToSqlOutput::from(*number),
            ExportValue::Flag(flag) => ToSqlOutput::from(*flag),
            ExportValue::Text(text) => ToSqlOutput::from(text.as_str()),
            ExportValue::Bytes(bytes) => ToSqlOutput::from(bytes.as_slice()),
        })
    }
}
