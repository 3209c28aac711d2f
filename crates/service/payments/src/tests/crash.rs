//! The process dies between any two steps, and starts again.

use std::sync::Arc;
use std::time::Duration;

use moment::{ManualClock, Timestamp};
use money::Nano;
use store::intercept::InterceptedStore;
use tempfile::TempDir;

use super::crashing_store::Crashing;
use super::script::{Mood, Script};
use super::world::{NOW_S, Payer, World, open_store, world_on};

/// More steps than any run has.
const STEPS_MAX: usize = 40;

/// Runs `life` once for each step at which the process can die, then `after` in the next process.
/// Returns the number of steps.
pub(super) fn at_every_step<L, A>(mood: Mood, life: L, after: A) -> usize
where
    L: AsyncFn(&World),
    A: AsyncFn(&World, usize),
{
    for step in 1..=STEPS_MAX {
        let clock = Arc::new(ManualClock::at(Timestamp::from_ms(NOW_S * 1000)));
        let chain = Arc::new(Script::new(Arc::clone(&clock)));
        let directory = tempfile::tempdir().unwrap();
        chain.set(mood);
        let (directory, has_died) = die(directory, &clock, &chain, step, &life);
        chain.crash.set(None);
        runtime().block_on(async {
            let store = open_store(&directory);
            let world = world_on(directory, clock, chain, store).await;
            after(&world, step).await;
        });
        if !has_died {
            return step - 1;
        }
    }
    panic!("there are more than {STEPS_MAX} steps");
}

/// Drops the runtime and all memory, as when a process is killed.
fn die<L: AsyncFn(&World)>(
    directory: TempDir,
    clock: &Arc<ManualClock>,
    chain: &Arc<Script>,
    step: usize,
    life: &L,
) -> (TempDir, bool) {
    let runtime = runtime();
    let (directory, has_died) = runtime.block_on(async {
        let store =
            InterceptedStore::new(open_store(&directory), Arc::new(Crashing(Arc::clone(chain))));
        let (clock, chain) = (Arc::clone(clock), Arc::clone(chain));
        let world = world_on(directory, clock, Arc::clone(&chain), Arc::new(store)).await;
        chain.crash.set(Some(step));
        let has_died = tokio::select! {
            () = life(&world) => false,
            () = chain.crash.reached.notified() => true,
        };
        (world.directory, has_died)
    });
    drop(runtime);
    (directory, has_died)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

const FIVE: Nano = Nano::from_units(5);

#[test]
fn killed_at_any_step_and_started_again_a_payment_is_credited_once_or_released() {
    let payer = Payer::new(1);
    let steps = at_every_step(
        Mood::Willing,
        async |world| drop(world.pay(&payer).await),
        async |world, step| {
            world.payments.reconcile().await.unwrap();
            assert_eq!(world.claims().await, [], "after step {step} nothing is left open");
            world.expect_sound().await;
            let sends = world.chain.state().sends;
            assert!(sends <= 2, "after step {step} it was sent {sends} times");
            // The client never got an answer, and sends the payment again.
            assert_eq!(world.pay(&payer).await.unwrap().balance, FIVE, "after step {step}");
            assert_eq!(world.balance(&payer).await, FIVE);
            world.expect_sound().await;
        },
    );
    // Claim, submit, owner and credit are groups with two crash points each; prepare and look have
    // one each, and sending has two.
    assert_eq!(steps, 12);
}

#[test]
fn killed_at_any_step_the_client_may_come_back_before_the_reconciler() {
    let payer = Payer::new(1);
    at_every_step(
        Mood::Willing,
        async |world| drop(world.pay(&payer).await),
        async |world, step| {
            assert_eq!(world.pay(&payer).await.unwrap().balance, FIVE, "after step {step}");
            world.payments.reconcile().await.unwrap();
            assert_eq!(world.balance(&payer).await, FIVE, "after step {step}");
            world.expect_sound().await;
        },
    );
}

#[test]
fn killed_at_any_step_while_the_chain_is_slow_a_payment_is_credited_once() {
    let payer = Payer::new(1);
    at_every_step(
        Mood::Slow,
        async |world| drop(world.pay(&payer).await),
        async |world, step| {
            world.payments.reconcile().await.unwrap();
            world.chain.mine();
            world.payments.reconcile().await.unwrap();
            assert_eq!(world.claims().await, [], "after step {step}");
            world.expect_sound().await;
        },
    );
}

#[test]
fn killed_at_any_step_a_payment_that_never_lands_is_released() {
    let payer = Payer::new(1);
    at_every_step(
        Mood::Forgetful,
        async |world| drop(world.pay(&payer).await),
        async |world, step| {
            world.clock.advance(Duration::from_secs(600));
            world.chain.set(Mood::Expired);
            world.payments.reconcile().await.unwrap();
            assert_eq!(world.claims().await, [], "after step {step}");
            assert_eq!(world.balance(&payer).await, Nano::ZERO);
            world.expect_sound().await;
        },
    );
}

#[test]
fn the_reconciler_may_be_killed_at_any_step_too() {
    let payer = Payer::new(1);
    at_every_step(
        Mood::Slow,
        async |world| {
            world.pay(&payer).await.unwrap_err();
            world.chain.mine();
            world.payments.reconcile().await.unwrap();
        },
        async |world, step| {
            world.payments.reconcile().await.unwrap();
            world.chain.mine();
            world.payments.reconcile().await.unwrap();
            assert_eq!(world.claims().await, [], "after step {step}");
            world.expect_sound().await;
        },
    );
}
