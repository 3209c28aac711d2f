//! Exports a database, for another kind of store.

use std::collections::HashMap;
use std::io::Write;

use futures_util::TryStreamExt;
use store::error::StoreError;
use store::export::{Column, ColumnKind, TABLES, Table, Value, Writer, account_in_export};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::columns::get;
use crate::error::PgError;
use crate::session::Session;
use crate::{Postgres, snapshot};

impl Postgres {
    /// Exports everything, as of one moment. No other node should write meanwhile: its writes would
    /// be in this database only. `Options::is_alone` ensures that.
    pub async fn export<W: Write>(&self, to: Writer<'_, W>) -> Result<u64, StoreError> {
        let reader = self.pool.reader().await?;
        snapshot::begin_settled(&reader).await?;
        let rows = write_all(&reader, to).await?;
        snapshot::finish(&reader).await?;
        Ok(rows)
    }
}

async fn write_all<W: Write>(session: &Session, mut to: Writer<'_, W>) -> Result<u64, StoreError> {
    let systems = system_accounts(session).await?;
    for table in TABLES {
        to.table(table)?;
        let statement = session.client().prepare(&select(table)).await.map_err(PgError::from)?;
        let none: [&(dyn ToSql + Sync); 0] = [];
        let rows = session.client().query_raw(&statement, none).await.map_err(PgError::from)?;
        let mut rows = std::pin::pin!(rows);
        while let Some(row) = rows.try_next().await.map_err(PgError::from)? {
            let mut cells = cells(&row, table)?;
            if table.name == "transfer" {
                for id in cells.iter_mut() {
                    name_system(id, &systems);
                }
            }
            to.row(cells)?;
        }
    }
    to.finish()
}

/// The ids that the system accounts of each node have in exports. There are a few per node.
async fn system_accounts(session: &Session) -> Result<HashMap<Uuid, Uuid>, PgError> {
    let sql = "SELECT id, currency, name FROM account WHERE owner IS NULL";
    let rows = session.rows(sql, &[]).await?;
    let named = |row: &Row| Ok((get(row, 0)?, account_in_export(None, get(row, 1)?, get(row, 2)?)));
    rows.iter().map(named).collect()
}

fn name_system(cell: &mut Value, systems: &HashMap<Uuid, Uuid>) {
    if let Value::Id(id) = cell
        && let Some(name) = systems.get(id)
    {
        *id = *name;
    }
}

fn select(table: &Table) -> String {
    if table.name == "account" {
        // Each node has its own row of a system account; the export has their sum.
        return "SELECT owner, currency, name, min(opened_ms), min(expires_ms), bool_and(is_closed), \
                sum(granted)::BIGINT, sum(debits)::BIGINT, sum(credits)::BIGINT, \
                sum(pending)::BIGINT FROM account GROUP BY owner, currency, name \
                ORDER BY owner NULLS FIRST, currency, name"
            .to_owned();
    }
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|Column { name, kind }| match kind {
            // Some columns are narrower here.
            ColumnKind::Number => format!("{name}::BIGINT"),
            _ => (*name).to_owned(),
        })
        .collect();
    let order = table.order.join(", ");
    format!("SELECT {} FROM {} ORDER BY {order}", columns.join(", "), table.name)
}

fn cells(row: &Row, table: &Table) -> Result<Vec<Value>, PgError> {
    let columns = table.columns.iter().enumerate();
    columns.map(|(index, column)| cell(row, index, column.kind)).collect()
}

fn cell(row: &Row, index: usize, kind: ColumnKind) -> Result<Value, PgError> {
    let value = match kind {
        ColumnKind::Id => get::<Option<Uuid>>(row, index)?.map(Value::Id),
        ColumnKind::Number => get::<Option<i64>>(row, index)?.map(Value::Number),
        ColumnKind::Flag => get::<Option<bool>>(row, index)?.map(Value::Flag),
        ColumnKind::Text => get::<Option<String>>(row, index)?.map(Value::Text),
        ColumnKind::Bytes => get::<Option<Vec<u8>>>(row, index)?.map(Value::Bytes),
    };
    Ok(value.unwrap_or(Value::Empty))
}
