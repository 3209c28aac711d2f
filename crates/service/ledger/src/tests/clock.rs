//! Clocks that jump: no day is skipped, no limit is lost, and nothing expires early.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ledger_core::{AllowanceKind, EntryId, HoldPayer, KeyTerms, LimitPeriod};
use moment::Clock;

use super::fixture::{World, cost, entry, exactly, key, nanos, owner, through, wallet, world};
use crate::{CLOCK_JUMP_MAX, HoldRefused, MonotonicClock, TimeResetReport};

const DAY: Duration = Duration::from_secs(86_400);
const YEAR: Duration = Duration::from_secs(365 * 86_400);

#[derive(Default)]
struct Manual(AtomicU64);

impl MonotonicClock for Manual {
    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

async fn watched_world() -> (World, Arc<Manual>) {
    let world = world().await;
    world.top_up(1, 1_000_000).await;
    let watch = Arc::<Manual>::default();
    world.ledger.watch_clock(Arc::clone(&watch) as Arc<dyn MonotonicClock>);
    (world, watch)
}

fn pass(world: &World, watch: &Manual, time: Duration) {
    world.clock.advance(time);
    watch.0.fetch_add(time.as_secs(), Ordering::SeqCst);
}

fn limited_to_a_day(limit: i64) -> HoldPayer {
    let terms = KeyTerms {
        key: key(1),
        limit_usd: Some(nanos(limit)),
        limit_diem: None,
        period: LimitPeriod::Epoch,
    };
    HoldPayer { owner: owner(1), key: Some(terms) }
}

#[tokio::test]
async fn time_that_passes_is_no_jump() {
    let (world, watch) = watched_world().await;
    for _ in 0..3 {
        pass(&world, &watch, DAY);
        let _ = world.ledger.hold(through(1), exactly(100)).unwrap();
        assert!(world.ledger.status().is_running);
    }
    // Drift that network time corrects is followed: two minutes in all, a second at a time.
    for _ in 0..120 {
        pass(&world, &watch, Duration::from_secs(600));
        world.clock.advance(Duration::from_secs(1));
        let _ = world.ledger.hold(through(1), exactly(100)).unwrap();
    }
}

#[tokio::test]
async fn a_clock_that_jumps_stops_new_work_and_settles_what_is_under_way_at_the_old_time() {
    let (world, watch) = watched_world().await;
    let before = world.clock.now();
    let hold = world.ledger.hold(through(1), exactly(1_000)).unwrap();
    world.clock.advance(YEAR);
    let refused = world.ledger.hold(through(1), exactly(100)).unwrap_err();
    assert_eq!(refused, HoldRefused::Unavailable);
    assert!(!world.ledger.status().is_running);
    assert_eq!(world.ledger.pruning_time(), None);
    world.ledger.settle(hold, cost(700)).await.unwrap();
    assert_eq!(world.usage().await[0].at, before);
    world.clock.set(before);
    pass(&world, &watch, CLOCK_JUMP_MAX);
    assert!(world.ledger.hold(through(1), exactly(100)).is_ok());
    assert!(world.ledger.status().is_running);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_clock_that_is_set_back_stops_new_work_too() {
    let (world, watch) = watched_world().await;
    pass(&world, &watch, DAY);
    let now = world.clock.now();
    let _ = world.ledger.hold(through(1), exactly(100)).unwrap();
    world.clock.set(now.minus(YEAR));
    assert!(world.ledger.hold(through(1), exactly(100)).is_err());
}

#[tokio::test]
async fn nothing_expires_because_a_clock_jumped() {
    let (world, _watch) = watched_world().await;
    let diem = AllowanceKind::DiemDaily;
    let set = world.ledger.set_allowance(entry(9), owner(1), diem, nanos(5_000), Vec::new());
    set.await.unwrap();
    let _opened = world.ledger.hold(through(1), exactly(100)).unwrap();
    let before = world.clock.now();
    world.clock.advance(YEAR);
    assert!(world.ledger.run_maintenance().await.is_err());
    world.clock.set(before);
    world.ledger.run_maintenance().await.unwrap();
    assert_eq!(world.ledger.balances(owner(1)).diem, nanos(4_900));
    world.expect_sound().await;
}

#[tokio::test]
async fn a_limit_of_a_day_still_limits_after_a_run_with_the_clock_ahead() {
    let world = world().await;
    world.top_up(1, 1_000_000).await;
    let right = world.clock.now();
    let payer = limited_to_a_day(1_000);
    world.clock.advance(YEAR);
    let hold = world.ledger.hold(payer, exactly(300)).unwrap();
    world.ledger.settle(hold, cost(300)).await.unwrap();
    world.clock.set(right);
    let world = world.restart().await;
    let mut spent = 300;
    while let Ok(hold) = world.ledger.hold(payer, exactly(100)) {
        world.ledger.settle(hold, cost(100)).await.unwrap();
        spent += 100;
        assert!(spent <= 1_000, "the limit is gone");
    }
    assert_eq!(spent, 1_000);
    world.expect_sound().await;
}

#[tokio::test]
async fn an_allowance_is_there_after_a_run_with_the_clock_ahead() {
    let world = world().await;
    let diem = AllowanceKind::DiemDaily;
    let set = world.ledger.set_allowance(entry(9), owner(1), diem, nanos(5_000), Vec::new());
    set.await.unwrap();
    let right = world.clock.now();
    world.clock.advance(YEAR);
    let hold = world.ledger.hold(through(1), exactly(300)).unwrap();
    world.ledger.settle(hold, cost(300)).await.unwrap();
    world.clock.set(right);
    let world = world.restart().await;
    assert_eq!(world.ledger.balances(owner(1)).diem, nanos(4_700));
    assert!(world.ledger.hold(through(1), exactly(1_000)).is_ok());
}

#[tokio::test]
async fn pruning_does_not_follow_a_clock_that_was_ahead_when_the_service_started() {
    let world = world().await;
    world.top_up(1, 1_000_000).await;
    let written = world.clock.now();
    world.clock.advance(YEAR);
    let world = world.restart().await;
    let watch = Arc::<Manual>::default();
    world.ledger.watch_clock(Arc::clone(&watch) as Arc<dyn MonotonicClock>);
    assert_eq!(world.ledger.pruning_time(), Some(written));
    pass(&world, &watch, DAY);
    assert_eq!(world.ledger.pruning_time(), Some(written.plus(DAY)));
}

#[tokio::test]
async fn a_mended_journal_follows_the_clock_and_changes_no_balance() {
    let world = world().await;
    world.top_up(1, 1_000_000).await;
    assert_eq!(world.ledger.reset_time(Vec::new()).await.unwrap(), None);
    let right = world.clock.now();
    let payer = limited_to_a_day(1_000);
    world.clock.advance(YEAR);
    let ahead = world.clock.now();
    let charges = [world.charge(payer, 300).await, world.charge(wallet(), 5_000).await];
    world.clock.set(right);
    let world = world.restart().await;
    assert_eq!(world.ledger.status().journal_ahead, Some(YEAR));
    let before = world.ledger.balances(owner(1));
    let mended = world.ledger.reset_time(Vec::new()).await.unwrap();
    assert_eq!(mended, Some(TimeResetReport { from: ahead, to: right }));
    assert_eq!(world.ledger.status().journal_ahead, None);
    assert_eq!(world.ledger.balances(owner(1)), before);
    world.expect_sound().await;

    // The limit of the day counts for today.
    world.charge(payer, 1_000).await;
    assert!(world.ledger.hold(payer, exactly(1)).is_err());
    assert_eq!(world.usage().await.iter().map(|row| row.at).min(), Some(right));
    // Charges dated ahead of the clock can be refunded.
    for charge in charges {
        world.ledger.refund(charge, None, "", Vec::new()).await.unwrap();
    }
    assert!(world.ledger.hold(payer, exactly(1)).is_err(), "of a day that is not today");
    world.expect_sound().await;

    // The same after a restart, without any entry since.
    let world = world.restart().await;
    assert_eq!(world.ledger.status().journal_ahead, None);
    assert!(world.ledger.hold(payer, exactly(1)).is_err());
    world.clock.advance(DAY);
    world.ledger.run_maintenance().await.unwrap();
    world.charge(payer, 1_000).await;
    world.expect_sound().await;
}

#[tokio::test]
async fn after_mending_an_allowance_comes_each_day_and_the_day_that_was_begun_too_early_once() {
    let world = world().await;
    let diem = AllowanceKind::DiemDaily;
    let set = world.ledger.set_allowance(entry(9), owner(1), diem, nanos(5_000), Vec::new());
    set.await.unwrap();
    let right = world.clock.now();
    world.clock.advance(2 * DAY);
    world.charge(through(1), 5_000).await;
    world.clock.set(right);
    let world = world.restart().await;
    world.ledger.reset_time(Vec::new()).await.unwrap();
    assert_eq!(world.ledger.balances(owner(1)).diem, nanos(0));
    for expected in [5_000, 0, 5_000] {
        world.clock.advance(DAY);
        world.ledger.run_maintenance().await.unwrap();
        assert_eq!(world.ledger.balances(owner(1)).diem, nanos(expected));
        if expected != 0 {
            world.charge(through(1), 5_000).await;
        }
        world.expect_sound().await;
    }
}

impl World {
    async fn charge(&self, payer: HoldPayer, amount: u64) -> EntryId {
        let want = exactly(i64::try_from(amount).unwrap());
        let hold = self.ledger.hold(payer, want).unwrap();
        self.ledger.settle(hold, cost(amount)).await.unwrap().charge
    }
}
