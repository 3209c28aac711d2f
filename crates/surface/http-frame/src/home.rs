//! Forwards a request to the home of its caller.
//!
//! In a cluster, one node, the owner's home, decides about an owner's money and counts the owner's
//! requests. Any node checks the credential; then the request is forwarded unchanged, with the
//! authenticated identity in a header. Nodes authenticate each other by a secret that is stored in
//! the database.

use std::sync::Arc;
use std::time::Duration;

use access::{CallerCredential, CredentialHolder, wallets};
use axum::body::Body;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use ledger::OwnerHome;
use ledger_core::OwnerId;
use store::leases::PAYMENTS;
use tokio::time::{Instant, sleep};

use crate::app::AppState;
use crate::nodes::ForwardError;
use crate::nodes::forwarded_identity::{ForwardedIdentity, ForwardedRequest};
use crate::nodes::resendable_body::ResendableBody;
use crate::origin::CallerOrigin;
use crate::refusal::Refusal;
use crate::refusal::key::refuse_key;

/// Interval of the check that a node that has not answered yet is still the owner's home.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Time that a request waits for the lease of a dead node to end: the lease, and a little more.
const UNREACHED_MAX: Duration = Duration::from_secs(20);
const UNREACHED_PAUSE: Duration = Duration::from_millis(100);
/// Times that a request may be forwarded.
pub(crate) const SENT_ON_MAX: u8 = 2;

/// The owner whose home handles a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HomeOwner {
    OfCaller,
    OfPayments,
}

impl HomeOwner {
    /// The owner; None if any node may handle the request.
    fn owner(self, holder: Option<&CredentialHolder>) -> Option<OwnerId> {
        match self {
            HomeOwner::OfCaller => holder.map(|holder| holder.owner.id),
            HomeOwner::OfPayments => Some(PAYMENTS),
        }
    }
}

/// The caller that another node or another endpoint authenticated, looked up again: a key may have
/// been revoked.
pub(crate) async fn find_forwarded_caller(
    app: &AppState,
    parts: &Parts,
) -> Option<Result<Arc<CredentialHolder>, Refusal>> {
    let sent_on = parts.extensions.get::<ForwardedRequest>()?;
    Some(match sent_on.proved.as_ref()? {
        ForwardedIdentity::Key(digest) => {
            app.keys.authenticate_digest(*digest).await.map_err(refuse_key)
        }
        ForwardedIdentity::Wallet(wallet) => {
            let owner = wallets::resolve_owner(app.store.as_ref(), *wallet, app.clock.now()).await;
            match owner {
                Ok(owner) if owner.frozen.is_some() => Err(Refusal::frozen()),
                Ok(owner) => {
                    let proof = CallerCredential::Wallet(*wallet);
                    Ok(Arc::new(CredentialHolder { proof, owner }))
                }
                Err(error) => Err(Refusal::unavailable(error)),
            }
        }
    })
}

/// Returns the body if this node handles the request, else the other node's response.
pub(crate) async fn forward_to_home(
    app: &AppState,
    home: HomeOwner,
    parts: &Parts,
    origin: CallerOrigin,
    holder: Option<&CredentialHolder>,
    body: Body,
) -> Result<Body, Response> {
    let (Some(nodes), Some(owner)) = (&app.nodes, home.owner(holder)) else { return Ok(body) };
    let (mut resendable, begun) = (ResendableBody::new(body), Instant::now());
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
        if parts.extensions.get::<ForwardedRequest>().is_some_and(|it| SENT_ON_MAX <= it.times) {
            app.ledger.forget_home(owner);
            let words = "the account has just moved to another node";
            return Err(Refusal::unavailable(words).into_response());
        }
        let sent = tokio::select! {
            sent = nodes.send(&node, parts, origin, holder, resendable.attempt()) => sent,
            () = wait_until_moved(app, owner, &node) => Err(ForwardError::Lost("it is dead".to_owned())),
        };
        if sent.is_err() {
            app.ledger.forget_home(owner);
        }
        match sent {
            Ok(response) => return Err(response),
            // The node is stopping or was killed. Nothing was sent, so the request can wait for the
            // owner's next home.
            Err(ForwardError::Unreached(_)) if begun.elapsed() < UNREACHED_MAX => {
                sleep(UNREACHED_PAUSE).await;
            }
            Err(ForwardError::Unreached(cause)) => {
                tracing::warn!("the node at {node} was not reached: {cause}");
                return Err(Refusal::unavailable(cause).into_response());
            }
            Err(ForwardError::Lost(cause)) => {
                tracing::warn!("the answer of the node at {node} was lost: {cause}");
                return Err(Refusal::answer_lost().into_response());
            }
        }
    }
}

/// Completes when a node is no longer the owner's home: it stopped answering and its lease ended.
async fn wait_until_moved(app: &AppState, owner: OwnerId, node: &str) {
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
