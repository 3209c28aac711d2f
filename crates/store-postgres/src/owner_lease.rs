//! Leases that say which node decides about an owner's money.
//!
//! A lease belongs to a node and its epoch. Groups need not name the owners that they spend for:
//! every transaction that writes is fenced by its node's epoch, and an owner's lease is given to
//! another node only after that epoch was raised, or after its holder released it.

use std::sync::Arc;
use std::time::Duration;

use credits::OwnerId;
use store::error::StoreError;
use store::journal::Books;
use store::leases::{FOUNDING, Leased, OwnerLeases, is_duty};
use store::{Store, StoreFuture};
use tokio::time::Instant;
use tokio_postgres::Row;

use crate::Postgres;
use crate::changes::{CHANNEL, Change};
use crate::columns::get;
use crate::error::PgError;
use crate::lease::LeaseState;
use crate::node::{self, FENCE, Identity, retire};
use crate::pool::Reader;
use crate::queries::books;
use crate::seat::NodeTenure;
use crate::session::Session;

/// Attempts to take a lease when transactions conflict.
const TRIES: u32 = 5;

/// Time that a request waits for a lease, or for any other indexed query. A session that holds a
/// lock for longer is dead, and the database ends it within seconds.
pub(crate) const ANSWER_MAX: Duration = Duration::from_millis(2_500);

impl OwnerLeases for Postgres {
    fn lease_owner(&self, owner: OwnerId) -> StoreFuture<'_, Leased> {
        Box::pin(async move {
            // The setup at the start does not depend on the time.
            if owner != FOUNDING
                && let Some(fault) = self.clock_fault()
            {
                return Err(StoreError::Failed(fault));
            }
            let identity = self.seat.identity();
            let lease = async |session: Arc<Reader>| lease_owner(&session, identity, owner).await;
            self.owners.ask(&self.pulse, Some(ANSWER_MAX), lease).await
        })
    }

    /// Sent as [`Change::Recall`].
    fn recall_owner(&self, owner: OwnerId) -> StoreFuture<'_, ()> {
        let payload = Change::Recall { owner }.payload();
        self.ask_soon(async move |db| {
            let notify = "SELECT pg_notify($1, $2)";
            db.execute(notify, &[&CHANNEL, &payload]).await.map(drop)
        })
    }

    fn owner_books(&self, owner: OwnerId) -> StoreFuture<'_, Books> {
        self.ask_at_once(async move |db| books::of_owner(&db, owner).await)
    }

    fn release_owner(&self, owner: OwnerId) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let identity = self.seat.identity();
            let release =
                async |session: Arc<Reader>| release_owner(&session, identity, owner).await;
            self.owners.ask(&self.pulse, Some(ANSWER_MAX), release).await
        })
    }

    fn is_retired(&self) -> bool {
        *self.lease.borrow() == LeaseState::Retired
    }

    fn register_again(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let since = Instant::now();
            match node::enter(&self.connector, self.entrant.returning()).await {
                Ok((_, identity)) => {
                    self.seat.take(NodeTenure { identity, since });
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
    session: &Session,
    identity: Identity,
    owner: OwnerId,
) -> Result<Leased, StoreError> {
    let mut tries = TRIES;
    loop {
        tries -= 1;
        session.begin("BEGIN").await?;
        let leased = try_leasing(session, identity, owner).await;
        let end = if leased.is_ok() { "COMMIT" } else { "ROLLBACK" };
        session.end(end).await?;
        match leased {
            // Two nodes that retire others at the same time can conflict.
            Err(PgError::Collided(_)) if 0 < tries => {}
            leased => return Ok(leased?),
        }
    }
}

async fn try_leasing(
    session: &Session,
    identity: Identity,
    owner: OwnerId,
) -> Result<Leased, PgError> {
    if session.execute(FENCE, &[&identity.id, &identity.epoch]).await? != 1 {
        return Err(PgError::Refused(StoreError::Fenced));
    }
    let known = "SELECT 1 FROM owner WHERE id = $1";
    if !is_duty(owner) && session.row(known, &[&owner.0]).await?.is_none() {
        return Ok(Leased::Nobody);
    }
    let take = "INSERT INTO owner_lease (owner, node, epoch) VALUES ($1, $2, $3) \
                ON CONFLICT (owner) DO NOTHING";
    session.execute(take, &[&owner.0, &identity.id, &identity.epoch]).await?;
    // From here on no other node can take the lease.
    let lock = "SELECT node, epoch FROM owner_lease WHERE owner = $1 FOR UPDATE";
    let held = session.one(lock, &[&owner.0]).await?;
    let holder = Identity { id: get(&held, 0)?, epoch: get(&held, 1)? };
    if holder != identity {
        if let Some(elsewhere) = live_elsewhere(session, holder).await? {
            return Ok(elsewhere);
        }
        let take_over = "UPDATE owner_lease SET node = $2, epoch = $3 WHERE owner = $1";
        session.execute(take_over, &[&owner.0, &identity.id, &identity.epoch]).await?;
    }
    Ok(Leased::Here(Box::new(books::of_owner(session, owner).await?)))
}

/// The holder of a lease, if it is live. One whose lease has expired is retired first, which waits
/// for its transactions in progress: the books are read after that.
async fn live_elsewhere(session: &Session, holder: Identity) -> Result<Option<Leased>, PgError> {
    let live = "SELECT address FROM node WHERE id = $1 AND epoch = $2";
    let values = [&holder.id as &(dyn tokio_postgres::types::ToSql + Sync), &holder.epoch];
    let Some(row): Option<Row> = session.row(live, &values).await? else { return Ok(None) };
    if retire(session, holder).await? {
        return Ok(None);
    }
    Ok(Some(Leased::At { address: get(&row, 0)? }))
}

pub(crate) async fn release_owner(
    session: &Session,
    identity: Identity,
    owner: OwnerId,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM owner_lease WHERE owner = $1 AND node = $2 AND epoch = $3";
    session.execute(sql, &[&owner.0, &identity.id, &identity.epoch]).await?;
    Ok(())
}
