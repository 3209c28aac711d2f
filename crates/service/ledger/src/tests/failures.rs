//! A disk that is full, slow or gone, and recovery from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ledger_core::HoldRange;
use money::Nano;
use store::error::StoreError;
use store::intercept::{InterceptedStore, StoreInterceptor};
use store::sqlite::SqliteStore;
use store::write::WriteGroup;
use store::{CommitFuture, Store};
use tokio::sync::{Notify, Semaphore};

use super::fixture::{
    World, add_owner, base, cost, entry, exactly, nanos, owner, scratch, settled, through, world_on,
};
use crate::{HoldRefused, LedgerError};

/// A disk that a test can fill up.
#[derive(Default)]
struct Disk {
    is_full: AtomicBool,
    /// Groups that were lost because the disk was full.
    lost: AtomicUsize,
}

impl Disk {
    fn fill(&self) {
        self.is_full.store(true, Ordering::SeqCst);
    }

    fn make_room(&self) {
        self.is_full.store(false, Ordering::SeqCst);
    }
}

impl StoreInterceptor for Disk {
    fn commit(&self, inner: &Arc<dyn Store>, group: WriteGroup) -> CommitFuture {
        if self.is_full.load(Ordering::SeqCst) {
            self.lost.fetch_add(1, Ordering::SeqCst);
            return Box::pin(async { Err(StoreError::Full) });
        }
        inner.commit(group)
    }
}

