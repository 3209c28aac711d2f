//! A wrapper around a store, for tests of store failures.
//!
//! All methods are forwarded here once, so that a new query is added to one wrapper only, and not
//! to one per kind of failure.

use std::path::Path;
use std::sync::Arc;

use domain::secret::SecretDigest;
use ledger_core::{EntryId, KeyId, OwnerId};
use moment::Timestamp;
use money::{BalanceCurrency, Nano};
use uuid::Uuid;

use crate::audit::AuditRow;
use crate::backup::BackupSummary;
use crate::batch::{BatchId, BatchLineRange, BatchLineSize, SealedResult, StoredBatch};
use crate::character::{
    CharacterContent, CharacterPicture, CharacterQuery, ListedCharacter, ReviewPage,
};
use crate::claim::{ClaimCursor, ClaimId, ClaimSpan, ClaimState, CreditedSum, PaymentClaim};
use crate::conversation::{ConversationId, ConversationItem, ConversationRecord, ItemQuery};
use crate::evidence::{UsageMark, VerificationEvidence};
use crate::file::{FileFilter, FileId, FileTotals, StoredFile};
use crate::idempotency::{StoredResponseKey, StoredResponseLookup};
use crate::job::{JobCount, JobCursor, JobFilter, JobId, QueuedJob};
use crate::journal::{JournalEntry, LedgerBooks};
use crate::key::ApiKey;
use crate::limit_hit::LimitHit;
use crate::media::{MediaId, MediaRow};
use crate::model_response::{
    ResponseFilter, ResponseId, ResponseRecord, SealedEvents, SealedResponse, StoredTotals,
};
use crate::owner::{Owner, OwnerKind};
use crate::rpc::{SentTransaction, SpentCredits};
use crate::statement::AccountStatement;
use crate::usage::{
    DayRange, FoundRequests, KeyUsage, ModelUsage, PageRequest, RequestSearch, SessionUsage,
    UsageCursor, UsageFilter, UsagePage, UsageRow,
};
use crate::wallet::WalletLink;
use crate::write::WriteGroup;
use crate::{
    AccessStore, BatchStore, CharacterStore, ClaimStore, CommitFuture, EvidenceStore, JobStore,
    LedgerStore, MediaRowStore, ResponseStore, RpcStore, Store, StoreFuture, UsageStore,
};

/// Intercepts the calls of a store. By default everything is forwarded.
pub trait StoreInterceptor: Send + Sync {
    fn commit(&self, inner: &Arc<dyn Store>, group: WriteGroup) -> CommitFuture {
        inner.commit(group)
    }

    fn intercept_answer<'a, T: Send + 'a>(&self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        answer
    }
}

/// A store whose groups and answers go through an [`StoreInterceptor`].
pub struct InterceptedStore<I> {
    inner: Arc<dyn Store>,
    intercept: Arc<I>,
}

impl<I: StoreInterceptor> InterceptedStore<I> {
    pub fn new(inner: Arc<dyn Store>, intercept: Arc<I>) -> InterceptedStore<I> {
        InterceptedStore { inner, intercept }
    }
}

impl<I: StoreInterceptor> Store for InterceptedStore<I> {
    fn commit(&self, group: WriteGroup) -> CommitFuture {
        self.intercept.commit(&self.inner, group)
    }

    fn queued_groups(&self) -> usize {
        self.inner.queued_groups()
    }

    fn can_write(&self) -> bool {
        self.inner.can_write()
    }

    fn confirm_reach(&self) -> StoreFuture<'_, ()> {
        self.intercept.intercept_answer(self.inner.confirm_reach())
    }

    fn clock_fault(&self) -> Option<String> {
        self.inner.clock_fault()
    }

    fn backup<'a>(&'a self, to: &'a Path, at: Timestamp) -> StoreFuture<'a, BackupSummary> {
        self.intercept.intercept_answer(self.inner.backup(to, at))
    }

    fn setting<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        self.intercept.intercept_answer(self.inner.setting(name))
    }
}

