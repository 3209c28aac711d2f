//! Which node decides about an owner's money, where several nodes share a store.

use credits::OwnerId;
use uuid::Uuid;

use crate::StoreFuture;
use crate::journal::Books;

/// Where payments of wallets are carried out: at the home of an owner that nobody is.
pub const PAYMENTS: OwnerId = OwnerId(Uuid::nil());

/// Who makes ready what all nodes share, one after the other: at the home of another such owner.
pub const FOUNDING: OwnerId = OwnerId(Uuid::from_u128(1));

/// Whether an owner stands for some work, and for nobody.
pub fn is_duty(owner: OwnerId) -> bool {
    [PAYMENTS, FOUNDING].contains(&owner)
}

/// Where an owner's money is decided about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leased {
    /// Here, from now on; with the owner's part of the books: lots that are open, allowances, holds
    /// of jobs and what its keys spent.
    Here(Box<Books>),
    /// There is no such owner, so there is nothing to decide: a wallet that never paid.
    Nobody,
    /// At another node, which is live and is reached there.
    At { address: String },
}

pub trait OwnerLeases: Send + Sync {
    /// Takes an owner's lease, if it is free or its holder is dead, and reads the owner's part of
    /// the books once nobody else can change it. A lease that is held here already is as good.
    fn lease_owner(&self, owner: OwnerId) -> StoreFuture<'_, Leased>;

    /// Asks the node that has an owner's lease to give it back.
    fn recall_owner(&self, owner: OwnerId) -> StoreFuture<'_, ()>;

    /// An owner's part of the books as it was a moment ago, whichever node has its lease.
    fn owner_books(&self, owner: OwnerId) -> StoreFuture<'_, Books>;

    /// Gives a lease back. Everything that was handed in for the owner must be written.
    fn release_owner(&self, owner: OwnerId) -> StoreFuture<'_, ()>;

    /// Whether this node was found dead: others may have all its leases, and nothing that it hands in
    /// is written until it has registered again.
    fn is_retired(&self) -> bool;

    /// Registers this node again after it was found dead. It has no leases then. Nothing that was
    /// decided before may be handed in afterwards: the caller has dropped it.
    fn register_again(&self) -> StoreFuture<'_, ()>;
}
