//! The processes that share a database: their identities, and which of them may write.
//!
//! A node registers when it starts and gets an epoch. Every transaction that writes locks the
//! node's row with that epoch, and fails if there is no such row or its lease has expired. Retiring
//! a node raises its epoch, which waits for the transactions that lock the row: from then on the
//! retired node can commit nothing, whatever its own clock says.

use std::time::Duration;

use store::error::StoreError;
use store::schema::NodeSchema;
use uuid::Uuid;

use crate::columns::read_column;
use crate::connector::PostgresConnector;
use crate::error::PgError;
use crate::schema::{self, KNOWN};
use crate::session::PostgresSession;
use tokio_postgres::Row;

/// Time for which a node may write after its lease was last extended, by the database's clock.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// The same as SQL.
const LEASE_SQL: &str = "interval '15 seconds'";

/// The advisory lock that lets one node register at a time.
pub(crate) const ENTRY_LOCK: i64 = 0x546F_6C6C_0003;

/// Timeouts for registering: another node may be migrating the schema, which takes longer than any
/// other lock is held.
const ENTRY_PATIENCE: &str = "SET LOCAL lock_timeout = '30s'; SET LOCAL statement_timeout = '35s'";

/// Locks the row of this node; no row means that it may not write. Does not conflict with extending
/// the lease; raising the epoch waits for the end of the transaction.
pub(crate) const FENCE: &str = "SELECT 1 FROM node \
    WHERE id = $1 AND epoch = $2 AND clock_timestamp() < expires_at FOR KEY SHARE";

/// The id of a node. A later process with the same name has the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub Uuid);

/// One node as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredNode {
    pub id: NodeId,
    pub name: String,
    /// The URL at which other nodes reach it.
    pub address: String,
    pub epoch: i64,
    pub is_live: bool,
}

/// A process that registers as a node.
#[derive(Debug, Clone)]
pub(crate) struct NodeRegistration {
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) is_alone: bool,
    /// True if it was a node before, and was declared dead: a live node with the same name stays
    /// then.
    pub(crate) is_returning: bool,
}

impl NodeRegistration {
    /// The same process, after it was declared dead.
    pub(crate) fn to_returning(&self) -> NodeRegistration {
        NodeRegistration { is_returning: true, ..self.clone() }
    }
}

/// The identity that a process writes with. Owners' leases and batches belong to a node and its
/// epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeIdentity {
    pub(crate) id: Uuid,
    pub(crate) epoch: i64,
}

/// Registers this process. A process with the same name is fenced from now on: it is taken to be
/// the previous run, which was killed. Waits for a transaction of it that is in progress.
pub(crate) async fn register_node(
    session: &PostgresSession,
    NodeRegistration { name, address, is_alone, is_returning: _ }: &NodeRegistration,
) -> Result<NodeIdentity, PgError> {
    let set = format!(
        "SET name = $1, address = $2, is_alone = $3, epoch = epoch + 1, \
         schema_known = {KNOWN}, schema_epoch = epoch + 1, started_at = clock_timestamp(), \
         expires_at = clock_timestamp() + {LEASE_SQL}"
    );
    let again = format!("UPDATE node {set} WHERE name = $1 RETURNING id, epoch");
    let seat = format!(
        "UPDATE node {set} WHERE id = (SELECT id FROM node \
         WHERE expires_at < clock_timestamp() - interval '1 hour' ORDER BY expires_at LIMIT 1 \
         FOR UPDATE SKIP LOCKED) RETURNING id, epoch"
    );
    let new = format!(
        "INSERT INTO node (id, name, address, is_alone, epoch, schema_known, schema_epoch, \
         started_at, expires_at) VALUES (gen_random_uuid(), $1, $2, $3, 1, {KNOWN}, 1, \
         clock_timestamp(), clock_timestamp() + {LEASE_SQL}) \
         RETURNING id, epoch"
    );
    for sql in [again, seat, new] {
        if let Some(row) = session.row(&sql, &[&name, &address, &is_alone]).await? {
            let identity = NodeIdentity { id: read_column(&row, 0)?, epoch: read_column(&row, 1)? };
            // The process that was this node before may still check if its last batch was
            // committed.
            let old = "DELETE FROM batch WHERE node = $1 \
                       AND at < clock_timestamp() - interval '1 day'";
            session.execute(old, &[&identity.id]).await?;
            return Ok(identity);
        }
    }
    Err(PgError::Refused(StoreError::Failed("the node could not be registered".to_owned())))
}

/// Extends the lease. False if the epoch has changed: the node was retired.
pub(crate) async fn extend_lease(
    session: &PostgresSession,
    identity: NodeIdentity,
) -> Result<bool, PgError> {
    let sql = format!(
        "UPDATE node SET expires_at = clock_timestamp() + {LEASE_SQL} \
         WHERE id = $1 AND epoch = $2"
    );
    Ok(session.execute(&sql, &[&identity.id, &identity.epoch]).await? == 1)
}

