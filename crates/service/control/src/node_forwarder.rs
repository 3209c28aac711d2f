//! Forwards operations to the home node of an account, which alone can perform them.

use std::future::Future;
use std::pin::Pin;

use ledger::OwnerHome;
use ledger_core::{EntryId, OwnerId};
use serde::{Deserialize, Serialize};
use store::claim::ClaimId;
use store::owner::OwnerKind;

use crate::actor::AuditActor;
use crate::operation::{ControlOperation, OperationError};
use crate::reply::ControlReply;
use crate::service::ControlService;

/// A request from one node to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum NodeOrder {
    Perform {
        by: AuditActor,
        operation: ControlOperation,
    },
    /// A payment confirmed on its chain, for an owner whose home is the receiving node.
    CreditClaim {
        claim: [u8; 20],
    },
}

pub type OperationFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ControlReply, OperationError>> + Send + 'a>>;

/// Sends orders to other nodes.
pub trait NodeForwarder: Send + Sync {
    fn send_order(&self, node: String, order: NodeOrder) -> OperationFuture<'_>;
}

impl ControlService {
    pub async fn perform(
        &self,
        by: &AuditActor,
        operation: ControlOperation,
    ) -> Result<ControlReply, OperationError> {
        if let Some(elsewhere) = self.elsewhere.get()
            && let Some(node) = self.node_for(&operation).await?
        {
            return elsewhere
                .send_order(node, NodeOrder::Perform { by: by.clone(), operation })
                .await;
        }
        self.perform_here(by, operation).await
    }

    /// Performs an order from another node.
    pub async fn carry_out(&self, order: NodeOrder) -> Result<ControlReply, OperationError> {
        match order {
            NodeOrder::Perform { by, operation } => self.perform_here(&by, operation).await,
            NodeOrder::CreditClaim { claim } => {
                let desk = self.payments.get().ok_or_else(|| {
                    OperationError::Failed("this node does not accept payments".to_owned())
                })?;
                desk.recheck(ClaimId(claim)).await.map(|_| ControlReply::Done)
            }
        }
    }

    /// The node that must perform an operation, if it is not this one.
    async fn node_for(
        &self,
        operation: &ControlOperation,
    ) -> Result<Option<String>, OperationError> {
        let Some(owner) = self.owner_of(operation).await? else { return Ok(None) };
        Ok(match self.ledger.home_of(owner).await? {
            OwnerHome::Here => None,
            OwnerHome::At { address } => Some(address),
        })
    }

    /// The owner whose balance an operation reads or changes; `None` if there is none.
    async fn owner_of(
        &self,
        operation: &ControlOperation,
    ) -> Result<Option<OwnerId>, OperationError> {
        match operation {
            ControlOperation::CreditAccount { name, .. }
            | ControlOperation::DebitAccount { name, .. }
            | ControlOperation::ShowAccount { name }
            | ControlOperation::SetTier { name, .. }
            | ControlOperation::LinkWallet { name, .. }
            | ControlOperation::UnlinkWallet { name, .. }
            | ControlOperation::FreezeAccount { name }
            | ControlOperation::UnfreezeAccount { name } => {
                let found = self.store.find_owner(OwnerKind::Account, name).await?;
                Ok(found.map(|owner| owner.id))
            }
            ControlOperation::RefundCharge { charge, .. } => {
                Ok(self.ledger.payer_of(EntryId(*charge)).await?)
            }
            _ => Ok(None),
        }
    }
}
