//! A wrapper around a store, for tests of store failures.
//!
//! All methods are forwarded here once, so that a new query is added to one wrapper only, and not
//! to one per kind of failure.

use std::path::Path;
use std::sync::Arc;

use credits::{EntryId, KeyId, OwnerId};
use domain::secret::SecretDigest;
use moment::Timestamp;
use money::{Currency, Nano};
use uuid::Uuid;

use crate::audit::AuditRow;
use crate::backup::BackedUp;
use crate::character::{
    CharacterContent, CharacterLine, CharacterPicture, CharacterQuery, ReviewPage,
};
use crate::claim::{Claim, ClaimCursor, ClaimId, ClaimSpan, ClaimState, CreditedSum};
use crate::evidence::{Evidence, UsageMark};
use crate::idempotency::{AnswerKey, Kept};
use crate::job::{JobCount, JobCursor, JobFilter, JobId, QueuedJob};
use crate::journal::{Books, Entry};
use crate::key::ApiKey;
use crate::limit_hit::LimitHit;
use crate::media::{Media, MediaId};
use crate::owner::{Owner, OwnerKind};
use crate::rpc::{SentTransaction, SpentCredits};
use crate::statement::Statement;
use crate::usage::{
    Days, FoundRequests, KeyUsage, ModelUsage, PageRequest, RequestSearch, UsageCursor,
    UsageFilter, UsagePage, UsageRow,
};
use crate::wallet::WalletLink;
use crate::write::Group;
use crate::{
    AccessStore, BookStore, CharacterStore, ClaimStore, Commit, EvidenceStore, JobStore,
    MediaRowStore, RpcStore, Store, StoreFuture, UsageStore,
};

/// Intercepts the calls of a store. By default everything is forwarded.
pub trait Intercept: Send + Sync {
    fn commit(&self, inner: &Arc<dyn Store>, group: Group) -> Commit {
        inner.commit(group)
    }

    fn answer<'a, T: Send + 'a>(&self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        answer
    }
}

/// A store whose groups and answers go through an [`Intercept`].
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

    fn can_write(&self) -> bool {
        self.inner.can_write()
    }

    fn confirm_reach(&self) -> StoreFuture<'_, ()> {
        self.intercept.answer(self.inner.confirm_reach())
    }

    fn clock_fault(&self) -> Option<String> {
        self.inner.clock_fault()
    }

    fn backup<'a>(&'a self, to: &'a Path, at: Timestamp) -> StoreFuture<'a, BackedUp> {
        self.intercept.answer(self.inner.backup(to, at))
    }

    fn setting<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        self.intercept.answer(self.inner.setting(name))
    }
}

impl<I: Intercept> BookStore for Intercepted<I> {
    fn load(&self) -> StoreFuture<'_, Books> {
        self.intercept.answer(self.inner.load())
    }

    fn statement(&self, owner: OwnerId, skip: usize, size: usize) -> StoreFuture<'_, Statement> {
        self.intercept.answer(self.inner.statement(owner, skip, size))
    }

    fn journal(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<Entry>> {
        self.intercept.answer(self.inner.journal(after_seq, limit))
    }

    fn transfers(&self, entry: EntryId) -> StoreFuture<'_, Vec<Entry>> {
        self.intercept.answer(self.inner.transfers(entry))
    }

    fn is_recorded(&self, entry: EntryId) -> StoreFuture<'_, bool> {
        self.intercept.answer(self.inner.is_recorded(entry))
    }

    fn given_credit(&self, owner: OwnerId, currency: Currency) -> StoreFuture<'_, Nano> {
        self.intercept.answer(self.inner.given_credit(owner, currency))
    }

    fn changed_books(&self, after_seq: i64) -> StoreFuture<'_, Books> {
        self.intercept.answer(self.inner.changed_books(after_seq))
    }

    fn trial_balance(&self) -> StoreFuture<'_, Books> {
        self.intercept.answer(self.inner.trial_balance())
    }
}

impl<I: Intercept> AccessStore for Intercepted<I> {
    fn owner(&self, id: OwnerId) -> StoreFuture<'_, Option<Owner>> {
        self.intercept.answer(self.inner.owner(id))
    }

    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> StoreFuture<'a, Option<Owner>> {
        self.intercept.answer(self.inner.find_owner(kind, name))
    }

    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Owner>> {
        self.intercept.answer(self.inner.list_owners(kind, after, limit))
    }

    fn wallet_links<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<WalletLink>> {
        self.intercept.answer(self.inner.wallet_links(kind, after, limit))
    }

    fn find_key(&self, digest: SecretDigest) -> StoreFuture<'_, Option<(ApiKey, Owner)>> {
        self.intercept.answer(self.inner.find_key(digest))
    }

    fn key(&self, owner: OwnerId, key: KeyId) -> StoreFuture<'_, Option<ApiKey>> {
        self.intercept.answer(self.inner.key(owner, key))
    }

    fn list_keys(&self, owner: OwnerId) -> StoreFuture<'_, Vec<ApiKey>> {
        self.intercept.answer(self.inner.list_keys(owner))
    }

    fn limit_hits(&self, owner: OwnerId) -> StoreFuture<'_, Vec<LimitHit>> {
        self.intercept.answer(self.inner.limit_hits(owner))
    }
}

