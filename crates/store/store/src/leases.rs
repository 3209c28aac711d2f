//! Leases that say which node decides about an owner's money, if several nodes share a store.

use ledger_core::OwnerId;
use uuid::Uuid;

use crate::StoreFuture;
use crate::journal::LedgerBooks;

/// A reserved owner: the node that has its lease processes wallet payments.
pub const PAYMENTS: OwnerId = OwnerId(Uuid::nil());

/// A reserved owner: the node that has its lease sets up what all nodes share, one node at a time.
pub const FOUNDING: OwnerId = OwnerId(Uuid::from_u128(1));

/// True for the reserved owners, which stand for a task and not for an account.
pub fn is_duty(owner: OwnerId) -> bool {
    [PAYMENTS, FOUNDING].contains(&owner)
}

/// The node that decides about an owner's money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseHolder {
    /// This node, from now on; with the owner's part of the books: open lots, allowances, holds of
    /// jobs and the spending of its keys.
    Here(Box<LedgerBooks>),
    /// The owner does not exist, so there is nothing to decide: a wallet that never paid.
    Nobody,
    /// Another live node, at this address.
    At { address: String },
}

pub trait OwnerLeases: Send + Sync {
    /// Takes an owner's lease, if it is free or its holder is dead, and reads the owner's part of
    /// the books once no other node can change it. Also succeeds if this node already has the
    /// lease.
    fn lease_owner(&self, owner: OwnerId) -> StoreFuture<'_, LeaseHolder>;

    /// Asks the node that has an owner's lease to release it.
    fn recall_owner(&self, owner: OwnerId) -> StoreFuture<'_, ()>;

    /// An owner's part of the books as of a moment ago, whichever node has its lease.
    fn owner_books(&self, owner: OwnerId) -> StoreFuture<'_, LedgerBooks>;

    /// Releases a lease. Everything that was handed in for the owner must be written.
    fn release_owner(&self, owner: OwnerId) -> StoreFuture<'_, ()>;

    /// True if this node was declared dead: other nodes may have all its leases, and nothing it
    /// hands in is written until it has registered again.
    fn is_retired(&self) -> bool;

    /// Registers this node again after it was declared dead. It then has no leases. Decisions made
    /// before must not be handed in afterwards: the caller has dropped them.
    fn register_again(&self) -> StoreFuture<'_, ()>;
}
