//! A disk that is full, slow or gone, and coming back from it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

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
use store::sqlite::Sqlite;
use store::statement::Statement;
use store::usage::{
    Days, KeyUsage, ModelUsage, PageRequest, UsageFilter, UsagePage, UsagePlace, UsageRow,
};
use store::write::Group;
use store::{Answer, Commit, Store};

use super::fixture::{
    World, add_owner, base, cost, entry, exactly, nanos, owner, scratch, settled, through, world_on,
};
use crate::{HoldRefused, LedgerError};

/// A store whose disk fills up when a test says so.
struct Faulty {
    inner: Arc<dyn Store>,
    is_full: AtomicBool,
    /// Groups that were lost because the disk was full.
    lost: Mutex<usize>,
}

impl Faulty {
    fn fill(&self) {
        self.is_full.store(true, Ordering::SeqCst);
    }

    fn make_room(&self) {
        self.is_full.store(false, Ordering::SeqCst);
    }
}

impl Store for Faulty {
    fn commit(&self, group: Group) -> Commit {
        if self.is_full.load(Ordering::SeqCst) {
            *self.lost.lock().unwrap() += 1;
            return Box::pin(async { Err(StoreError::Full) });
        }
        self.inner.commit(group)
    }
    fn queued(&self) -> usize {
        self.inner.queued()
    }
    fn load(&self) -> Answer<'_, Books> {
        self.inner.load()
    }
    fn owner(&self, id: OwnerId) -> Answer<'_, Option<Owner>> {
        self.inner.owner(id)
    }
    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> Answer<'a, Option<Owner>> {
        self.inner.find_owner(kind, name)
    }
    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> Answer<'a, Vec<Owner>> {
        self.inner.list_owners(kind, after, limit)
    }
    fn find_key(&self, digest: SecretDigest) -> Answer<'_, Option<(ApiKey, Owner)>> {
        self.inner.find_key(digest)
    }
    fn key(&self, owner: OwnerId, key: KeyId) -> Answer<'_, Option<ApiKey>> {
        self.inner.key(owner, key)
    }
    fn list_keys(&self, owner: OwnerId) -> Answer<'_, Vec<ApiKey>> {
        self.inner.list_keys(owner)
    }
    fn limit_hits(&self, owner: OwnerId) -> Answer<'_, Vec<LimitHit>> {
        self.inner.limit_hits(owner)
    }
    fn setting<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Vec<u8>>> {
        self.inner.setting(name)
    }
    fn usage_page(&self, filter: UsageFilter, page: PageRequest) -> Answer<'_, UsagePage> {
        self.inner.usage_page(filter, page)
    }
    fn usage_after(
        &self,
        filter: UsageFilter,
        after: Option<UsagePlace>,
        limit: usize,
    ) -> Answer<'_, Vec<(UsagePlace, UsageRow)>> {
        self.inner.usage_after(filter, after, limit)
    }
    fn usage_by_model(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<ModelUsage>> {
        self.inner.usage_by_model(owner, days)
    }
    fn usage_by_key(&self, owner: OwnerId, days: Days) -> Answer<'_, Vec<KeyUsage>> {
        self.inner.usage_by_key(owner, days)
    }
    fn statement(&self, owner: OwnerId, skip: usize, size: usize) -> Answer<'_, Statement> {
        self.inner.statement(owner, skip, size)
    }
    fn kept_answer(&self, key: AnswerKey) -> Answer<'_, Kept> {
        self.inner.kept_answer(key)
    }
    fn sent_transactions<'a>(&'a self, hash: &'a str) -> Answer<'a, Vec<SentTransaction>> {
        self.inner.sent_transactions(hash)
    }
    fn spent_credits(&self, since: Timestamp) -> Answer<'_, Vec<SpentCredits>> {
        self.inner.spent_credits(since)
    }
    fn claim(&self, id: ClaimId) -> Answer<'_, Option<Claim>> {
        self.inner.claim(id)
    }
    fn unfinished_claims(&self) -> Answer<'_, Vec<Claim>> {
        self.inner.unfinished_claims()
    }
    fn credited_claims(&self) -> Answer<'_, Vec<CreditedSum>> {
        self.inner.credited_claims()
    }
    fn journal(&self, after_seq: i64, limit: usize) -> Answer<'_, Vec<Entry>> {
        self.inner.journal(after_seq, limit)
    }
    fn transfers(&self, entry: EntryId) -> Answer<'_, Vec<Entry>> {
        self.inner.transfers(entry)
    }
    fn is_recorded(&self, entry: EntryId) -> Answer<'_, bool> {
        self.inner.is_recorded(entry)
    }
    fn trial_balance(&self) -> Answer<'_, Books> {
        self.inner.trial_balance()
    }
    fn evidence(&self) -> Answer<'_, Evidence> {
        self.inner.evidence()
    }
    fn usage_marks(&self, after_seq: i64, limit: usize) -> Answer<'_, Vec<UsageMark>> {
        self.inner.usage_marks(after_seq, limit)
    }
}

/// A world with 1,000 nanos whose disk can be filled.
async fn faulty() -> (World, Arc<Faulty>) {
    let directory = tempfile::tempdir().unwrap();
    let inner: Arc<dyn Store> = Arc::new(Sqlite::open(&scratch(&directory)).unwrap());
    add_owner(&*inner, 1).await;
    let (is_full, lost) = (AtomicBool::new(false), Mutex::new(0));
    let store = Arc::new(Faulty { inner, is_full, lost });
    let world = world_on(directory, Arc::clone(&store) as Arc<dyn Store>).await;
    world.top_up(1, 1_000).await;
    (world, store)
}

