//! Leases that say which node decides about an owner's money.
//!
//! A lease belongs to a node and its epoch. Groups need not name the owners that they spend for:
//! every transaction that writes is fenced by its node's epoch, and an owner's lease is given to
//! another node only after that epoch was raised, or after its holder released it.

use std::sync::Arc;
use std::time::Duration;

use ledger_core::OwnerId;
use store::error::StoreError;
use store::journal::LedgerBooks;
use store::leases::{FOUNDING, LeaseHolder, OwnerLeases, is_duty};
use store::sql::books::read_owner_books;
use store::sql::{ReadMode, SqlStore};
use store::{Store, StoreFuture};
use tokio::time::Instant;
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::changes::{CHANNEL, ChangeNotice};
use crate::columns::read_column;
use crate::error::PgError;
use crate::identity::DatedIdentity;
use crate::lease::LeaseState;
use crate::node::{self, FENCE, NodeIdentity, retire_node};
use crate::pool::PooledSession;
use crate::session::PostgresSession;

/// Attempts to take a lease when transactions conflict.
const TRIES: u32 = 5;

/// Time that a request waits for a lease, or for any other indexed query. A session that holds a
/// lock for longer is dead, and the database ends it within seconds.
pub(crate) const ANSWER_MAX: Duration = Duration::from_millis(2_500);

impl OwnerLeases for PostgresStore {
    fn lease_owner(&self, owner: OwnerId) -> StoreFuture<'_, LeaseHolder> {
        Box::pin(async move {
            // The setup at the start does not depend on the time.
            if owner != FOUNDING
                && let Some(fault) = self.clock_fault()
            {
                return Err(StoreError::Failed(fault));
            }
            let identity = self.seat.identity();
            let lease =
                async |session: Arc<PooledSession>| lease_owner(&session, identity, owner).await;
            self.owners.run_query(&self.pulse, Some(ANSWER_MAX), lease).await
        })
    }

    /// Sent as [`ChangeNotice::Recall`].
    fn recall_owner(&self, owner: OwnerId) -> StoreFuture<'_, ()> {
        let payload = ChangeNotice::Recall { owner }.payload();
        self.query_with_timeout(async move |db| {
            let notify = "SELECT pg_notify($1, $2)";
            db.execute(notify, &[&CHANNEL, &payload]).await.map(drop)
        })
    }

    fn owner_books(&self, owner: OwnerId) -> StoreFuture<'_, LedgerBooks> {
        self.read(ReadMode::SNAPSHOT, move |db| Box::pin(read_owner_books(db, owner)))
    }

    fn release_owner(&self, owner: OwnerId) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let identity = self.seat.identity();
            let release =
                async |session: Arc<PooledSession>| release_owner(&session, identity, owner).await;
            self.owners.run_query(&self.pulse, Some(ANSWER_MAX), release).await
        })
    }

    fn is_retired(&self) -> bool {
        *self.lease.borrow() == LeaseState::Retired
    }

    fn register_again(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let since = Instant::now();
            match node::connect_and_register(&self.connector, self.entrant.to_returning()).await {
                Ok((_, identity)) => {
                    self.seat.replace(DatedIdentity { identity, since });
                    // Also set here, besides by the lease keeper, so that a second call sees it.
                    self.lease_state.send_replace(LeaseState::Held);
                    Ok(())
                }
                Err(PgError::Refused(error @ StoreError::Occupied { .. })) => {
                    tracing::error!("another process has taken this node's place: {error}");
                    self.lease_state.send_replace(LeaseState::Lost);
                    Err(error)
                }
                Err(error) => Err(error.into()),
            }
        })
    }
}

pub(crate) async fn lease_owner(
    session: &PostgresSession,
    identity: NodeIdentity,
    owner: OwnerId,
) -> Result<LeaseHolder, StoreError> {
    let mut tries = TRIES;
    loop {
        tries -= 1;
        session.begin_transaction("BEGIN").await?;
        let leased = try_leasing(session, identity, owner).await;
        let end = if leased.is_ok() { "COMMIT" } else { "ROLLBACK" };
        session.end_transaction(end).await?;
        match leased {
            // Two nodes that retire others at the same time can conflict.
            Err(PgError::Collided(_)) if 0 < tries => {}
            leased => return Ok(leased?),
        }
    }
}

async fn try_leasing(
    session: &PostgresSession,
    identity: NodeIdentity,
    owner: OwnerId,
) -> Result<LeaseHolder, PgError> {
    if session.execute(FENCE, &[&identity.id, &identity.epoch]).await? != 1 {
        return Err(PgError::Refused(StoreError::Fenced));
    }
    let known = "SELECT 1 FROM owner WHERE id = $1";
    if !is_duty(owner) && session.row(known, &[&owner.0]).await?.is_none() {
        return Ok(LeaseHolder::Nobody);
    }
    let take = "INSERT INTO owner_lease (owner, node, epoch) VALUES ($1, $2, $3) \
                ON CONFLICT (owner) DO NOTHING";
    session.execute(take, &[&owner.0, &identity.id, &identity.epoch]).await?;
    // From here on no other node can take the lease.
    let lock = "SELECT node, epoch FROM owner_lease WHERE owner = $1 FOR UPDATE";
    let held = session.single_row(lock, &[&owner.0]).await?;
    let holder = NodeIdentity { id: read_column(&held, 0)?, epoch: read_column(&held, 1)? };
    if holder != identity {
        if let Some(elsewhere) = live_elsewhere(session, holder).await? {
            return Ok(elsewhere);
        }
        let take_over = "UPDATE owner_lease SET node = $2, epoch = $3 WHERE owner = $1";
        session.execute(take_over, &[&owner.0, &identity.id, &identity.epoch]).await?;
    }
    Ok(LeaseHolder::Here(Box::new(read_owner_books(session, owner).await?)))
}

/// The holder of a lease, if it is live. One whose lease has expired is retired first, which waits
/// for its transactions in progress: the books are read after that.
async fn live_elsewhere(
    session: &PostgresSession,
    holder: NodeIdentity,
) -> Result<Option<LeaseHolder>, PgError> {
    let live = "SELECT address FROM node WHERE id = $1 AND epoch = $2";
    let values = [&holder.id as &(dyn tokio_postgres::types::ToSql + Sync), &holder.epoch];
    let Some(row): Option<Row> = session.row(live, &values).await? else { return Ok(None) };
    if retire_node(session, holder).await? {
        return Ok(None);
    }
    Ok(Some(LeaseHolder::At { address: read_column(&row, 0)? }))
}

pub(crate) async fn release_owner(
    session: &PostgresSession,
    identity: NodeIdentity,
    owner: OwnerId,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM owner_lease WHERE owner = $1 AND node = $2 AND epoch = $3";
    session.execute(sql, &[&owner.0, &identity.id, &identity.epoch]).await?;
    Ok(())
}
