//! Which node decides about an owner's money.
//!
//! A lease belongs to a node and an epoch of it. Groups need not name the owners that they spend
//! for: every transaction that writes is fenced by its node's epoch, and an owner's lease is given to
//! another node only after that epoch was raised, or given back by its holder.

use credits::OwnerId;
use store::error::StoreError;
use store::leases::{Leased, is_duty};
use tokio_postgres::Row;

use crate::columns::get;
use crate::error::PgError;
use crate::node::{FENCE, Identity, retire};
use crate::queries::books;
use crate::session::Session;

/// How often a lease is tried for when others try at the same time.
const TRIES: u32 = 5;

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
            // Two nodes that retire each other's neighbours can meet.
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
    // From here on nobody else can take it.
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

/// The holder of a lease, if it is live. One whose lease has run out is retired first, which waits
/// for what it has under way: the books are read after that.
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
