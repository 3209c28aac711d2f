//! Requests between nodes: forwards operations and credits to the node that holds the account.

use std::sync::Arc;

use axum::routing::post;
use axum::{Json, Router};
use control::node_forwarder::{NodeForwarder, NodeOrder, OperationFuture};
use control::operation::OperationError;
use control::reply::ControlReply;
use control::service::ControlService;
use control::socket::SocketReply;
use http_frame::nodes::{ForwardError, NodeClients};
use payments::CreditFuture;
use store::claim::ClaimId;

const PATH: &str = "/node/orders";

/// Sends orders to other nodes.
pub(crate) struct NodeOperationSender(pub(crate) Arc<NodeClients>);

impl NodeOperationSender {
    async fn send(&self, node: String, order: NodeOrder) -> Result<ControlReply, OperationError> {
        let failed = |cause: String| {
            OperationError::Failed(format!("the node at {node} cannot be asked: {cause}"))
        };
        let lost = |cause: String| {
            OperationError::Unknown(format!("the answer of the node at {node} was lost: {cause}"))
        };
        let order = serde_json::to_vec(&order).map_err(|error| failed(error.to_string()))?;
        let answer =
            self.0.send_order(&node, PATH, order).await.map_err(|unsent| match unsent {
                ForwardError::Unreached(cause) => failed(cause),
                ForwardError::Lost(cause) => lost(cause),
            })?;
        match serde_json::from_slice(&answer).map_err(|error| lost(error.to_string()))? {
            SocketReply::Done(reply) => Ok(*reply),
            SocketReply::Error(error) => Err(error),
        }
    }
}

impl NodeForwarder for NodeOperationSender {
    fn send_order(&self, node: String, order: NodeOrder) -> OperationFuture<'_> {
        Box::pin(self.send(node, order))
    }
}

impl payments::RemoteCreditor for NodeOperationSender {
    fn credit_claim(&self, node: String, claim: ClaimId) -> CreditFuture<'_> {
        Box::pin(async move {
            let order = NodeOrder::CreditClaim { claim: claim.0 };
            self.send(node, order).await.map(drop).map_err(|error| error.to_string())
        })
    }
}

/// Returns the routes that receive orders of other nodes.
pub(super) fn build_order_routes(service: Arc<ControlService>) -> Router {
    let carry_out = move |Json(order): Json<NodeOrder>| {
        let service = Arc::clone(&service);
        async move { Json(SocketReply::from(service.carry_out(order).await)) }
    };
    Router::new().route(PATH, post(carry_out))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use control::actor::AuditActor;
    use control::operation::ControlOperation;
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    use super::*;

    async fn order(address: SocketAddr) -> OperationError {
        let nodes = NodeClients::new("secret").unwrap();
        let operation = ControlOperation::ShowAccount { name: "default".to_owned() };
        let order = NodeOrder::Perform { by: AuditActor::of_service(), operation };
        let sent =
            NodeOperationSender(Arc::new(nodes)).send(format!("http://{address}"), order).await;
        sent.expect_err("no node answers")
    }

    #[tokio::test]
    async fn a_lost_answer_is_told_apart_from_a_node_that_was_not_reached() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let swallow = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 16];
            stream.read_exact(&mut request).await.unwrap();
        };
        let (error, ()) = tokio::join!(order(address), swallow);
        assert!(matches!(error, OperationError::Unknown(_)), "{error:?}");
        drop(listener);
        let error = order(address).await;
        assert!(matches!(error, OperationError::Failed(_)), "{error:?}");
    }
}
