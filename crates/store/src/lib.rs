//! Durable state behind one trait: SQLite here, Postgres in the crate `store-postgres`.
//!
//! Everything is written by [`Store::commit`], in groups that are all or nothing. Reads are traits
//! by subject, in `queries`. The rules are in other crates: the schema only refuses states that
//! must never exist.

use std::path::Path;
use std::pin::Pin;

use moment::Timestamp;

use crate::backup::BackedUp;
use crate::error::StoreError;
use crate::write::Group;

pub mod account_id;
pub mod audit;
pub mod backup;
pub mod character;
pub mod claim;
pub mod conformance;
pub mod error;
pub mod evidence;
pub mod export;
pub mod idempotency;
pub mod intercept;
pub mod job;
pub mod journal;
pub mod key;
pub mod leases;
pub mod limit_hit;
pub mod media;
pub mod names;
pub mod owner;
pub mod queries;
pub mod rpc;
pub mod schema;
pub mod sqlite;
pub mod statement;
pub mod sums;
pub mod time_mend;
pub mod usage;
pub mod usage_digest;
pub mod wallet;
pub mod write;

pub use queries::{
    AccessStore, BookStore, CharacterStore, ClaimStore, EvidenceStore, JobStore, MediaRowStore,
    RpcStore, UsageStore,
};

/// The future of a query.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A group under way: resolves once the group is durable, or will never be. Dropping it does not
/// call the group back.
pub type Commit = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

pub trait Store:
    AccessStore
    + BookStore
    + CharacterStore
    + ClaimStore
    + EvidenceStore
    + JobStore
    + MediaRowStore
    + RpcStore
    + UsageStore
{
    /// Hands a group in, without waiting. Groups are written in the order of these calls, at once
    /// when the answer is polled or dropped.
    fn commit(&self, group: Group) -> Commit;

    /// How many groups wait to be written.
    fn queued(&self) -> usize;

    /// False where it is known that what is handed in now will fail or wait: the database is out of
    /// reach, or another node may have taken this one's place. Work that must be paid for is then
    /// not begun.
    fn can_write(&self) -> bool {
        true
    }

    /// Ends once it is sure that the database was there a moment ago and takes what is handed in; it
    /// fails within two seconds if it does not. Work that must be paid for begins after that.
    fn confirm_reach(&self) -> StoreFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Why this machine's clock cannot be used beside that of a shared database; none if it can, or
    /// if there is none to compare it with.
    fn clock_fault(&self) -> Option<String> {
        None
    }

    /// Copies everything that was acknowledged so far to a file that is not there yet, while others
    /// go on. The copy knows the moment.
    fn backup<'a>(&'a self, to: &'a Path, at: Timestamp) -> StoreFuture<'a, BackedUp>;

    fn setting<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>>;
}
