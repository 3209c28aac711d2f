//! Exports a database, for another kind of store.

use std::collections::HashMap;
use std::io::Write;

use futures_util::TryStreamExt;
use store::error::StoreError;
use store::export::{
    ColumnKind, ExportColumn, ExportTable, ExportValue, ExportWriter, TABLES, account_in_export,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::columns::read_column;
use crate::error::PgError;
use crate::session::PostgresSession;
use crate::{PostgresStore, snapshot};

impl PostgresStore {
    /// Exports everything, as of one moment. No other node should write meanwhile: its writes would
    /// be in this database only. `Options::is_alone` ensures that.
    pub async fn export<W: Write>(&self, to: ExportWriter<'_, W>) -> Result<u64, StoreError> {
        let reader = self.pool.acquire_session().await?;
        snapshot::begin_settled_snapshot(&reader).await?;
        let rows = write_all(&reader, to).await?;
        snapshot::end_snapshot(&reader).await?;
        Ok(rows)
    }
}

async fn write_all<W: Write>(
    session: &PostgresSession,
    mut to: ExportWriter<'_, W>,
) -> Result<u64, StoreError> {
    let systems = system_accounts(session).await?;
    for table in TABLES {
        to.begin_table(table)?;
        let statement =
            session.client().prepare(&build_select(table)).await.map_err(PgError::from)?;
        let none: [&(dyn ToSql + Sync); 0] = [];
        let rows = session.client().query_raw(&statement, none).await.map_err(PgError::from)?;
        let mut rows = std::pin::pin!(rows);
        while let Some(row) = rows.try_next().await.map_err(PgError::from)? {
            let mut cells = read_cells(&row, table)?;
            if table.name == "transfer" {
                for id in cells.iter_mut() {
                    name_system(id, &systems);
                }
            }
            to.write_row(cells)?;
        }
    }
    to.finish()
}

/// The ids that the system accounts of each node have in exports. There are a few per node.
async fn system_accounts(session: &PostgresSession) -> Result<HashMap<Uuid, Uuid>, PgError> {
    let sql = "SELECT id, currency, name FROM account WHERE owner IS NULL";
    let rows = session.rows(sql, &[]).await?;
    let named = |row: &Row| {
        Ok((
            read_column(row, 0)?,
            account_in_export(None, read_column(row, 1)?, read_column(row, 2)?),
        ))
    };
    rows.iter().map(named).collect()
}

fn name_system(cell: &mut ExportValue, systems: &HashMap<Uuid, Uuid>) {
    if let ExportValue::Id(id) = cell
        && let Some(name) = systems.get(id)
    {
        *id = *name;
    }
}

fn build_select(table: &ExportTable) -> String {
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
        .map(|ExportColumn { name, kind }| match kind {
            // Some columns are narrower here.
            ColumnKind::Number => format!("{name}::BIGINT"),
            _ => (*name).to_owned(),
        })
        .collect();
    let order = table.order.join(", ");
    format!("SELECT {} FROM {} ORDER BY {order}", columns.join(", "), table.name)
}

fn read_cells(row: &Row, table: &ExportTable) -> Result<Vec<ExportValue>, PgError> {
    let columns = table.columns.iter().enumerate();
    columns.map(|(index, column)| read_cell(row, index, column.kind)).collect()
}

fn read_cell(row: &Row, index: usize, kind: ColumnKind) -> Result<ExportValue, PgError> {
    let value = match kind {
        ColumnKind::Id => read_column::<Option<Uuid>>(row, index)?.map(ExportValue::Id),
        ColumnKind::Number => read_column::<Option<i64>>(row, index)?.map(ExportValue::Number),
        ColumnKind::Flag => read_column::<Option<bool>>(row, index)?.map(ExportValue::Flag),
        ColumnKind::Text => read_column::<Option<String>>(row, index)?.map(ExportValue::Text),
        ColumnKind::Bytes => read_column::<Option<Vec<u8>>>(row, index)?.map(ExportValue::Bytes),
    };
    Ok(value.unwrap_or(ExportValue::Empty))
}