#[tokio::test]
async fn a_full_disk_pauses_charging_and_loses_nothing_that_was_acknowledged() {
    let (world, disk) = faulty().await;
    let acknowledged = world.ledger.hold(through(1), exactly(300)).unwrap();
    let unlucky = world.ledger.hold(through(1), exactly(300)).unwrap();
    world.ledger.settle(acknowledged, cost(300)).await.unwrap();
    disk.fill();
    let error = world.ledger.settle(unlucky, cost(300)).await.unwrap_err();
    assert!(matches!(error, LedgerError::Unavailable), "{error}");
    assert_eq!(world.ledger.hold(through(1), exactly(1)).unwrap_err(), HoldRefused::Unavailable);
    assert!(!world.ledger.status().is_running);
    assert!(world.ledger.tend().await.is_err(), "there is still no room");
    assert_eq!(world.ledger.hold(through(1), exactly(1)).unwrap_err(), HoldRefused::Unavailable);

    disk.make_room();
    world.ledger.tend().await.unwrap();
    assert!(world.ledger.status().is_running);
    world.expect_usd(700);
    assert_eq!(world.used().await, 300);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_hold_from_before_the_pause_is_settled_after_it() {
    let (world, disk) = faulty().await;
    let patient = world.ledger.hold(through(1), exactly(400)).unwrap();
    let dropped = world.ledger.hold(through(1), exactly(400)).unwrap();
    let unlucky = world.ledger.hold(through(1), exactly(200)).unwrap();
    disk.fill();
    world.ledger.settle(unlucky, cost(200)).await.unwrap_err();
    disk.make_room();
    world.ledger.tend().await.unwrap();
    world.expect_usd(1_000);
    drop(dropped);
    let receipt = world.ledger.settle(patient, cost(400)).await.unwrap();
    assert_eq!(receipt.remaining.usd, nanos(600));
    assert_eq!(world.ledger.status().open_holds, 0);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_settle_that_is_lost_after_its_waiter_went_away_is_noticed() {
    let (world, disk) = faulty().await;
    let hold = world.ledger.hold(through(1), exactly(300)).unwrap();
    disk.fill();
    drop(world.ledger.settle(hold, cost(300)));
    disk.make_room();
    world.expect_usd(700);
    world.ledger.tend().await.unwrap();
    world.expect_usd(1_000);
    assert_eq!(*disk.lost.lock().unwrap(), 1);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_core_that_panicked_is_loaded_afresh() {
    let (world, _) = faulty().await;
    let ledger = Arc::clone(&world.ledger);
    let panicked = std::thread::spawn(move || {
        let mut live = ledger.shared.lock();
        live.core = credits::Ledger::new(credits::Rules::default());
        panic!("a bug in the core");
    });
    assert!(panicked.join().is_err());
    assert_eq!(world.ledger.hold(through(1), exactly(1)).unwrap_err(), HoldRefused::Unavailable);
    world.ledger.tend().await.unwrap();
    world.expect_usd(1_000);
    world.expect_sound().await;
}

#[tokio::test]
async fn settles_during_a_pause_fail_and_free_their_holds() {
    let (world, disk) = faulty().await;
    let first = world.ledger.hold(through(1), exactly(300)).unwrap();
    let second = world.ledger.hold(through(1), exactly(300)).unwrap();
    disk.fill();
    world.ledger.settle(first, cost(300)).await.unwrap_err();
    disk.make_room();
    // The core is ahead of the disk, so even a group that could be written is not decided.
    world.ledger.settle(second, cost(300)).await.unwrap_err();
    assert_eq!(*disk.lost.lock().unwrap(), 1);
    world.ledger.tend().await.unwrap();
    world.expect_usd(1_000);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_top_up_that_was_lost_can_be_sent_again() {
    let (world, disk) = faulty().await;
    let send = || {
        let (amount, also) = (nanos(500), settled(2, nanos(500)));
        world.ledger.top_up(entry(2), owner(1), base(), amount, also)
    };
    disk.fill();
    send().await.unwrap_err();
    disk.make_room();
    send().await.unwrap_err();
    world.ledger.tend().await.unwrap();
    assert!(!send().await.unwrap().is_repeat);
    assert!(send().await.unwrap().is_repeat);
    world.expect_usd(1_500);
    world.expect_sound().await;
}

#[tokio::test]
async fn an_allowance_whose_opening_was_lost_is_opened_again() {
    let (world, disk) = faulty().await;
    let kind = credits::AllowanceKind::DiemDaily;
    world.ledger.set_allowance(entry(2), owner(1), kind, nanos(500), vec![]).await.unwrap();
    disk.fill();
    let hold = world.ledger.hold(through(1), exactly(500)).unwrap();
    disk.make_room();
    // The day's lot was never written, so neither can be a charge that it pays.
    world.ledger.settle(hold, cost(500)).await.unwrap_err();
    world.ledger.tend().await.unwrap();
    let hold = world.ledger.hold(through(1), exactly(500)).unwrap();
    let receipt = world.ledger.settle(hold, cost(500)).await.unwrap();
    assert_eq!(receipt.paid(money::Currency::Diem), nanos(500));
    world.expect_usd(1_000);
    world.expect_sound().await;
}
