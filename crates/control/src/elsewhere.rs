//! Forwards operations to the home node of an account, which alone can perform them.

use std::future::Future;
use std::pin::Pin;

use credits::{EntryId, OwnerId};
use ledger::OwnerHome;
use serde::{Deserialize, Serialize};
use store::claim::ClaimId;
use store::owner::OwnerKind;

use crate::actor::Actor;
use crate::operation::{Operation, OperationError};
use crate::reply::Reply;
use crate::service::Service;

/// A request from one node to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    Perform {
        by: Actor,
        operation: Operation,
    },
    /// A payment confirmed on its chain, for an owner whose home is the receiving node.
    CreditClaim {
        claim: [u8; 20],
    },
}

pub type Done<'a> = Pin<Box<dyn Future<Output = Result<Reply, OperationError>> + Send + 'a>>;

/// Sends orders to other nodes.
pub trait Elsewhere: Send + Sync {
    fn order(&self, node: String, order: Order) -> Done<'_>;
}

impl Service {
    pub async fn perform(&self, by: &Actor, operation: Operation) -> Result<Reply, OperationError> {
        if let Some(elsewhere) = self.elsewhere.get()
            && let Some(node) = self.node_for(&operation).await?
        {
            return elsewhere.order(node, Order::Perform { by: by.clone(), operation }).await;
        }
        self.perform_here(by, operation).await
    }

    /// Performs an order from another node.
    pub async fn carry_out(&self, order: Order) -> Result<Reply, OperationError> {
        match order {
            Order::Perform { by, operation } => self.perform_here(&by, operation).await,
            Order::CreditClaim { claim } => {
                let desk = self.payments.get().ok_or_else(|| {
                    OperationError::Failed("no payments are taken at this node".to_owned())
                })?;
                desk.ask_again(ClaimId(claim)).await.map(|_| Reply::Done)
            }
        }
    }

    /// The node that must perform an operation, if it is not this one.
    async fn node_for(&self, operation: &Operation) -> Result<Option<String>, OperationError> {
        let Some(owner) = self.owner_of(operation).await? else { return Ok(None) };
        Ok(match self.ledger.home_of(owner).await? {
            OwnerHome::Here => None,
            OwnerHome::At { address } => Some(address),
        })
    }

    /// The owner whose balance an operation reads or changes; `None` if there is none.
    async fn owner_of(&self, operation: &Operation) -> Result<Option<OwnerId>, OperationError> {
        match operation {
            Operation::CreditAccount { name, .. }
            | Operation::DebitAccount { name, .. }
            | Operation::ShowAccount { name }
            | Operation::SetTier { name, .. }
            | Operation::LinkWallet { name, .. }
            | Operation::UnlinkWallet { name, .. }
            | Operation::FreezeAccount { name }
            | Operation::UnfreezeAccount { name } => {
                let found = self.store.find_owner(OwnerKind::Account, name).await?;
                Ok(found.map(|owner| owner.id))
            }
            Operation::RefundCharge { charge, .. } => {
                Ok(self.ledger.payer_of(EntryId(*charge)).await?)
            }
            _ => Ok(None),
        }
    }
}
