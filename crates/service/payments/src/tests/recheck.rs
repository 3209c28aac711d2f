//! Chains that reorganise payments away: nothing is lost silently.

use std::time::Duration;

use money::Nano;

use super::script::Mood;
use super::world::{Payer, RECHECK_AFTER, World, world};

const FIVE: Nano = Nano::from_units(5);

/// A payment that was credited, and has reached the first age.
async fn paid(payer: &Payer) -> World {
    let world = world().await;
    world.pay(payer).await.unwrap();
    world.clock.advance(RECHECK_AFTER);
    world
}

async fn missing(world: &World) -> usize {
    world.store.missing_claims().await.unwrap().len()
}

async fn violations(world: &World) -> Vec<String> {
    let report = ledger::verify_books(&*world.store).await.unwrap();
    report.violations.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn what_is_still_there_is_left_alone() {
    let payer = Payer::new(1);
    let world = paid(&payer).await;
    let from = world.payments.recheck_from();
    world.payments.recheck(from).await.unwrap();
    assert_eq!((missing(&world).await, world.chain.state().sends), (0, 1));
    world.expect_sound().await;
}

#[tokio::test]
async fn what_is_gone_is_told_by_the_books_and_sent_once_more() {
    let payer = Payer::new(1);
    let world = paid(&payer).await;
    let from = world.payments.recheck_from();
    world.chain.forget();
    world.chain.set(Mood::Slow);
    let until = world.payments.recheck(from).await.unwrap();
    assert_eq!((missing(&world).await, world.chain.state().sends), (1, 2));
    let told = violations(&world).await;
    assert!(told[0].contains("5 came in by 0xours, which eip155:8453 does not show"), "{told:?}");
    assert_eq!(told.len(), 1);
    assert_eq!(world.balance(&payer).await, FIVE, "the balance is left as it is");
    world.chain.mine();
    world.payments.recheck(until).await.unwrap();
    assert_eq!(missing(&world).await, 0);
    world.expect_sound().await;
}

#[tokio::test]
async fn what_is_gone_for_good_stays_in_the_books_as_missing() {
    let payer = Payer::new(1);
    let world = paid(&payer).await;
    let mut from = world.payments.recheck_from();
    world.chain.forget();
    world.chain.set(Mood::Expired);
    for _ in 0..3 {
        from = world.payments.recheck(from).await.unwrap();
        assert_eq!((missing(&world).await, world.chain.state().sends), (1, 1));
    }
    let world = world.restart().await;
    assert_eq!(violations(&world).await.len(), 1);
}

#[tokio::test]
async fn each_age_is_looked_at_once_and_a_restart_misses_none() {
    let payer = Payer::new(1);
    let world = paid(&payer).await;
    let mut last = world.payments.recheck(world.payments.recheck_from()).await.unwrap();
    world.chain.forget();
    // Nothing is looked up between two ages.
    last = world.payments.recheck(last).await.unwrap();
    assert_eq!(missing(&world).await, 0);
    world.chain.set(Mood::Forgetful);
    world.clock.advance(2 * RECHECK_AFTER);
    world.payments.recheck(last).await.unwrap();
    assert_eq!(missing(&world).await, 1);

    let world = paid(&payer).await;
    world.clock.advance(Duration::from_secs(600));
    world.chain.forget();
    world.chain.set(Mood::Forgetful);
    let world = world.restart().await;
    world.payments.recheck(world.payments.recheck_from()).await.unwrap();
    assert_eq!(missing(&world).await, 1);
}

#[tokio::test]
async fn a_chain_that_does_not_answer_is_asked_about_the_same_again() {
    let payer = Payer::new(1);
    let world = paid(&payer).await;
    let from = world.payments.recheck_from();
    world.chain.forget();
    world.chain.set(Mood::Blind);
    assert_eq!(world.payments.recheck(from).await.unwrap(), from);
    assert_eq!(missing(&world).await, 0, "not knowing is not missing");
    world.chain.set(Mood::Forgetful);
    assert_ne!(world.payments.recheck(from).await.unwrap(), from);
    assert_eq!(missing(&world).await, 1);
}