/// A world with 1,000 nanos whose disk can be filled.
async fn faulty() -> (World, Arc<Disk>) {
    let directory = tempfile::tempdir().unwrap();
    let inner: Arc<dyn Store> = Arc::new(SqliteStore::open(&scratch(&directory)).unwrap());
    add_owner(&*inner, 1).await;
    let disk = Arc::<Disk>::default();
    let store = Arc::new(InterceptedStore::new(inner, Arc::clone(&disk)));
    let world = world_on(directory, store).await;
    world.top_up(1, 1_000).await;
    (world, disk)
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
    assert!(world.ledger.run_maintenance().await.is_err(), "there is still no room");
    assert_eq!(world.ledger.hold(through(1), exactly(1)).unwrap_err(), HoldRefused::Unavailable);

    disk.make_room();
    world.ledger.run_maintenance().await.unwrap();
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
    world.ledger.run_maintenance().await.unwrap();
    world.expect_usd(1_000);
    drop(dropped);
    let receipt = world.ledger.settle(patient, cost(400)).await.unwrap();
    assert_eq!(receipt.remaining.usd, nanos(600));
    assert_eq!(world.ledger.status().open_holds, 0);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_hold_from_before_the_pause_is_raised_after_it() {
    let (world, disk) = faulty().await;
    let mut patient = world.ledger.hold(through(1), exactly(400)).unwrap();
    let unlucky = world.ledger.hold(through(1), exactly(200)).unwrap();
    disk.fill();
    world.ledger.settle(unlucky, cost(200)).await.unwrap_err();
    disk.make_room();
    world.ledger.run_maintenance().await.unwrap();
    world.expect_usd(1_000);
    let want = HoldRange::UpTo { least: Nano::ZERO.into(), most: nanos(100).into() };
    assert_eq!(world.ledger.raise(&mut patient, want).usd, nanos(500));
    world.expect_usd(500);
    let receipt = world.ledger.settle(patient, cost(450)).await.unwrap();
    assert_eq!(receipt.remaining.usd, nanos(550));
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
    world.ledger.run_maintenance().await.unwrap();
    world.expect_usd(1_000);
    assert_eq!(disk.lost.load(Ordering::SeqCst), 1);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_core_that_panicked_is_loaded_afresh() {
    let (world, _) = faulty().await;
    let ledger = Arc::clone(&world.ledger);
    let panicked = std::thread::spawn(move || {
        let mut live = ledger.shared.lock();
        live.core = ledger_core::CreditLedger::new(ledger_core::LedgerRules::default());
        panic!("a bug in the core");
    });
    assert!(panicked.join().is_err());
    assert_eq!(world.ledger.hold(through(1), exactly(1)).unwrap_err(), HoldRefused::Unavailable);
    world.ledger.run_maintenance().await.unwrap();
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
    // The core is ahead of the disk, so it refuses even a group that could be written.
    world.ledger.settle(second, cost(300)).await.unwrap_err();
    assert_eq!(disk.lost.load(Ordering::SeqCst), 1);
    world.ledger.run_maintenance().await.unwrap();
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
    world.ledger.run_maintenance().await.unwrap();
    assert!(!send().await.unwrap().is_repeat);
    assert!(send().await.unwrap().is_repeat);
    world.expect_usd(1_500);
    world.expect_sound().await;
}

#[tokio::test]
async fn an_allowance_whose_opening_was_lost_is_opened_again() {
    let (world, disk) = faulty().await;
    let kind = ledger_core::AllowanceKind::DiemDaily;
    world.ledger.set_allowance(entry(2), owner(1), kind, nanos(500), vec![]).await.unwrap();
    disk.fill();
    let hold = world.ledger.hold(through(1), exactly(500)).unwrap();
    disk.make_room();
    // The day's lot was never written, so a charge on it cannot be written either.
    world.ledger.settle(hold, cost(500)).await.unwrap_err();
    world.ledger.run_maintenance().await.unwrap();
    let hold = world.ledger.hold(through(1), exactly(500)).unwrap();
    let receipt = world.ledger.settle(hold, cost(500)).await.unwrap();
    assert_eq!(receipt.paid(money::BalanceCurrency::Diem), nanos(500));
    world.expect_usd(1_000);
    world.expect_sound().await;
}

/// A store that writes groups and answers only when a test allows it: a network that swallows the
/// answer to a commit.
#[derive(Default)]
struct SilentStore {
    is_silent: AtomicBool,
    answers: Arc<Notify>,
}

impl StoreInterceptor for SilentStore {
    fn commit(&self, inner: &Arc<dyn Store>, group: WriteGroup) -> CommitFuture {
        let commit = inner.commit(group);
        if !self.is_silent.load(Ordering::SeqCst) {
            return commit;
        }
        let answers = Arc::clone(&self.answers);
        Box::pin(async move {
            answers.notified().await;
            commit.await
        })
    }
}

#[tokio::test]
async fn a_charge_whose_outcome_is_known_too_late_is_refused_and_refunded() {
    let directory = tempfile::tempdir().unwrap();
    let inner: Arc<dyn Store> = Arc::new(SqliteStore::open(&scratch(&directory)).unwrap());
    add_owner(&*inner, 1).await;
    let network = Arc::<SilentStore>::default();
    let store = Arc::new(InterceptedStore::new(inner, Arc::clone(&network)));
    let world = world_on(directory, store).await;
    world.top_up(1, 1_000).await;
    let hold = world.ledger.hold(through(1), exactly(300)).unwrap();
    network.is_silent.store(true, Ordering::SeqCst);
    // Nothing else is under way, so the clock of the runtime moves on to the deadline at once.
    tokio::time::pause();
    let refused = world.ledger.settle(hold, cost(300)).await.unwrap_err();
    tokio::time::resume();
    assert!(matches!(refused, LedgerError::Unavailable), "{refused}");
    world.expect_usd(700);

    network.is_silent.store(false, Ordering::SeqCst);
    network.answers.notify_one();
    world.ledger.run_maintenance().await.unwrap();
    assert_eq!(world.usage().await.len(), 2);
    world.expect_usd(1_000);
    assert_eq!(world.used().await, 0, "the refund is a usage row of its own");
    world.expect_sound().await;
}

/// A disk that takes groups when a test lets it.
struct HeldDisk(Arc<Semaphore>);

impl StoreInterceptor for HeldDisk {
    fn commit(&self, inner: &Arc<dyn Store>, group: WriteGroup) -> CommitFuture {
        let (inner, disk) = (Arc::clone(inner), Arc::clone(&self.0));
        Box::pin(async move {
            let _turn = disk.acquire_owned().await;
            inner.commit(group).await
        })
    }
}

/// A caller that was told of money would miss it after a crash at this moment.
#[tokio::test]
async fn a_credit_is_in_no_balance_before_it_is_durable() {
    let directory = tempfile::tempdir().unwrap();
    let inner: Arc<dyn Store> = Arc::new(SqliteStore::open(&scratch(&directory)).unwrap());
    add_owner(&*inner, 1).await;
    let turns = Arc::new(Semaphore::new(0));
    let held = Arc::new(HeldDisk(Arc::clone(&turns)));
    let world = world_on(directory, Arc::new(InterceptedStore::new(inner, held))).await;
    let crediting = world.top_up(1, 1_000);
    let looking = async {
        let deadline = Instant::now() + Duration::from_secs(60);
        while world.ledger.status().unwritten_groups == 0 {
            assert!(Instant::now() < deadline, "the credit was not handed in");
            tokio::task::yield_now().await;
        }
        world.expect_usd(0);
        turns.add_permits(1);
    };
    tokio::join!(crediting, looking);
    world.expect_usd(1_000);
}

#[tokio::test]
async fn a_credit_that_was_lost_is_in_no_balance() {
    let (world, disk) = faulty().await;
    disk.fill();
    let lost = world.ledger.top_up(entry(2), owner(1), base(), nanos(500), Vec::new()).await;
    lost.unwrap_err();
    world.expect_usd(1_000);
    disk.make_room();
    world.ledger.run_maintenance().await.unwrap();
    world.expect_usd(1_000);
    world.top_up(3, 500).await;
    world.expect_usd(1_500);
    world.expect_sound().await;
}