/// True if a live process has this name.
pub(crate) async fn is_taken(session: &PostgresSession, name: &str) -> Result<bool, PgError> {
    let sql = "SELECT 1 FROM node WHERE name = $1 AND clock_timestamp() < expires_at";
    Ok(session.row(sql, &[&name]).await?.is_some())
}

/// Ends this node's lease now, so that other nodes need not wait until it expires.
pub(crate) async fn end_lease(
    session: &PostgresSession,
    identity: NodeIdentity,
) -> Result<(), PgError> {
    let sql = "UPDATE node SET expires_at = clock_timestamp() WHERE id = $1 AND epoch = $2";
    session.execute(sql, &[&identity.id, &identity.epoch]).await?;
    Ok(())
}

/// All nodes that have registered, by name.
pub(crate) async fn list_nodes(session: &PostgresSession) -> Result<Vec<RegisteredNode>, PgError> {
    let sql = "SELECT id, name, address, epoch, clock_timestamp() < expires_at FROM node \
               ORDER BY name";
    let rows = session.rows(sql, &[]).await?;
    let node = |row| {
        Ok(RegisteredNode {
            id: NodeId(read_column(row, 0)?),
            name: read_column(row, 1)?,
            address: read_column(row, 2)?,
            epoch: read_column(row, 3)?,
            is_live: read_column(row, 4)?,
        })
    };
    rows.iter().map(node).collect()
}

/// The live nodes, with the newest schema version that each knows.
pub(crate) async fn known_by_running(
    session: &PostgresSession,
) -> Result<Vec<NodeSchema>, PgError> {
    let sql = "SELECT name, CASE WHEN schema_epoch = epoch THEN schema_known ELSE 1 END \
               FROM node WHERE clock_timestamp() < expires_at ORDER BY name";
    let rows = session.rows(sql, &[]).await?;
    rows.iter()
        .map(|row| Ok(NodeSchema { name: read_column(row, 0)?, known: read_column(row, 1)? }))
        .collect()
}

/// Raises the epoch of nodes whose lease has expired, and returns their number. One whose epoch was
/// raised before is not counted again.
pub(crate) async fn retire_expired(session: &PostgresSession) -> Result<u64, PgError> {
    let sql = "UPDATE node SET epoch = epoch + 1, expires_at = '-infinity' \
               WHERE expires_at <= clock_timestamp() AND expires_at <> '-infinity'";
    session.execute(sql, &[]).await
}

/// Raises the epoch of this node, if its lease has expired.
pub(crate) async fn retire_node(
    session: &PostgresSession,
    identity: NodeIdentity,
) -> Result<bool, PgError> {
    let sql = "UPDATE node SET epoch = epoch + 1, expires_at = '-infinity' \
               WHERE id = $1 AND epoch = $2 AND expires_at <= clock_timestamp()";
    Ok(session.execute(sql, &[&identity.id, &identity.epoch]).await? == 1)
}

/// Registers over a connection of its own, which is then used to extend the lease.
pub(crate) async fn connect_and_register(
    connector: &PostgresConnector,
    entrant: NodeRegistration,
) -> Result<(PostgresSession, NodeIdentity), PgError> {
    let session = connector.connect(crate::connector::ConnectionPurpose::Lease).await?;
    let mut tries = 3;
    loop {
        tries -= 1;
        match try_register(&session, &entrant).await {
            // Another process with the same name registered at the same time.
            Err(PgError::Refused(StoreError::Duplicate(_)) | PgError::Collided(_)) if 0 < tries => {
            }
            Err(error) => return Err(error),
            Ok(identity) => return Ok((session, identity)),
        }
    }
}

/// Registers under the lock, so that two nodes cannot each think that they are the only one.
async fn try_register(
    session: &PostgresSession,
    entrant: &NodeRegistration,
) -> Result<NodeIdentity, PgError> {
    session.begin_transaction("BEGIN").await?;
    let entered = register_locked(session, entrant).await;
    session.end_transaction(if entered.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    entered
}

async fn register_locked(
    session: &PostgresSession,
    entrant: &NodeRegistration,
) -> Result<NodeIdentity, PgError> {
    session.run(ENTRY_PATIENCE).await?;
    session.execute("SELECT pg_advisory_xact_lock($1)", &[&ENTRY_LOCK]).await?;
    schema::check_still_usable(session).await?;
    let occupant = "SELECT name FROM node WHERE name <> $1 AND clock_timestamp() < expires_at \
                    AND (is_alone OR $2) LIMIT 1";
    let found: Option<Row> = session.row(occupant, &[&entrant.name, &entrant.is_alone]).await?;
    if let Some(row) = found {
        return Err(PgError::Refused(StoreError::Occupied { node: read_column(&row, 0)? }));
    }
    if entrant.is_returning && is_taken(session, &entrant.name).await? {
        return Err(PgError::Refused(StoreError::Occupied { node: entrant.name.clone() }));
    }
    if entrant.is_alone {
        // Waits for transactions of dead nodes: the books are read after that.
        retire_expired(session).await?;
    }
    register_node(session, entrant).await
}
