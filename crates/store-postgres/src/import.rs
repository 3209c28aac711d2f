//! Fills an empty database from an export, in one transaction.

use std::collections::HashMap;
use std::io::BufRead;
use std::pin::pin;

use store::account_id;
use store::error::StoreError;
use store::export::{Reader, TABLES, Table, Value, account_in_export};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use crate::Postgres;
use crate::columns::{get, text};
use crate::connector::Purpose;
use crate::error::PgError;
use crate::node::{FENCE, Identity};
use crate::session::Session;

impl Postgres {
    /// Imports all of an export, or nothing. The database must have no rows, and this node should
    /// be the only one. Returns the number of rows.
    pub async fn import<R: BufRead>(&self, from: Reader<'_, R>) -> Result<u64, StoreError> {
        let session = self.pool.connect(Purpose::Migrate).await?;
        session.begin("BEGIN").await?;
        let rows = fill(&session, self.seat.identity(), from).await?;
        session.end("COMMIT").await?;
        Ok(rows)
    }
}

async fn fill<R: BufRead>(
    session: &Session,
    node: Identity,
    mut from: Reader<'_, R>,
) -> Result<u64, StoreError> {
    keep_others_out(session, node).await?;
    // The imported rows already include the effects of triggers.
    alter_triggers(session, "DISABLE").await?;
    let mut systems = HashMap::new();
    while let Some(table) = from.table()? {
        copy(session, table, &mut from, (node.id, &mut systems)).await?;
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
async fn keep_others_out(session: &Session, node: Identity) -> Result<(), StoreError> {
    if session.row(FENCE, &[&node.id, &node.epoch]).await?.is_none() {
        return Err(StoreError::Fenced);
    }
    let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    session.run(&format!("LOCK TABLE {} IN EXCLUSIVE MODE", names.join(", "))).await?;
    let is_there: Vec<String> =
        names.iter().map(|name| format!("EXISTS (SELECT 1 FROM {name})")).collect();
    let row = session.one(&format!("SELECT {}", is_there.join(" OR ")), &[]).await?;
    if get(&row, 0)? {
        return Err(StoreError::Unsuitable(
            "the database is not empty, and an import replaces nothing; name another one in \
             `store.url`, such as one that was just created"
                .to_owned(),
        ));
    }
    Ok(())
}

async fn alter_triggers(session: &Session, how: &str) -> Result<(), PgError> {
    for table in TABLES {
        session.run(&format!("ALTER TABLE {} {how} TRIGGER USER", table.name)).await?;
    }
    Ok(())
}

/// This node's id, and the map of system accounts from their ids in the export to those here.
type Systems<'a> = (Uuid, &'a mut HashMap<Uuid, Uuid>);

async fn copy<R: BufRead>(
    session: &Session,
    table: &'static Table,
    from: &mut Reader<'_, R>,
    (node, systems): Systems<'_>,
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
    while let Some(mut cells) = from.row()? {
        match table.name {
            "account" => add_names(&mut cells, node, systems),
            "transfer" => name_systems(&mut cells, systems),
            _ => {}
        }
        let cells: Vec<Cell<'_>> = cells.iter().map(Cell).collect();
        writer.as_mut().write_raw(&cells).await.map_err(PgError::from)?;
    }
    writer.finish().await.map_err(PgError::from)?;
    Ok(())
}

/// Appends the id of an account, and its node if it is a system account.
fn add_names(cells: &mut Vec<Value>, node: Uuid, systems: &mut HashMap<Uuid, Uuid>) {
    let [owner, currency, name] = [&cells[0], &cells[1], &cells[2]];
    let (currency, name) = (currency.text().unwrap_or_default(), name.text().unwrap_or_default());
    let (id, node) = match owner.id() {
        Some(owner) => (account_id::of_lot(owner, currency, name), Value::Empty),
        None => {
            let id = account_id::of_system(node, currency, name);
            systems.insert(account_in_export(None, currency, name), id);
            (id, Value::Id(node))
        }
    };
    cells.extend([Value::Id(id), node]);
}

fn name_systems(cells: &mut [Value], systems: &HashMap<Uuid, Uuid>) {
    for cell in cells {
        if let Value::Id(id) = cell
            && let Some(here) = systems.get(id)
        {
            *id = *here;
        }
    }
}

/// A value for a column of its type.
#[derive(Debug)]
struct Cell<'a>(&'a Value);

impl ToSql for Cell<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self.0 {
            Value::Empty => Ok(IsNull::Yes),
            Value::Id(id) => id.to_sql(kind, out),
            Value::Number(number) if *kind == Type::INT2 => {
                i16::try_from(*number)?.to_sql(kind, out)
            }
            Value::Number(number) if *kind == Type::INT4 => {
                i32::try_from(*number)?.to_sql(kind, out)
            }
            Value::Number(number) => number.to_sql(kind, out),
            Value::Flag(flag) => flag.to_sql(kind, out),
            Value::Text(written) => text(written).to_sql(kind, out),
            Value::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        let known =
            [Type::UUID, Type::INT8, Type::INT4, Type::INT2, Type::BOOL, Type::TEXT, Type::BYTEA];
        known.contains(kind)
    }

    to_sql_checked!();
}
