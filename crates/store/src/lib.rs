//! Durable state behind one small trait: SQLite here, Postgres later.
//!
//! Everything is written by [`Store::commit`], in groups that are all or nothing; everything else
//! is a question. The rules are elsewhere: the schema only refuses what must never be.

use std::pin::Pin;

use credits::{EntryId, KeyId, OwnerId};
use domain::secret::SecretDigest;
use moment::Timestamp;

use crate::claim::{Claim, ClaimId, CreditedSum};
use crate::error::StoreError;
use crate::evidence::{Evidence, UsageMark};
use crate::idempotency::{AnswerKey, Kept};
use crate::journal::{Books, Entry};
use crate::key::ApiKey;
use crate::limit_hit::LimitHit;
use crate::owner::{Owner, OwnerKind};
use crate::rpc::{SentTransaction, SpentCredits};
use crate::statement::Statement;
use crate::usage::{
    Days, KeyUsage, ModelUsage, PageRequest, UsageFilter, UsagePage, UsagePlace, UsageRow,
};
use crate::write::Group;

pub mod claim;
pub mod conformance;
pub mod error;
pub mod evidence;
pub mod idempotency;
pub mod intercept;
pub mod journal;
pub mod key;
pub mod limit_hit;
pub mod owner;
pub mod rpc;
pub mod sqlite;
pub mod statement;
pub mod usage;
pub mod wallet;
pub mod write;

/// An answer under way.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A group under way: resolves once the group is durable, or will never be. Dropping it does not
/// call the group back.
pub type Commit = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

pub trait Store: Send + Sync {
    /// Hands a group in, without waiting. Groups are written in the order of these calls, at once
    /// when the answer is polled or dropped.
    fn commit(&self, group: Group) -> Commit;

    /// How many groups wait to be written.
    fn queued(&self) -> usize;

    /// Everything that the ledger needs to start, from balances rather than from history: closed
    /// lots are left out.
    fn load(&self) -> Answer<'_, Books>;

    fn owner(&self, id: OwnerId) -> Answer<'_, Option<Owner>>;

    /// A wallet that is linked to an account finds the account.
    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> Answer<'a, Option<Owner>>;

    /// Owners of a kind by name, after the given name.
    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> Answer<'a, Vec<Owner>>;

    /// The key behind a secret and its owner, whether or not the key still opens anything.
    fn find_key(&self, digest: SecretDigest) -> Answer<'_, Option<(ApiKey, Owner)>>;

    fn key(&self, owner: OwnerId, key: KeyId) -> Answer<'_, Option<ApiKey>>;

    /// The owner's keys that were not revoked, newest first.
    fn list_keys(&self, owner: OwnerId) -> Answer<'_, Vec<ApiKey>>;

    /// The last refusals by a rate limit, newest first.
    fn limit_hits(&self, owner: OwnerId) -> Answer<'_, Vec<LimitHit>>;

    fn setting<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Vec<u8>>>;

    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> Answer<'_, UsagePage>;

    /// The rows after a place, oldest first, each with its own place.
    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsagePlace>,
        limit: usize,
    ) -> Answer<'_, Vec<(UsagePlace, UsageRow)>>;

    fn usage_by_model(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<ModelUsage>>;

    fn usage_by_key(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<KeyUsage>>;

    /// The owner's money, newest first, after the first `skip` lines.
    fn statement(&self, owner: OwnerId, skip: usize, size: usize) -> Answer<'_, Statement>;

    fn kept_answer(&self, key: AnswerKey) -> Answer<'_, Kept>;

    /// Who sent a transaction, oldest first; the hash as it is written, `0x` first.
    fn sent_transactions<'a>(&'a self, hash: &'a str) -> Answer<'a, Vec<SentTransaction>>;

    /// The credits of the JSON-RPC proxy, by owner and quarter of an hour, of the quarters that began
    /// at a moment or later; known for two days.
    fn spent_credits(&self, since: Timestamp) -> Answer<'_, Vec<SpentCredits>>;

    fn claim(&self, id: ClaimId) -> Answer<'_, Option<Claim>>;

    /// Claims that are neither credited nor failed, the oldest first.
    fn unfinished_claims(&self) -> Answer<'_, Vec<Claim>>;

    /// Claims that were credited after one moment and up to another, the oldest first.
    fn claims_credited_between(&self, after: Timestamp, until: Timestamp)
    -> Answer<'_, Vec<Claim>>;

    /// Credited claims that their chain does not show any more, the oldest first.
    fn missing_claims(&self) -> Answer<'_, Vec<Claim>>;

    /// What was credited for claims, by network.
    fn credited_claims(&self) -> Answer<'_, Vec<CreditedSum>>;

    /// The journal after a sequence number, oldest first: for export and for verification.
    fn journal(&self, after_seq: i64, limit: usize) -> Answer<'_, Vec<Entry>>;

    /// The transfers of one command, empty if it never happened.
    fn transfers(&self, entry: EntryId) -> Answer<'_, Vec<Entry>>;

    /// Whether a command is in the journal, with or without transfers.
    fn is_recorded(&self, entry: EntryId) -> Answer<'_, bool>;

    /// Every sum that the journal was folded into, with closed lots: for verification.
    fn trial_balance(&self) -> Answer<'_, Books>;

    /// What the journal is held against. It reads all of the database, and takes its time.
    fn evidence(&self) -> Answer<'_, Evidence>;

    /// The rows of usage after a sequence number, of all owners, as they were added.
    fn usage_marks(&self, after_seq: i64, limit: usize) -> Answer<'_, Vec<UsageMark>>;
}