impl<I: Intercept> UsageStore for Intercepted<I> {
    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> StoreFuture<'_, UsagePage> {
        self.intercept.answer(self.inner.usage_page(filter, page))
    }

    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsageCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(UsageCursor, UsageRow)>> {
        self.intercept.answer(self.inner.usage_after(filter, after, limit))
    }

    fn search_requests(&self, search: RequestSearch) -> StoreFuture<'_, FoundRequests> {
        self.intercept.answer(self.inner.search_requests(search))
    }

    fn usage_by_model(&self, owner: OwnerId, days: Days) -> StoreFuture<'_, Vec<ModelUsage>> {
        self.intercept.answer(self.inner.usage_by_model(owner, days))
    }

    fn usage_by_key(&self, owner: OwnerId, days: Days) -> StoreFuture<'_, Vec<KeyUsage>> {
        self.intercept.answer(self.inner.usage_by_key(owner, days))
    }
}

impl<I: Intercept> RpcStore for Intercepted<I> {
    fn kept_answer(&self, key: AnswerKey) -> StoreFuture<'_, Kept> {
        self.intercept.answer(self.inner.kept_answer(key))
    }

    fn sent_transactions<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Vec<SentTransaction>> {
        self.intercept.answer(self.inner.sent_transactions(hash))
    }

    fn spent_credits(&self, since: Timestamp) -> StoreFuture<'_, Vec<SpentCredits>> {
        self.intercept.answer(self.inner.spent_credits(since))
    }
}

impl<I: Intercept> ClaimStore for Intercepted<I> {
    fn claim(&self, id: ClaimId) -> StoreFuture<'_, Option<Claim>> {
        self.intercept.answer(self.inner.claim(id))
    }

    fn unfinished_claims(&self) -> StoreFuture<'_, Vec<Claim>> {
        self.intercept.answer(self.inner.unfinished_claims())
    }

    fn claims_changed(
        &self,
        span: ClaimSpan,
        beyond: Option<ClaimCursor>,
    ) -> StoreFuture<'_, Vec<Claim>> {
        self.intercept.answer(self.inner.claims_changed(span, beyond))
    }

    fn list_claims(&self, state: Option<ClaimState>, limit: usize) -> StoreFuture<'_, Vec<Claim>> {
        self.intercept.answer(self.inner.list_claims(state, limit))
    }

    fn received_claims(&self) -> StoreFuture<'_, Vec<Claim>> {
        self.intercept.answer(self.inner.received_claims())
    }

    fn missing_claims(&self) -> StoreFuture<'_, Vec<Claim>> {
        self.intercept.answer(self.inner.missing_claims())
    }

    fn credited_claims(&self) -> StoreFuture<'_, Vec<CreditedSum>> {
        self.intercept.answer(self.inner.credited_claims())
    }
}

impl<I: Intercept> EvidenceStore for Intercepted<I> {
    fn evidence(&self) -> StoreFuture<'_, Evidence> {
        self.intercept.answer(self.inner.evidence())
    }

    fn audit_after(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<AuditRow>> {
        self.intercept.answer(self.inner.audit_after(after_seq, limit))
    }

    fn usage_marks(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<UsageMark>> {
        self.intercept.answer(self.inner.usage_marks(after_seq, limit))
    }
}

impl<I: Intercept> JobStore for Intercepted<I> {
    fn job(&self, id: JobId) -> StoreFuture<'_, Option<QueuedJob>> {
        self.intercept.answer(self.inner.job(id))
    }

    fn due_jobs(
        &self,
        now: Timestamp,
        after: Option<JobCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.intercept.answer(self.inner.due_jobs(now, after, limit))
    }

    fn jobs(&self, filter: JobFilter) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.intercept.answer(self.inner.jobs(filter))
    }

    fn open_jobs(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.intercept.answer(self.inner.open_jobs(owner))
    }

    fn job_counts(&self) -> StoreFuture<'_, Vec<JobCount>> {
        self.intercept.answer(self.inner.job_counts())
    }

    fn job_timings<'a>(&'a self, model: &'a str) -> StoreFuture<'a, Vec<u64>> {
        self.intercept.answer(self.inner.job_timings(model))
    }
}

impl<I: Intercept> MediaRowStore for Intercepted<I> {
    fn media(&self, id: MediaId) -> StoreFuture<'_, Option<Media>> {
        self.intercept.answer(self.inner.media(id))
    }

    fn media_to_delete(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, Vec<Media>> {
        self.intercept.answer(self.inner.media_to_delete(now, limit))
    }

    fn known_media(&self, objects: Vec<MediaId>) -> StoreFuture<'_, Vec<MediaId>> {
        self.intercept.answer(self.inner.known_media(objects))
    }
}

impl<I: Intercept> CharacterStore for Intercepted<I> {
    fn characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<CharacterLine>> {
        self.intercept.answer(self.inner.characters(query, asker))
    }

    fn character<'a>(
        &'a self,
        slug_or_id: &'a str,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'a, Option<CharacterLine>> {
        self.intercept.answer(self.inner.character(slug_or_id, asker))
    }

    fn character_content(&self, id: Uuid) -> StoreFuture<'_, Option<CharacterContent>> {
        self.intercept.answer(self.inner.character_content(id))
    }

    fn character_picture<'a>(
        &'a self,
        slug_or_id: &'a str,
    ) -> StoreFuture<'a, Option<CharacterPicture>> {
        self.intercept.answer(self.inner.character_picture(slug_or_id))
    }

    fn reviews(&self, character: Uuid, skip: u64, size: usize) -> StoreFuture<'_, ReviewPage> {
        self.intercept.answer(self.inner.reviews(character, skip, size))
    }
}
