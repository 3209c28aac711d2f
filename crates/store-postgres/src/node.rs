//! The processes that share a database: who they are, and which of them may write.
//!
//! A node registers when it starts and gets an epoch. Every transaction that writes holds the
//! node's row with that epoch, and fails if the row is not there or its lease has run out. Retiring
//! a node raises its epoch, which waits for the transactions that hold the row: from then on
//! nothing of the retired node can be committed, whatever its own clock says.

use std::time::Duration;

use store::error::StoreError;
use store::schema::NodeSchema;
use uuid::Uuid;

use crate::columns::get;
use crate::connector::Connector;
use crate::error::PgError;
use crate::schema::{self, KNOWN};
use crate::session::Session;
use tokio_postgres::Row;

/// How long a node may write after its lease was last extended, by the clock of the database.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// The same for SQL.
const LEASE_SQL: &str = "interval '15 seconds'";

/// One node registers at a time.
pub(crate) const ENTRY_LOCK: i64 = 0x546F_6C6C_0003;

/// Another node may be changing the schema, which takes longer than any other lock is waited for.
const ENTRY_PATIENCE: &str = "SET LOCAL lock_timeout = '30s'; SET LOCAL statement_timeout = '35s'";

/// No row means that this node may not write. It does not wait for the lease to be extended, nor
/// does that wait for it; raising the epoch waits for the end of the transaction.
pub(crate) const FENCE: &str = "SELECT 1 FROM node \
    WHERE id = $1 AND epoch = $2 AND clock_timestamp() < expires_at FOR KEY SHARE";

/// A process, or its place in the list of them: a later process may have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub Uuid);

/// One node as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub id: NodeId,
    pub name: String,
    /// Where it is reached.
    pub address: String,
    pub epoch: i64,
    pub is_live: bool,
}

/// A process that wants to be a node.
#[derive(Debug, Clone)]
pub(crate) struct Entrant {
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) is_alone: bool,
    /// It was a node before, and was found dead: a live one of the same name stays.
    pub(crate) is_returning: bool,
}

impl Entrant {
    /// The same process, after it was found dead.
    pub(crate) fn returning(&self) -> Entrant {
        Entrant { is_returning: true, ..self.clone() }
    }
}

/// What a process writes as. Owners' leases and batches belong to a node and an epoch of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) id: Uuid,
    pub(crate) epoch: i64,
}

/// Registers this process. One that runs under the same name is fenced from now on: it is taken for
/// the one before this, which was killed. Waits for a transaction that it has under way.
pub(crate) async fn register(
    session: &Session,
    Entrant { name, address, is_alone, is_returning: _ }: &Entrant,
) -> Result<Identity, PgError> {
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
            let identity = Identity { id: get(&row, 0)?, epoch: get(&row, 1)? };
            // The process that was this node before may still query whether its last batch was
            // committed.
            let old = "DELETE FROM batch WHERE node = $1 \
                       AND at < clock_timestamp() - interval '1 day'";
            session.execute(old, &[&identity.id]).await?;
            return Ok(identity);
        }
    }
    Err(PgError::Refused(StoreError::Failed("the node could not be registered".to_owned())))
}

/// False if the epoch is another one by now: the node was retired, and must start anew.
pub(crate) async fn extend(session: &Session, identity: Identity) -> Result<bool, PgError> {
    let sql = format!(
        "UPDATE node SET expires_at = clock_timestamp() + {LEASE_SQL} \
         WHERE id = $1 AND epoch = $2"
    );
    Ok(session.execute(&sql, &[&identity.id, &identity.epoch]).await? == 1)
}

/// Whether a live process has this name.
pub(crate) async fn is_taken(session: &Session, name: &str) -> Result<bool, PgError> {
    let sql = "SELECT 1 FROM node WHERE name = $1 AND clock_timestamp() < expires_at";
    Ok(session.row(sql, &[&name]).await?.is_some())
}

/// Nobody has to wait for this node's lease to run out.
pub(crate) async fn give_back(session: &Session, identity: Identity) -> Result<(), PgError> {
    let sql = "UPDATE node SET expires_at = clock_timestamp() WHERE id = $1 AND epoch = $2";
    session.execute(sql, &[&identity.id, &identity.epoch]).await?;
    Ok(())
}

