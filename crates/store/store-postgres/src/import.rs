//! Fills an empty database from an export, in one transaction.

use std::collections::HashMap;
use std::io::BufRead;
use std::pin::pin;

use store::account_id;
use store::error::StoreError;
use store::export::{ExportReader, ExportTable, ExportValue, TABLES, account_in_export};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{read_column, to_sql_text};
use crate::connector::ConnectionPurpose;
use crate::error::PgError;
use crate::node::{FENCE, NodeIdentity};
use crate::session::PostgresSession;

impl PostgresStore {
    /// Imports all of an export, or nothing. The database must have no rows, and this node should
    /// be the only one. Returns the number of rows.
    pub async fn import<R: BufRead>(&self, from: ExportReader<'_, R>) -> Result<u64, StoreError> {
        let session = self.pool.connect(ConnectionPurpose::Migrate).await?;
        session.begin_transaction("BEGIN").await?;
        let rows = fill_database(&session, self.seat.identity(), from).await?;
        session.end_transaction("COMMIT").await?;
        Ok(rows)
    }
}

async fn fill_database<R: BufRead>(
    session: &PostgresSession,
    node: NodeIdentity,
    mut from: ExportReader<'_, R>,
) -> Result<u64, StoreError> {
    keep_others_out(session, node).await?;
    // The imported rows already include the effects of triggers.
    alter_triggers(session, "DISABLE").await?;
    let mut systems = ImportedSystems { node: node.id, ids: HashMap::new() };
    while let Some(table) = from.next_table()? {
        copy_table(session, table, &mut from, &mut systems).await?;
    }
    alter_triggers(session, "ENABLE").await?;
    session.run("UPDATE audit_count SET rows = (SELECT count(*) FROM audit)").await?;
    for table in TABLES.iter().filter(|table| table.order == ["seq"]) {
        let name = table.name;
        let go_on = format!(
            "SELECT setval(pg_get_serial_sequence('{name}', 'seq'), max(seq)) FROM {name} \
             HAVING max(seq) IS NOT NULL"
        );
        session.run(&go_on).await?;
    }
    session.run("ANALYZE").await?;
    Ok(from.rows())
}

/// Locks the tables, so that no other node writes before the transaction ends, even if this node is
/// declared dead meanwhile.
async fn keep_others_out(session: &PostgresSession, node: NodeIdentity) -> Result<(), StoreError> {
    if session.row(FENCE, &[&node.id, &node.epoch]).await?.is_none() {
        return Err(StoreError::Fenced);
    }
    let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    session.run(&format!("LOCK TABLE {} IN EXCLUSIVE MODE", names.join(", "))).await?;
    let is_there: Vec<String> =
        names.iter().map(|name| format!("EXISTS (SELECT 1 FROM {name})")).collect();
    let row = session.single_row(&format!("SELECT {}", is_there.join(" OR ")), &[]).await?;
    if read_column(&row, 0)? {
        return Err(StoreError::Unsuitable(
            "the database is not empty, and an import replaces nothing; name another one in \
             `store.url`, such as one that was just created"
                .to_owned(),
        ));
    }
    Ok(())
}

async fn alter_triggers(session: &PostgresSession, how: &str) -> Result<(), PgError> {
    for table in TABLES {
        session.run(&format!("ALTER TABLE {} {how} TRIGGER USER", table.name)).await?;
    }
    Ok(())
}

/// The system accounts of an export, which become accounts of this node.
struct ImportedSystems {
    node: Uuid,
    /// From the ids in the export to those here.
    ids: HashMap<Uuid, Uuid>,
}

async fn copy_table<R: BufRead>(
    session: &PostgresSession,
    table: &'static ExportTable,
    from: &mut ExportReader<'_, R>,
    systems: &mut ImportedSystems,
) -> Result<(), StoreError> {
    let mut names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    if table.name == "account" {
        names.extend(["id", "node"]);
    }
    let names = names.join(", ");
    let client = session.client();
    let shape = format!("SELECT {names} FROM {}", table.name);
    let shape = client.prepare(&shape).await.map_err(PgError::from)?;
    let types: Vec<Type> = shape.columns().iter().map(|column| column.type_().clone()).collect();
    let into = format!("COPY {} ({names}) FROM STDIN BINARY", table.name);
    let sink = client.copy_in(&into).await.map_err(PgError::from)?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    while let Some(mut cells) = from.next_row()? {
        match table.name {
            "account" => add_names(&mut cells, systems),
            "transfer" => name_systems(&mut cells, &systems.ids),
            _ => {}
        }
        let cells: Vec<CopyCell<'_>> = cells.iter().map(CopyCell).collect();
        writer.as_mut().write_raw(&cells).await.map_err(PgError::from)?;
    }
    writer.finish().await.map_err(PgError::from)?;
    Ok(())
}

/// Appends the id of an account, and its node if it is a system account.
fn add_names(cells: &mut Vec<ExportValue>, systems: &mut ImportedSystems) {
    let [owner, currency, name] = [&cells[0], &cells[1], &cells[2]];
    let (currency, name) =
        (currency.as_text().unwrap_or_default(), name.as_text().unwrap_or_default());
    let (id, node) = match owner.as_id() {
        Some(owner) => (account_id::lot_account_id(owner, currency, name), ExportValue::Empty),
        None => {
            let id = account_id::system_account_id(systems.node, currency, name);
            systems.ids.insert(account_in_export(None, currency, name), id);
            (id, ExportValue::Id(systems.node))
        }
    };
    cells.extend([ExportValue::Id(id), node]);
}

fn name_systems(cells: &mut [ExportValue], ids: &HashMap<Uuid, Uuid>) {
    for cell in cells {
        if let ExportValue::Id(id) = cell
            && let Some(here) = ids.get(id)
        {
            *id = *here;
        }
    }
}

/// A value for a column of its type.
#[derive(Debug)]
struct CopyCell<'a>(&'a ExportValue);

impl ToSql for CopyCell<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self.0 {
            ExportValue::Empty => Ok(IsNull::Yes),
            ExportValue::Id(id) => id.to_sql(kind, out),
            ExportValue::Number(number) if *kind == Type::INT2 => {
                i16::try_from(*number)?.to_sql(kind, out)
            }
            ExportValue::Number(number) if *kind == Type::INT4 => {
                i32::try_from(*number)?.to_sql(kind, out)
            }
            ExportValue::Number(number) => number.to_sql(kind, out),
            ExportValue::Flag(flag) => flag.to_sql(kind, out),
            ExportValue::Text(written) => to_sql_text(written).to_sql(kind, out),
            ExportValue::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        let known =
            [Type::UUID, Type::INT8, Type::INT4, Type::INT2, Type::BOOL, Type::TEXT, Type::BYTEA];
        known.contains(kind)
    }

    to_sql_checked!();
}