impl<I: StoreInterceptor> LedgerStore for InterceptedStore<I> {
    fn load_books(&self) -> StoreFuture<'_, LedgerBooks> {
        self.intercept.intercept_answer(self.inner.load_books())
    }

    fn read_statement(
        &self,
        owner: OwnerId,
        skip: usize,
        size: usize,
    ) -> StoreFuture<'_, AccountStatement> {
        self.intercept.intercept_answer(self.inner.read_statement(owner, skip, size))
    }

    fn read_journal(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<JournalEntry>> {
        self.intercept.intercept_answer(self.inner.read_journal(after_seq, limit))
    }

    fn find_transfers(&self, entry: EntryId) -> StoreFuture<'_, Vec<JournalEntry>> {
        self.intercept.intercept_answer(self.inner.find_transfers(entry))
    }

    fn is_recorded(&self, entry: EntryId) -> StoreFuture<'_, bool> {
        self.intercept.intercept_answer(self.inner.is_recorded(entry))
    }

    fn given_credit(&self, owner: OwnerId, currency: BalanceCurrency) -> StoreFuture<'_, Nano> {
        self.intercept.intercept_answer(self.inner.given_credit(owner, currency))
    }

    fn changed_books(&self, after_seq: i64) -> StoreFuture<'_, LedgerBooks> {
        self.intercept.intercept_answer(self.inner.changed_books(after_seq))
    }

    fn trial_balance(&self) -> StoreFuture<'_, LedgerBooks> {
        self.intercept.intercept_answer(self.inner.trial_balance())
    }
}

impl<I: StoreInterceptor> AccessStore for InterceptedStore<I> {
    fn owner(&self, id: OwnerId) -> StoreFuture<'_, Option<Owner>> {
        self.intercept.intercept_answer(self.inner.owner(id))
    }

    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> StoreFuture<'a, Option<Owner>> {
        self.intercept.intercept_answer(self.inner.find_owner(kind, name))
    }

    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Owner>> {
        self.intercept.intercept_answer(self.inner.list_owners(kind, after, limit))
    }

    fn wallet_links<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<WalletLink>> {
        self.intercept.intercept_answer(self.inner.wallet_links(kind, after, limit))
    }

    fn find_key(&self, digest: SecretDigest) -> StoreFuture<'_, Option<(ApiKey, Owner)>> {
        self.intercept.intercept_answer(self.inner.find_key(digest))
    }

    fn key(&self, owner: OwnerId, key: KeyId) -> StoreFuture<'_, Option<ApiKey>> {
        self.intercept.intercept_answer(self.inner.key(owner, key))
    }

    fn list_keys(&self, owner: OwnerId) -> StoreFuture<'_, Vec<ApiKey>> {
        self.intercept.intercept_answer(self.inner.list_keys(owner))
    }

    fn limit_hits(&self, owner: OwnerId) -> StoreFuture<'_, Vec<LimitHit>> {
        self.intercept.intercept_answer(self.inner.limit_hits(owner))
    }
}

impl<I: StoreInterceptor> UsageStore for InterceptedStore<I> {
    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> StoreFuture<'_, UsagePage> {
        self.intercept.intercept_answer(self.inner.usage_page(filter, page))
    }

    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsageCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(UsageCursor, UsageRow)>> {
        self.intercept.intercept_answer(self.inner.usage_after(filter, after, limit))
    }

    fn search_requests(&self, search: RequestSearch) -> StoreFuture<'_, FoundRequests> {
        self.intercept.intercept_answer(self.inner.search_requests(search))
    }

    fn usage_by_model(&self, owner: OwnerId, days: DayRange) -> StoreFuture<'_, Vec<ModelUsage>> {
        self.intercept.intercept_answer(self.inner.usage_by_model(owner, days))
    }

    fn usage_by_key(&self, owner: OwnerId, days: DayRange) -> StoreFuture<'_, Vec<KeyUsage>> {
        self.intercept.intercept_answer(self.inner.usage_by_key(owner, days))
    }

    fn usage_by_session(
        &self,
        owner: OwnerId,
        days: DayRange,
    ) -> StoreFuture<'_, Vec<SessionUsage>> {
        self.intercept.intercept_answer(self.inner.usage_by_session(owner, days))
    }
}

impl<I: StoreInterceptor> RpcStore for InterceptedStore<I> {
    fn find_stored_response(
        &self,
        key: StoredResponseKey,
    ) -> StoreFuture<'_, StoredResponseLookup> {
        self.intercept.intercept_answer(self.inner.find_stored_response(key))
    }

    fn sent_transactions<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Vec<SentTransaction>> {
        self.intercept.intercept_answer(self.inner.sent_transactions(hash))
    }

    fn spent_credits(&self, since: Timestamp) -> StoreFuture<'_, Vec<SpentCredits>> {
        self.intercept.intercept_answer(self.inner.spent_credits(since))
    }
}

