//! Requests between nodes: operations and credits are sent to their owner's home.

use std::sync::Arc;

use api::home::Nodes;
use axum::routing::post;
use axum::{Json, Router};
use control::elsewhere::{Done, Elsewhere, Order};
use control::operation::OperationError;
use control::reply::Reply;
use control::service::Service;
use control::socket::SocketReply;
use payments::Credited;
use store::claim::ClaimId;

const PATH: &str = "/node/orders";

/// Sends orders to other nodes.
pub(crate) struct Sender(pub(crate) Arc<Nodes>);

impl Sender {
    async fn send(&self, node: String, order: Order) -> Result<Reply, OperationError> {
        let failed = |cause: String| {
            OperationError::Failed(format!("the node at {node} did not do it: {cause}"))
        };
        let order = serde_json::to_vec(&order).map_err(|error| failed(error.to_string()))?;
        let answer = self.0.send_order(&node, PATH, order).await.map_err(failed)?;
        match serde_json::from_slice(&answer).map_err(|error| failed(error.to_string()))? {
            SocketReply::Done(reply) => Ok(*reply),
            SocketReply::Error(error) => Err(error),
        }
    }
}

impl Elsewhere for Sender {
    fn order(&self, node: String, order: Order) -> Done<'_> {
        Box::pin(self.send(node, order))
    }
}

impl payments::Elsewhere for Sender {
    fn credit(&self, node: String, claim: ClaimId) -> Credited<'_> {
        Box::pin(async move {
            let order = Order::CreditClaim { claim: claim.0 };
            self.send(node, order).await.map(drop).map_err(|error| error.to_string())
        })
    }
}

/// Where other nodes' orders arrive.
pub(super) fn routes(service: Arc<Service>) -> Router {
    let carry_out = move |Json(order): Json<Order>| {
        let service = Arc::clone(&service);
        async move { Json(SocketReply::from(service.carry_out(order).await)) }
    };
    Router::new().route(PATH, post(carry_out))
}
