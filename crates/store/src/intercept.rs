//! A store with somebody in front of it, for tests of what happens when one fails.
//!
//! The trait is passed on here once, so that a new question has one more place to be written in and
//! not one for each way of failing.

use std::sync::Arc;

use credits::{EntryId, KeyId, OwnerId};
use domain::secret::SecretDigest;
use moment::Timestamp;

use crate::claim::{Claim, ClaimId, CreditedSum};
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
use crate::{Answer, Commit, Store};

/// Who stands in front of a store. By default everything passes.
pub trait Intercept: Send + Sync {
    fn commit(&self, inner: &Arc<dyn Store>, group: Group) -> Commit {
        inner.commit(group)
    }

    fn answer<'a, T: Send + 'a>(&self, answer: Answer<'a, T>) -> Answer<'a, T> {
        answer
    }
}

/// A store whose groups and answers pass through an [`Intercept`].
pub struct Intercepted<I> {
    inner: Arc<dyn Store>,
    intercept: Arc<I>,
}

impl<I: Intercept> Intercepted<I> {
    pub fn new(inner: Arc<dyn Store>, intercept: Arc<I>) -> Intercepted<I> {
        Intercepted { inner, intercept }
    }
}

impl<I: Intercept> Store for Intercepted<I> {
    fn commit(&self, group: Group) -> Commit {
        self.intercept.commit(&self.inner, group)
    }

    fn queued(&self) -> usize {
        self.inner.queued()
    }

    fn load(&self) -> Answer<'_, Books> {
        self.intercept.answer(self.inner.load())
    }

    fn owner(&self, id: OwnerId) -> Answer<'_, Option<Owner>> {
        self.intercept.answer(self.inner.owner(id))
    }

    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> Answer<'a, Option<Owner>> {
        self.intercept.answer(self.inner.find_owner(kind, name))
    }

    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> Answer<'a, Vec<Owner>> {
        self.intercept.answer(self.inner.list_owners(kind, after, limit))
    }

    fn find_key(&self, digest: SecretDigest) -> Answer<'_, Option<(ApiKey, Owner)>> {
        self.intercept.answer(self.inner.find_key(digest))
    }

    fn key(&self, owner: OwnerId, key: KeyId) -> Answer<'_, Option<ApiKey>> {
        self.intercept.answer(self.inner.key(owner, key))
    }

    fn list_keys(&self, owner: OwnerId) -> Answer<'_, Vec<ApiKey>> {
        self.intercept.answer(self.inner.list_keys(owner))
    }

    fn limit_hits(&self, owner: OwnerId) -> Answer<'_, Vec<LimitHit>> {
        self.intercept.answer(self.inner.limit_hits(owner))
    }

    fn setting<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Vec<u8>>> {
        self.intercept.answer(self.inner.setting(name))
    }

    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> Answer<'_, UsagePage> {
        self.intercept.answer(self.inner.usage_page(filter, page))
    }

    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsagePlace>,
        limit: usize,
    ) -> Answer<'_, Vec<(UsagePlace, UsageRow)>> {
        self.intercept.answer(self.inner.usage_after(filter, after, limit))
    }

    fn usage_by_model(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<ModelUsage>> {
        self.intercept.answer(self.inner.usage_by_model(owner, days))
    }

    fn usage_by_key(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<KeyUsage>> {
        self.intercept.answer(self.inner.usage_by_key(owner, days))
    }

    fn statement(&self, owner: OwnerId, skip: usize, size: usize) -> Answer<'_, Statement> {
        self.intercept.answer(self.inner.statement(owner, skip, size))
    }

    fn kept_answer(&self, key: AnswerKey) -> Answer<'_, Kept> {
        self.intercept.answer(self.inner.kept_answer(key))
    }

    fn sent_transactions<'a>(&'a self, hash: &'a str) -> Answer<'a, Vec<SentTransaction>> {
        self.intercept.answer(self.inner.sent_transactions(hash))
    }

    fn spent_credits(&self, since: Timestamp) -> Answer<'_, Vec<SpentCredits>> {
        self.intercept.answer(self.inner.spent_credits(since))
    }

    fn claim(&self, id: ClaimId) -> Answer<'_, Option<Claim>> {
        self.intercept.answer(self.inner.claim(id))
    }

    fn unfinished_claims(&self) -> Answer<'_, Vec<Claim>> {
        self.intercept.answer(self.inner.unfinished_claims())
    }

    fn claims_credited_between(
        &self,
        after: Timestamp,
        until: Timestamp,
    ) -> Answer<'_, Vec<Claim>> {
        self.intercept.answer(self.inner.claims_credited_between(after, until))
    }

    fn missing_claims(&self) -> Answer<'_, Vec<Claim>> {
        self.intercept.answer(self.inner.missing_claims())
    }

    fn credited_claims(&self) -> Answer<'_, Vec<CreditedSum>> {
        self.intercept.answer(self.inner.credited_claims())
    }

    fn journal(&self, after_seq: i64, limit: usize) -> Answer<'_, Vec<Entry>> {
        self.intercept.answer(self.inner.journal(after_seq, limit))
    }

    fn transfers(&self, entry: EntryId) -> Answer<'_, Vec<Entry>> {
        self.intercept.answer(self.inner.transfers(entry))
    }

    fn is_recorded(&self, entry: EntryId) -> Answer<'_, bool> {
        self.intercept.answer(self.inner.is_recorded(entry))
    }

    fn trial_balance(&self) -> Answer<'_, Books> {
        self.intercept.answer(self.inner.trial_balance())
    }

    fn evidence(&self) -> Answer<'_, Evidence> {
        self.intercept.answer(self.inner.evidence())
    }

    fn usage_marks(&self, after_seq: i64, limit: usize) -> Answer<'_, Vec<UsageMark>> {
        self.intercept.answer(self.inner.usage_marks(after_seq, limit))
    }
}
