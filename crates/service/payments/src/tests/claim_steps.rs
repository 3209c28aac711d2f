//! One payment from its header to its credit, with and without failures.

use std::time::Duration;

use money::Nano;
use store::claim::ClaimState;
use wallet::PaymentRefusal;
use wallet::evm::EvmFault;

use super::script::Mood;
use super::world::{Payer, world};
use crate::{ReconcileSummary, SettledPayment, TopUpRefusal};

const FIVE: Nano = Nano::from_units(5);

fn refusal(outcome: Result<SettledPayment, TopUpRefusal>) -> (&'static str, String) {
    let refused = outcome.expect_err("the payment should be refused");
    (refused.code(), refused.reason().to_owned())
}

#[tokio::test]
async fn a_payment_is_credited_to_its_payer() {
    let (world, payer) = (world().await, Payer::new(1));
    let settled = world.pay(&payer).await.unwrap();
    assert_eq!(settled.payer, payer.name());
    assert_eq!((settled.amount, settled.balance), (FIVE, FIVE));
    assert_eq!(settled.transaction, "0xours");
    assert_eq!(settled.network, "eip155:8453");
    assert_eq!(world.chain.state().sends, 1);
    world.expect_sound().await;
}

#[tokio::test]
async fn the_same_payment_again_gives_the_same_result_even_when_it_is_too_late_to_settle_it() {
    let (world, payer) = (world().await, Payer::new(1));
    let first = world.pay(&payer).await.unwrap();
    assert!(first.is_new);
    let repeated = SettledPayment { is_new: false, ..first };
    assert_eq!(world.pay(&payer).await.unwrap(), repeated);
    world.clock.advance(Duration::from_secs(86_400));
    let world = world.restart().await;
    assert_eq!(world.pay(&payer).await.unwrap(), repeated);
    assert_eq!(world.chain.state().sends, 1);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_result_is_not_told_to_whoever_did_not_sign_the_payment() {
    let (world, payer) = (world().await, Payer::new(1));
    world.pay(&payer).await.unwrap();
    world.chain.state().confirms = Some(false);
    let wrong = ("X402_INVALID_PAYMENT", "invalid_exact_evm_payload_signature".to_owned());
    assert_eq!(refusal(world.pay(&payer.forged()).await), wrong);
    world.clock.advance(Duration::from_secs(86_400));
    assert_eq!(refusal(world.pay(&payer.forged()).await), wrong);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_at_once_are_settled_once_and_all_are_told_the_same() {
    let (world, payer) = (world().await, Payer::new(1));
    let mut posts = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let (payments, header) = (world.payments.clone(), payer.header());
        posts.spawn(async move { payments.top_up(header.as_bytes()).await.unwrap() });
    }
    let mut answers = posts.join_all().await;
    assert!(answers.iter().any(|answer| answer.is_new), "{answers:?}");
    // Those that come after the settlement did not send it.
    answers.iter_mut().for_each(|answer| answer.is_new = false);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(world.chain.state().sends, 1);
    assert_eq!(world.balance(&payer).await, FIVE);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_payer_without_money_is_refused_and_may_try_again() {
    let (world, payer) = (world().await, Payer::new(1));
    world.chain.set(Mood::Poor);
    let poor = ("PAYMENT_VERIFICATION_FAILED", "insufficient_funds".to_owned());
    assert_eq!(refusal(world.pay(&payer).await), poor);
    assert_eq!(world.claims().await, []);
    assert_eq!(world.balance(&payer).await, Nano::ZERO);
    world.chain.set(Mood::Willing);
    assert_eq!(world.pay(&payer).await.unwrap().balance, FIVE);
    world.expect_sound().await;
}

#[tokio::test]
async fn our_own_troubles_release_the_claim_and_are_not_the_payers_fault() {
    for mood in [Mood::Broke, Mood::Strict] {
        let (world, payer) = (world().await, Payer::new(1));
        world.chain.set(mood);
        let refused = world.pay(&payer).await.unwrap_err();
        assert_eq!(refused, TopUpRefusal::Failed);
        assert!(!refused.is_payers_fault());
        assert_eq!(world.claims().await, []);
        world.chain.set(Mood::Willing);
        assert_eq!(world.pay(&payer).await.unwrap().balance, FIVE);
        world.expect_sound().await;
    }
}

#[tokio::test]
async fn a_payment_that_takes_too_long_is_pending_with_its_hash_and_credited_later() {
    let (world, payer) = (world().await, Payer::new(1));
    world.chain.set(Mood::Slow);
    let pending = world.pay(&payer).await.unwrap_err();
    assert_eq!(pending.code(), "SETTLEMENT_TIMEOUT");
    assert_eq!(pending.transaction(), Some("0xours"));
    assert_eq!(world.claims().await, [ClaimState::Unknown]);
    let waiting = ReconcileSummary { waiting: 1, ..ReconcileSummary::default() };
    assert_eq!(world.payments.reconcile().await.unwrap(), waiting);
    world.chain.mine();
    let credited = ReconcileSummary { credited: 1, ..ReconcileSummary::default() };
    assert_eq!(world.payments.reconcile().await.unwrap(), credited);
    assert_eq!(world.balance(&payer).await, FIVE);
    assert_eq!(world.pay(&payer).await.unwrap().transaction, "0xours");
    world.expect_sound().await;
}

#[tokio::test]
async fn sending_a_pending_payment_again_settles_it_as_soon_as_the_chain_has() {
    let (world, payer) = (world().await, Payer::new(1));
    world.chain.set(Mood::Slow);
    world.pay(&payer).await.unwrap_err();
    world.chain.mine();
    // It has expired by now, and the chain has it all the same.
    world.clock.advance(Duration::from_secs(600));
    assert_eq!(world.pay(&payer).await.unwrap().balance, FIVE);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_node_that_does_not_answer_has_perhaps_taken_it() {
    let (world, payer) = (world().await, Payer::new(1));
    world.chain.set(Mood::Mute);
    assert_eq!(world.pay(&payer).await.unwrap().balance, FIVE);
    assert_eq!(world.chain.state().sends, 1);
    world.expect_sound().await;
}

#[tokio::test]
async fn what_was_dropped_is_sent_again_until_it_expires_and_then_released() {
    let (world, payer) = (world().await, Payer::new(1));
    world.chain.set(Mood::Forgetful);
    world.pay(&payer).await.unwrap_err();
    world.payments.reconcile().await.unwrap();
    assert_eq!(world.chain.state().sends, 2);
    assert_eq!(world.claims().await, [ClaimState::Unknown]);
    world.chain.set(Mood::Expired);
    let failed = ReconcileSummary { failed: 1, ..ReconcileSummary::default() };
    assert_eq!(world.payments.reconcile().await.unwrap(), failed);
    assert_eq!(world.claims().await, []);
    assert_eq!(world.balance(&payer).await, Nano::ZERO);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_payment_that_somebody_else_sent_is_credited_without_sending_it() {
    let (world, payer) = (world().await, Payer::new(1));
    world.chain.front_run(&payer.name(), payer.nonce, payer.units);
    let settled = world.pay(&payer).await.unwrap();
    assert_eq!((settled.balance, settled.transaction.as_str()), (FIVE, "0xtheirs"));
    assert_eq!(world.chain.state().sends, 0);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_payment_that_somebody_else_sent_meanwhile_is_credited_from_their_transaction() {
    let (world, payer) = (world().await, Payer::new(1));
    world.chain.set(Mood::Forgetful);
    world.pay(&payer).await.unwrap_err();
    world.chain.front_run(&payer.name(), payer.nonce, payer.units);
    world.payments.reconcile().await.unwrap();
    assert_eq!(world.pay(&payer).await.unwrap().transaction, "0xtheirs");
    world.expect_sound().await;
}

#[tokio::test]
async fn an_expired_payment_that_was_never_sent_is_refused() {
    let (world, payer) = (world().await, Payer::new(1));
    world.clock.advance(Duration::from_secs(600));
    let expired = TopUpRefusal::Payment(PaymentRefusal::Evm(EvmFault::Expired));
    assert_eq!(world.pay(&payer).await.unwrap_err(), expired);
    assert_eq!(world.chain.state().sends, 0);
}

#[tokio::test]
async fn a_contract_wallet_pays_if_its_contract_says_so() {
    for (confirms, expected) in [
        (Some(true), Ok(FIVE)),
        (Some(false), Err("invalid_exact_evm_payload_signature")),
        (None, Err("settlement_unavailable")),
    ] {
        let (world, payer) = (world().await, Payer::new(1).forged());
        world.chain.state().confirms = confirms;
        let outcome = world.pay(&payer).await;
        let outcome = outcome.as_ref().map(|settled| settled.balance).map_err(TopUpRefusal::reason);
        assert_eq!(outcome, expected);
        world.expect_sound().await;
    }
}

#[tokio::test]
async fn nonsense_is_refused_before_anything_is_claimed() {
    let world = world().await;
    for header in ["", "%%%", "e30=", "bnVsbA=="] {
        let refused = world.payments.top_up(header.as_bytes()).await.unwrap_err();
        assert_eq!(refused.code(), "INVALID_PAYMENT_FORMAT");
    }
    assert_eq!(world.claims().await, []);
}
