//! A store that can be made to fail, for testing what callers are told then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use credits::{EntryId, KeyId, OwnerId};
use domain::secret::SecretDigest;
use moment::Timestamp;

use store::claim::{Claim, ClaimId, CreditedSum};
use store::error::StoreError;
use store::evidence::{Evidence, UsageMark};
use store::idempotency::{AnswerKey, Kept};
use store::journal::{Books, Entry};
use store::key::ApiKey;
use store::limit_hit::LimitHit;
use store::owner::{Owner, OwnerKind};
use store::rpc::{SentTransaction, SpentCredits};
use store::statement::Statement;
use store::usage::{
    Days, KeyUsage, ModelUsage, PageRequest, UsageFilter, UsagePage, UsagePlace, UsageRow,
};
use store::write::Group;
use store::{Answer, Commit, Store};

/// Passes everything on to another store, until it is told to fail.
pub struct Flaky {
    inner: Arc<dyn Store>,
    is_failing: AtomicBool,
}

impl Flaky {
    pub fn over(inner: Arc<dyn Store>) -> Flaky {
        Flaky { inner, is_failing: AtomicBool::new(false) }
    }

    pub fn fail(&self) {
        self.is_failing.store(true, Ordering::SeqCst);
    }

    fn pass<'a, T: Send + 'a>(&self, answer: Answer<'a, T>) -> Answer<'a, T> {
        if self.is_failing.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Failed("told to fail".to_owned())) });
        }
        answer
    }
}

impl Store for Flaky {
    fn commit(&self, group: Group) -> Commit {
        self.inner.commit(group)
    }

    fn queued(&self) -> usize {
        self.inner.queued()
    }

    fn load(&self) -> Answer<'_, Books> {
        self.pass(self.inner.load())
    }

    fn owner(&self, id: OwnerId) -> Answer<'_, Option<Owner>> {
        self.pass(self.inner.owner(id))
    }

    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> Answer<'a, Option<Owner>> {
        self.pass(self.inner.find_owner(kind, name))
    }

    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> Answer<'a, Vec<Owner>> {
        self.pass(self.inner.list_owners(kind, after, limit))
    }

    fn find_key(&self, digest: SecretDigest) -> Answer<'_, Option<(ApiKey, Owner)>> {
        self.pass(self.inner.find_key(digest))
    }

    fn key(&self, owner: OwnerId, key: KeyId) -> Answer<'_, Option<ApiKey>> {
        self.pass(self.inner.key(owner, key))
    }

    fn list_keys(&self, owner: OwnerId) -> Answer<'_, Vec<ApiKey>> {
        self.pass(self.inner.list_keys(owner))
    }

    fn limit_hits(&self, owner: OwnerId) -> Answer<'_, Vec<LimitHit>> {
        self.pass(self.inner.limit_hits(owner))
    }

    fn setting<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Vec<u8>>> {
        self.pass(self.inner.setting(name))
    }

    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> Answer<'_, UsagePage> {
        self.pass(self.inner.usage_page(filter, page))
    }

    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsagePlace>,
        limit: usize,
    ) -> Answer<'_, Vec<(UsagePlace, UsageRow)>> {
        self.pass(self.inner.usage_after(filter, after, limit))
    }

    fn usage_by_model(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<ModelUsage>> {
        self.pass(self.inner.usage_by_model(owner, days))
    }

    fn usage_by_key(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<KeyUsage>> {
        self.pass(self.inner.usage_by_key(owner, days))
    }

    fn statement(&self, owner: OwnerId, skip: usize, size: usize) -> Answer<'_, Statement> {
        self.pass(self.inner.statement(owner, skip, size))
    }

    fn kept_answer(&self, key: AnswerKey) -> Answer<'_, Kept> {
        self.pass(self.inner.kept_answer(key))
    }

    fn sent_transactions<'a>(&'a self, hash: &'a str) -> Answer<'a, Vec<SentTransaction>> {
        self.pass(self.inner.sent_transactions(hash))
    }

    fn spent_credits(&self, since: Timestamp) -> Answer<'_, Vec<SpentCredits>> {
        self.pass(self.inner.spent_credits(since))
    }

    fn claim(&self, id: ClaimId) -> Answer<'_, Option<Claim>> {
        self.pass(self.inner.claim(id))
    }

    fn unfinished_claims(&self) -> Answer<'_, Vec<Claim>> {
        self.pass(self.inner.unfinished_claims())
    }

    fn credited_claims(&self) -> Answer<'_, Vec<CreditedSum>> {
        self.pass(self.inner.credited_claims())
    }

    fn journal(&self, after_seq: i64, limit: usize) -> Answer<'_, Vec<Entry>> {
        self.pass(self.inner.journal(after_seq, limit))
    }

    fn transfers(&self, entry: EntryId) -> Answer<'_, Vec<Entry>> {
        self.pass(self.inner.transfers(entry))
    }

    fn is_recorded(&self, entry: EntryId) -> Answer<'_, bool> {
        self.pass(self.inner.is_recorded(entry))
    }

    fn trial_balance(&self) -> Answer<'_, Books> {
        self.pass(self.inner.trial_balance())
    }
    fn evidence(&self) -> Answer<'_, Evidence> {
        self.pass(self.inner.evidence())
    }
    fn usage_marks(&self, after_seq: i64, limit: usize) -> Answer<'_, Vec<UsageMark>> {
        self.pass(self.inner.usage_marks(after_seq, limit))
    }
}
