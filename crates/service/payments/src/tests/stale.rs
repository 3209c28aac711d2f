//! Claims that advanced while another task had an older copy, and money that came for failed ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use money::Nano;
use store::claim::{ClaimId, ClaimState, ClaimStep, SentPayment};
use store::intercept::{InterceptedStore, StoreInterceptor};
use store::write::{StoreWrite, WriteGroup};
use store::{Store, StoreFuture};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use super::script::{Mood, Script};
use super::world::{Payer, RECHECK_AFTER, World, open_store, world, world_on};
use crate::{ReconcileSummary, TopUpRefusal};

const FIVE: Nano = Nano::from_units(5);

/// Delays the next answer of the store, as a busy machine may.
#[derive(Default)]
struct Gate {
    is_armed: AtomicBool,
    has_answer: Arc<Notify>,
    opens: Arc<Notify>,
}

impl StoreInterceptor for Gate {
    fn intercept_answer<'a, T: Send + 'a>(&self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if !self.is_armed.swap(false, Ordering::SeqCst) {
            return answer;
        }
        let (has_answer, opens) = (Arc::clone(&self.has_answer), Arc::clone(&self.opens));
        Box::pin(async move {
            let answer = answer.await;
            has_answer.notify_one();
            opens.notified().await;
            answer
        })
    }
}

async fn gated_world() -> (World, Arc<Gate>, Arc<dyn Store>) {
    let fresh = world().await;
    let World { directory, clock, store, ledger, payments, .. } = fresh;
    drop((store, ledger, payments));
    let inner = open_store(&directory);
    let gate = Arc::<Gate>::default();
    let store = Arc::new(InterceptedStore::new(Arc::clone(&inner), Arc::clone(&gate)));
    let chain = Arc::new(Script::new(Arc::clone(&clock)));
    (world_on(directory, clock, chain, store).await, gate, inner)
}