impl<I: StoreInterceptor> ClaimStore for InterceptedStore<I> {
    fn claim(&self, id: ClaimId) -> StoreFuture<'_, Option<PaymentClaim>> {
        self.intercept.intercept_answer(self.inner.claim(id))
    }

    fn unfinished_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.intercept.intercept_answer(self.inner.unfinished_claims())
    }

    fn claims_changed(
        &self,
        span: ClaimSpan,
        beyond: Option<ClaimCursor>,
    ) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.intercept.intercept_answer(self.inner.claims_changed(span, beyond))
    }

    fn list_claims(
        &self,
        state: Option<ClaimState>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.intercept.intercept_answer(self.inner.list_claims(state, limit))
    }

    fn received_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.intercept.intercept_answer(self.inner.received_claims())
    }

    fn missing_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.intercept.intercept_answer(self.inner.missing_claims())
    }

    fn credited_claims(&self) -> StoreFuture<'_, Vec<CreditedSum>> {
        self.intercept.intercept_answer(self.inner.credited_claims())
    }
}

impl<I: StoreInterceptor> EvidenceStore for InterceptedStore<I> {
    fn read_evidence(&self) -> StoreFuture<'_, VerificationEvidence> {
        self.intercept.intercept_answer(self.inner.read_evidence())
    }

    fn audit_after(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<AuditRow>> {
        self.intercept.intercept_answer(self.inner.audit_after(after_seq, limit))
    }

    fn usage_marks(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<UsageMark>> {
        self.intercept.intercept_answer(self.inner.usage_marks(after_seq, limit))
    }
}

impl<I: StoreInterceptor> JobStore for InterceptedStore<I> {
    fn job(&self, id: JobId) -> StoreFuture<'_, Option<QueuedJob>> {
        self.intercept.intercept_answer(self.inner.job(id))
    }

    fn due_jobs(
        &self,
        now: Timestamp,
        after: Option<JobCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.intercept.intercept_answer(self.inner.due_jobs(now, after, limit))
    }

    fn list_jobs(&self, filter: JobFilter) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.intercept.intercept_answer(self.inner.list_jobs(filter))
    }

    fn open_jobs(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.intercept.intercept_answer(self.inner.open_jobs(owner))
    }

    fn job_counts(&self) -> StoreFuture<'_, Vec<JobCount>> {
        self.intercept.intercept_answer(self.inner.job_counts())
    }

    fn job_timings<'a>(&'a self, model: &'a str) -> StoreFuture<'a, Vec<u64>> {
        self.intercept.intercept_answer(self.inner.job_timings(model))
    }
}

impl<I: StoreInterceptor> MediaRowStore for InterceptedStore<I> {
    fn media(&self, id: MediaId) -> StoreFuture<'_, Option<MediaRow>> {
        self.intercept.intercept_answer(self.inner.media(id))
    }

    fn media_to_delete(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, Vec<MediaRow>> {
        self.intercept.intercept_answer(self.inner.media_to_delete(now, limit))
    }

    fn known_media(&self, objects: Vec<MediaId>) -> StoreFuture<'_, Vec<MediaId>> {
        self.intercept.intercept_answer(self.inner.known_media(objects))
    }
}

