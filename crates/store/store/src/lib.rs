//! Durable state behind one trait: SQLite here, Postgres in the crate `store-postgres`.
//!
//! All writes go through [`Store::commit`], in groups that are all or nothing. Reads are traits by
//! subject, in `queries`. The rules are in other crates: the schema only refuses states that must
//! never exist.

use std::path::Path;
use std::pin::Pin;

use moment::Timestamp;

use crate::backup::BackupSummary;
use crate::error::StoreError;
use crate::write::WriteGroup;

pub mod account_id;
pub mod audit;
pub mod backup;
pub mod batch;
pub mod character;
pub mod claim;
pub mod conformance;
pub mod conversation;
pub mod error;
pub mod evidence;
pub mod export;
pub mod file;
pub mod idempotency;
pub mod intercept;
pub mod job;
pub mod journal;
pub mod key;
pub mod leases;
pub mod limit_hit;
pub mod media;
pub mod model_response;
pub mod names;
pub mod owner;
pub mod queries;
pub mod rpc;
pub mod schema;
pub mod session_sums;
pub mod sql;
pub mod sqlite;
pub mod statement;
pub mod sums;
pub mod time_reset;
pub mod usage;
pub mod usage_digest;
pub mod wallet;
pub mod write;

pub use queries::{
    AccessStore, BatchStore, CharacterStore, ClaimStore, EvidenceStore, JobStore, LedgerStore,
    MediaRowStore, ResponseStore, RpcStore, UsageStore,
};

/// The future of a query.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A group in progress: resolves once the group is durable, or will never be. Dropping it does not
/// cancel the group.
pub type CommitFuture = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

pub trait Store:
    AccessStore
    + BatchStore
    + LedgerStore
    + CharacterStore
    + ClaimStore
    + EvidenceStore
    + JobStore
    + MediaRowStore
    + ResponseStore
    + RpcStore
    + UsageStore
{
    /// Hands in a group, without waiting. Groups are written in the order of these calls; the
    /// writer may only start when the future is first polled or dropped.
    fn commit(&self, group: WriteGroup) -> CommitFuture;

    /// The number of groups that wait to be written.
    fn queued_groups(&self) -> usize;

    /// False if writes are known to fail or to wait: the database is unreachable, or another node
    /// may have taken over. Paid work is not begun then.
    fn can_write(&self) -> bool {
        true
    }

    /// Resolves once the database is known to have been reachable a moment ago and to accept
    /// writes; fails within two seconds otherwise. Paid work begins after this.
    fn confirm_reach(&self) -> StoreFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// The reason why this machine's clock disagrees with that of a shared database; None if they
    /// agree, or if there is no shared database.
    fn clock_fault(&self) -> Option<String> {
        None
    }

    /// Copies everything acknowledged so far to a new file, without blocking writers. The copy
    /// records the time `at`.
    fn backup<'a>(&'a self, to: &'a Path, at: Timestamp) -> StoreFuture<'a, BackupSummary>;

    fn setting<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>>;
}
