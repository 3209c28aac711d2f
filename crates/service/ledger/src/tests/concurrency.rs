//! A thousand concurrent requests on money for a hundred.

use std::sync::Arc;

use money::BalanceCurrency;

use super::fixture::{World, add_key, cost, exactly, nanos, through, world};

const PRICE: i64 = 1_000;
const CALLERS: usize = 1_000;
const AFFORDABLE: usize = 100;

async fn world_that_can_pay_for_a_hundred() -> World {
    let world = world().await;
    world.top_up(1, PRICE * 100 + PRICE / 2).await;
    world
}

/// Runs all callers concurrently and counts those that were served.
async fn serve(world: &World, keys: &[u8]) -> usize {
    let mut callers = tokio::task::JoinSet::new();
    for number in 0..CALLERS {
        let ledger = Arc::clone(&world.ledger);
        let payer = through(keys[number % keys.len()]);
        callers.spawn(async move {
            let Ok(hold) = ledger.hold(payer, exactly(PRICE)) else { return false };
            tokio::task::yield_now().await;
            let receipt = ledger.settle(hold, cost(1_000)).await.unwrap();
            assert_eq!(receipt.paid(BalanceCurrency::Usd), nanos(PRICE));
            true
        });
    }
    callers.join_all().await.into_iter().filter(|was_served| *was_served).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exactly_as_many_are_served_as_one_key_can_pay_for() {
    let world = world_that_can_pay_for_a_hundred().await;
    assert_eq!(serve(&world, &[1]).await, AFFORDABLE);
    world.expect_usd(PRICE / 2);
    assert_eq!(world.used().await, PRICE * 100);
    world.expect_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exactly_as_many_are_served_as_the_owner_of_many_keys_can_pay_for() {
    let world = world_that_can_pay_for_a_hundred().await;
    for number in 2..=20 {
        add_key(&*world.store, 1, number).await;
    }
    let keys: Vec<u8> = (1..=20).collect();
    assert_eq!(serve(&world, &keys).await, AFFORDABLE);
    world.expect_usd(PRICE / 2);
    world.expect_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_that_give_up_at_any_point_leave_nothing_behind() {
    let world = world().await;
    world.top_up(1, PRICE * 10_000).await;
    let mut callers = tokio::task::JoinSet::new();
    for number in 0..CALLERS {
        let ledger = Arc::clone(&world.ledger);
        callers.spawn(async move {
            let hold = ledger.hold(through(1), exactly(PRICE)).unwrap();
            match number % 4 {
                0 => drop(hold),
                1 => ledger.release(hold),
                2 => drop(ledger.settle(hold, cost(1_000))),
                _ => drop(ledger.settle(hold, cost(1_000)).await.unwrap()),
            }
        });
    }
    callers.join_all().await;
    world.ledger.run_maintenance().await.unwrap();
    assert_eq!(world.ledger.status().open_holds, 0);
    let left = PRICE * 10_000 - PRICE * 500;
    world.expect_usd(left);
    world.expect_sound().await;
    world.restart().await.expect_usd(left);
}