/// The only claim.
async fn the_claim(world: &World) -> (ClaimId, ClaimState) {
    let claims = world.store.list_claims(None, 10).await.unwrap();
    assert_eq!(claims.len(), 1);
    (claims[0].id, claims[0].state)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_that_was_sent_after_it_was_listed_is_not_failed() {
    let (world, gate, inner) = gated_world().await;
    let payer = Payer::new(1);
    // It is claimed, and nothing was sent for it yet.
    world.chain.set(Mood::Forgetful);
    world.pay(&payer).await.unwrap_err();
    let (id, from) = the_claim(&world).await;
    let at = world.store.claim(id).await.unwrap().unwrap().changed;
    let fail = ClaimStep::Fail { reason: "interrupted".into() };
    let claim = world.store.claim(id).await.unwrap().unwrap();
    let reopened = store::claim::PaymentClaim { sent: SentPayment::default(), ..claim };
    let writes = vec![
        StoreWrite::AdvanceClaim { claim: id, from, step: fail, at },
        StoreWrite::OpenClaim(reopened),
    ];
    world.store.commit(WriteGroup { writes }).await.unwrap();
    gate.is_armed.store(true, Ordering::SeqCst);
    let payments = world.payments.clone();
    let tasks = TaskTracker::new();
    let round = tasks.spawn(async move { payments.reconcile().await.unwrap() });
    gate.has_answer.notified().await;
    // The delayed copy says VERIFIED. Meanwhile the payment is sent, and the chain accepts it.
    let sent = SentPayment { transaction: Some("0xours".into()), ..SentPayment::default() };
    let step = ClaimStep::Submit(sent);
    let write = StoreWrite::AdvanceClaim { claim: id, from: ClaimState::Verified, step, at };
    inner.commit(WriteGroup::from_write(write)).await.unwrap();
    world.chain.front_run(&payer.name(), payer.nonce, payer.units);
    gate.opens.notify_one();
    let credited = ReconcileSummary { credited: 1, ..ReconcileSummary::default() };
    assert_eq!(round.await.unwrap(), credited);
    assert_eq!(world.balance(&payer).await, FIVE);
    world.expect_sound().await;
}

/// A payment that was sent, was not seen again, and failed as expired.
async fn failed(payer: &Payer) -> World {
    let world = world().await;
    world.chain.set(Mood::Forgetful);
    world.pay(payer).await.unwrap_err();
    world.chain.set(Mood::Expired);
    world.payments.reconcile().await.unwrap();
    assert_eq!(the_claim(&world).await.1, ClaimState::Failed);
    world
}

#[tokio::test]
async fn a_failed_payment_is_looked_up_before_its_payer_is_told_that_it_expired() {
    let payer = Payer::new(1);
    let world = failed(&payer).await;
    world.clock.advance(Duration::from_secs(600));
    let refused = world.pay(&payer).await.unwrap_err();
    assert!(matches!(refused, TopUpRefusal::Payment(_)), "nothing came: {refused:?}");
    // A node that cannot answer leaves it open, because a new payment would pay twice.
    world.chain.set(Mood::Blind);
    assert_eq!(world.pay(&payer).await.unwrap_err(), TopUpRefusal::Unavailable);
    world.chain.set(Mood::Expired);
    world.chain.front_run(&payer.name(), payer.nonce, payer.units);
    assert_eq!(world.pay(&payer).await.unwrap().balance, FIVE);
    world.expect_sound().await;
}

#[tokio::test]
async fn money_that_came_for_a_failed_payment_is_found_and_credited_once() {
    let payer = Payer::new(1);
    let world = failed(&payer).await;
    let mut last = world.payments.recheck_from();
    world.chain.front_run(&payer.name(), payer.nonce, payer.units);
    for _ in 0..3 {
        world.clock.advance(RECHECK_AFTER);
        last = world.payments.recheck(last).await.unwrap();
    }
    assert_eq!(the_claim(&world).await.1, ClaimState::Credited);
    assert_eq!(world.balance(&payer).await, FIVE);
    assert_eq!(world.store.received_claims().await.unwrap(), []);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_node_that_does_not_answer_is_asked_about_failed_payments_again() {
    let payer = Payer::new(1);
    let world = failed(&payer).await;
    let last = world.payments.recheck_from();
    world.chain.front_run(&payer.name(), payer.nonce, payer.units);
    world.clock.advance(RECHECK_AFTER);
    world.chain.set(Mood::Blind);
    assert_eq!(world.payments.recheck(last).await.unwrap(), last);
    world.chain.set(Mood::Expired);
    world.payments.recheck(last).await.unwrap();
    assert_eq!(world.balance(&payer).await, FIVE);
}

#[tokio::test]
async fn the_books_tell_of_money_that_came_for_a_failed_payment_until_it_is_credited() {
    let payer = Payer::new(1);
    let world = failed(&payer).await;
    let (claim, _) = the_claim(&world).await;
    let received = store::claim::ReceivedPayment { transaction: "0xlate".into(), amount: FIVE };
    let at = moment::Clock::now(&*world.clock);
    let note = StoreWrite::NoteReceivedClaim { claim, received, at };
    world.store.commit(WriteGroup::from_write(note)).await.unwrap();
    let told = ledger::verify_books(&*world.store).await.unwrap().violations;
    assert_eq!(told.len(), 1, "{told:?}");
    let words = told[0].to_string();
    assert!(words.contains("5 came in by 0xlate"), "{words}");
    assert!(words.contains("had failed"), "{words}");
    world.chain.front_run(&payer.name(), payer.nonce, payer.units);
    world.payments.look_up_again(claim).await.unwrap();
    world.expect_sound().await;
}

#[tokio::test]
async fn an_operator_gives_a_payment_up_that_no_chain_answers_for() {
    let payer = Payer::new(1);
    let world = world().await;
    world.chain.set(Mood::Forgetful);
    world.pay(&payer).await.unwrap_err();
    let (claim, state) = the_claim(&world).await;
    assert_eq!(state, ClaimState::Unknown);
    world.payments.fail_claim(claim, Vec::new()).await.unwrap();
    let given_up = world.store.claim(claim).await.unwrap().unwrap();
    assert_eq!(
        (given_up.state, given_up.reason.as_deref()),
        (ClaimState::Failed, Some("written_off"))
    );
    // A payment that the chain shows later is credited all the same.
    world.chain.front_run(&payer.name(), payer.nonce, payer.units);
    assert_eq!(world.payments.look_up_again(claim).await.unwrap().balance, FIVE);
    assert!(world.payments.fail_claim(claim, Vec::new()).await.is_err(), "it is credited");
    world.expect_sound().await;
}