/// All nodes that have registered, by name.
pub(crate) async fn list(session: &Session) -> Result<Vec<Node>, PgError> {
    let sql = "SELECT id, name, address, epoch, clock_timestamp() < expires_at FROM node \
               ORDER BY name";
    let rows = session.rows(sql, &[]).await?;
    let node = |row| {
        Ok(Node {
            id: NodeId(get(row, 0)?),
            name: get(row, 1)?,
            address: get(row, 2)?,
            epoch: get(row, 3)?,
            is_live: get(row, 4)?,
        })
    };
    rows.iter().map(node).collect()
}

/// The nodes whose lease runs, with the newest version of the schema that each knows.
pub(crate) async fn known_by_running(session: &Session) -> Result<Vec<NodeSchema>, PgError> {
    let sql = "SELECT name, CASE WHEN schema_epoch = epoch THEN schema_known ELSE 1 END \
               FROM node WHERE clock_timestamp() < expires_at ORDER BY name";
    let rows = session.rows(sql, &[]).await?;
    rows.iter().map(|row| Ok(NodeSchema { name: get(row, 0)?, known: get(row, 1)? })).collect()
}

/// Raises the epoch of nodes whose lease has run out, and tells how many these were. One whose
/// epoch was raised before is not counted again.
pub(crate) async fn retire_expired(session: &Session) -> Result<u64, PgError> {
    let sql = "UPDATE node SET epoch = epoch + 1, expires_at = '-infinity' \
               WHERE expires_at <= clock_timestamp() AND expires_at <> '-infinity'";
    session.execute(sql, &[]).await
}

/// Raises the epoch of one node, if it is this one and its lease has run out.
pub(crate) async fn retire(session: &Session, identity: Identity) -> Result<bool, PgError> {
    let sql = "UPDATE node SET epoch = epoch + 1, expires_at = '-infinity' \
               WHERE id = $1 AND epoch = $2 AND expires_at <= clock_timestamp()";
    Ok(session.execute(sql, &[&identity.id, &identity.epoch]).await? == 1)
}

/// Registers over a connection of its own, which is then used to extend the lease.
pub(crate) async fn enter(
    connector: &Connector,
    entrant: Entrant,
) -> Result<(Session, Identity), PgError> {
    let session = connector.connect(crate::connector::Purpose::Lease).await?;
    let mut tries = 3;
    loop {
        tries -= 1;
        match enter_once(&session, &entrant).await {
            // Another process of the same name registered in the same moment.
            Err(PgError::Refused(StoreError::Duplicate(_)) | PgError::Collided(_)) if 0 < tries => {
            }
            Err(error) => return Err(error),
            Ok(identity) => return Ok((session, identity)),
        }
    }
}

/// One node after the other, so that two of them cannot each think that they are the only one.
async fn enter_once(session: &Session, entrant: &Entrant) -> Result<Identity, PgError> {
    session.begin("BEGIN").await?;
    let entered = enter_in_turn(session, entrant).await;
    session.end(if entered.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    entered
}

async fn enter_in_turn(session: &Session, entrant: &Entrant) -> Result<Identity, PgError> {
    session.run(ENTRY_PATIENCE).await?;
    session.execute("SELECT pg_advisory_xact_lock($1)", &[&ENTRY_LOCK]).await?;
    schema::check_still_usable(session).await?;
    let occupant = "SELECT name FROM node WHERE name <> $1 AND clock_timestamp() < expires_at \
                    AND (is_alone OR $2) LIMIT 1";
    let found: Option<Row> = session.row(occupant, &[&entrant.name, &entrant.is_alone]).await?;
    if let Some(row) = found {
        return Err(PgError::Refused(StoreError::Occupied { node: get(&row, 0)? }));
    }
    if entrant.is_returning && is_taken(session, &entrant.name).await? {
        return Err(PgError::Refused(StoreError::Occupied { node: entrant.name.clone() }));
    }
    if entrant.is_alone {
        // Waits for what dead nodes have under way: the books are read after that.
        retire_expired(session).await?;
    }
    register(session, entrant).await
}
