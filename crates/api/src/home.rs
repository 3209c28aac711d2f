//! Forwards a request to the home of its caller.
//!
//! In a cluster, one node, the owner's home, decides about an owner's money and counts the owner's
//! requests. Any node checks the credential; then the request is forwarded unchanged, with the
//! authenticated identity in a header. Nodes authenticate each other by a secret that is stored in
//! the database.

pub(crate) mod nodes;
mod proved;
mod resendable_body;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use access::{Holder, Proof, wallets};
use axum::body::Body;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use credits::OwnerId;
use ledger::OwnerHome;
use store::leases::PAYMENTS;
use tokio::time::{Instant, sleep};

pub use self::nodes::{Nodes, Unsent};
use self::proved::{Proved, SentOn};
use self::resendable_body::ResendableBody;
use crate::app::App;
use crate::origin::CallerOrigin;
use crate::refusal::Refusal;
use crate::refusal::key::refuse_key;

/// Interval of the check that a node that has not answered yet is still the owner's home.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Time that a request waits for the lease of a dead node to end: the lease, and a little more.
const UNREACHED_MAX: Duration = Duration::from_secs(20);
const UNREACHED_PAUSE: Duration = Duration::from_millis(100);
/// Times that a request may be forwarded.
const SENT_ON_MAX: u8 = 2;

/// The owner whose home handles a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    OfCaller,
    OfPayments,
}

impl Home {
    /// The owner; None if any node may handle the request.
    fn owner(self, holder: Option<&Holder>) -> Option<OwnerId> {
        match self {
            Home::OfCaller => holder.map(|holder| holder.owner.id),
            Home::OfPayments => Some(PAYMENTS),
        }
    }
}

/// The caller that another node authenticated, looked up again: a key may have been revoked.
pub(crate) async fn proved(app: &App, parts: &Parts) -> Option<Result<Arc<Holder>, Refusal>> {
    let sent_on = parts.extensions.get::<SentOn>()?;
    Some(match sent_on.proved.as_ref()? {
        Proved::Key(digest) => app.keys.open_digest(*digest).await.map_err(refuse_key),
        Proved::Wallet(wallet) => {
            let owner = wallets::owner(app.store.as_ref(), *wallet, app.clock.now()).await;
            let holder = |owner| Arc::new(Holder { proof: Proof::Wallet(*wallet), owner });
            owner.map(holder).map_err(Refusal::unavailable)
        }
    })
}

/// Returns the body if this node handles the request, else the other node's response.
pub(crate) async fn forward_to_home(
    app: &App,
    home: Home,
    (parts, origin): (&Parts, CallerOrigin),
    holder: Option<&Holder>,
    body: Body,
) -> Result<Body, Response> {
    let (Some(nodes), Some(owner)) = (&app.nodes, home.owner(holder)) else { return Ok(body) };
    let (mut resendable, begun) = (ResendableBody::of(body), Instant::now());
    loop {
        let node = match app.ledger.home_of(owner).await {
            Ok(OwnerHome::Here) => {
                return resendable
                    .take_back()
                    .ok_or_else(|| Refusal::answer_lost().into_response());
            }
            Ok(OwnerHome::At { address }) => address,
            Err(error) => return Err(Refusal::unavailable(error).into_response()),
        };
        // Another node's information may be seconds old, so a request is forwarded at most twice,
        // never in circles.
        if parts.extensions.get::<SentOn>().is_some_and(|it| SENT_ON_MAX <= it.times) {
            app.ledger.doubt_home(owner);
            let words = "the account has just moved to another node";
            return Err(Refusal::unavailable(words).into_response());
        }
        let sent = tokio::select! {
            sent = nodes.send(&node, (parts, origin), holder, resendable.attempt()) => sent,
            () = until_moved(app, owner, &node) => Err(Unsent::Lost("it is dead".to_owned())),
        };
        if sent.is_err() {
            app.ledger.doubt_home(owner);
        }
        match sent {
            Ok(response) => return Err(response),
            // The node is stopping or was killed. Nothing was sent, so the request can wait for the
            // owner's next home.
            Err(Unsent::Unreached(_)) if begun.elapsed() < UNREACHED_MAX => {
                sleep(UNREACHED_PAUSE).await;
            }
            Err(Unsent::Unreached(cause)) => {
                tracing::warn!("the node at {node} was not reached: {cause}");
                return Err(Refusal::unavailable(cause).into_response());
            }
            Err(Unsent::Lost(cause)) => {
                tracing::warn!("the answer of the node at {node} was lost: {cause}");
                return Err(Refusal::answer_lost().into_response());
            }
        }
    }
}

/// Completes when a node is no longer the owner's home: it stopped answering and its lease ended.
async fn until_moved(app: &App, owner: OwnerId, node: &str) {
    loop {
        sleep(LOOK_EVERY).await;
        match app.ledger.home_of(owner).await {
            Ok(OwnerHome::At { address }) if address == node => {}
            Ok(_) => return,
            // The store is unavailable: check again later.
            Err(_) => {}
        }
    }
}