impl<I: StoreInterceptor> ResponseStore for InterceptedStore<I> {
    fn find_response(
        &self,
        owner: OwnerId,
        id: ResponseId,
    ) -> StoreFuture<'_, Option<SealedResponse>> {
        self.intercept.intercept_answer(self.inner.find_response(owner, id))
    }

    fn response_record(&self, id: ResponseId) -> StoreFuture<'_, Option<ResponseRecord>> {
        self.intercept.intercept_answer(self.inner.response_record(id))
    }

    fn response_chain(
        &self,
        owner: OwnerId,
        id: ResponseId,
        rows_max: usize,
    ) -> StoreFuture<'_, Vec<SealedResponse>> {
        self.intercept.intercept_answer(self.inner.response_chain(owner, id, rows_max))
    }

    fn list_responses(&self, filter: ResponseFilter) -> StoreFuture<'_, Vec<ResponseRecord>> {
        self.intercept.intercept_answer(self.inner.list_responses(filter))
    }

    fn due_responses(
        &self,
        now: Timestamp,
        each_max: usize,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ResponseRecord>> {
        self.intercept.intercept_answer(self.inner.due_responses(now, each_max, limit))
    }

    fn open_responses(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.intercept.intercept_answer(self.inner.open_responses(owner))
    }

    fn response_events(
        &self,
        id: ResponseId,
        after: Option<u64>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<SealedEvents>> {
        self.intercept.intercept_answer(self.inner.response_events(id, after, limit))
    }

    fn stored_totals(&self, owner: OwnerId) -> StoreFuture<'_, StoredTotals> {
        self.intercept.intercept_answer(self.inner.stored_totals(owner))
    }

    fn find_conversation(
        &self,
        owner: OwnerId,
        id: ConversationId,
    ) -> StoreFuture<'_, Option<ConversationRecord>> {
        self.intercept.intercept_answer(self.inner.find_conversation(owner, id))
    }

    fn conversation_items(&self, query: ItemQuery) -> StoreFuture<'_, Vec<ConversationItem>> {
        self.intercept.intercept_answer(self.inner.conversation_items(query))
    }

    fn conversation_item<'a>(
        &'a self,
        conversation: ConversationId,
        item: &'a str,
    ) -> StoreFuture<'a, Option<ConversationItem>> {
        self.intercept.intercept_answer(self.inner.conversation_item(conversation, item))
    }
}

impl<I: StoreInterceptor> BatchStore for InterceptedStore<I> {
    fn file(&self, id: FileId) -> StoreFuture<'_, Option<StoredFile>> {
        self.intercept.intercept_answer(self.inner.file(id))
    }

    fn list_files(&self, filter: FileFilter) -> StoreFuture<'_, Vec<StoredFile>> {
        self.intercept.intercept_answer(self.inner.list_files(filter))
    }

    fn file_totals(&self, owner: OwnerId, now: Timestamp) -> StoreFuture<'_, FileTotals> {
        self.intercept.intercept_answer(self.inner.file_totals(owner, now))
    }

    fn batch(&self, id: BatchId) -> StoreFuture<'_, Option<StoredBatch>> {
        self.intercept.intercept_answer(self.inner.batch(id))
    }

    fn list_batches(
        &self,
        owner: OwnerId,
        after: Option<BatchId>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<StoredBatch>> {
        self.intercept.intercept_answer(self.inner.list_batches(owner, after, limit))
    }

    fn open_batches(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.intercept.intercept_answer(self.inner.open_batches(owner))
    }

    fn is_batch_input(&self, file: FileId) -> StoreFuture<'_, bool> {
        self.intercept.intercept_answer(self.inner.is_batch_input(file))
    }

    fn due_batches(
        &self,
        after: Option<BatchId>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<StoredBatch>> {
        self.intercept.intercept_answer(self.inner.due_batches(after, limit))
    }

    fn finished_lines(&self, batch: BatchId) -> StoreFuture<'_, Vec<u32>> {
        self.intercept.intercept_answer(self.inner.finished_lines(batch))
    }

    fn result_sizes(
        &self,
        range: BatchLineRange,
        limit: usize,
    ) -> StoreFuture<'_, Vec<BatchLineSize>> {
        self.intercept.intercept_answer(self.inner.result_sizes(range, limit))
    }

    fn read_results(&self, range: BatchLineRange) -> StoreFuture<'_, Vec<SealedResult>> {
        self.intercept.intercept_answer(self.inner.read_results(range))
    }
}

impl<I: StoreInterceptor> CharacterStore for InterceptedStore<I> {
    fn list_characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<ListedCharacter>> {
        self.intercept.intercept_answer(self.inner.list_characters(query, asker))
    }

    fn character<'a>(
        &'a self,
        slug_or_id: &'a str,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'a, Option<ListedCharacter>> {
        self.intercept.intercept_answer(self.inner.character(slug_or_id, asker))
    }

    fn character_content(&self, id: Uuid) -> StoreFuture<'_, Option<CharacterContent>> {
        self.intercept.intercept_answer(self.inner.character_content(id))
    }

    fn character_picture<'a>(
        &'a self,
        slug_or_id: &'a str,
    ) -> StoreFuture<'a, Option<CharacterPicture>> {
        self.intercept.intercept_answer(self.inner.character_picture(slug_or_id))
    }

    fn read_reviews(&self, character: Uuid, skip: u64, size: usize) -> StoreFuture<'_, ReviewPage> {
        self.intercept.intercept_answer(self.inner.read_reviews(character, skip, size))
    }
}
