//! Payments that are taken back, on a real database.

use ledger_core::{BeyondPaid, CommandRejection, PaidFunds};
use money::BalanceCurrency;

use super::fixture::{World, base, cost, entry, exactly, nanos, owner, settled, wallet, world};
use crate::{LedgerError, ReversalOrder, ReversalOutcome, verify_books};

fn order(amount: i64, beyond: BeyondPaid) -> ReversalOrder {
    ReversalOrder { owner: owner(1), network: base(), amount: nanos(amount), beyond }
}

impl World {
    /// The amounts taken from credit and added to the debt.
    async fn reverse(&self, number: u128, amount: i64) -> (i64, i64) {
        let order = order(amount, BeyondPaid::Owe);
        match self.ledger.reverse(entry(number), order, Vec::new()).await.unwrap() {
            ReversalOutcome::Now(receipt) => (receipt.taken.nanos(), receipt.owed.nanos()),
            ReversalOutcome::Before => panic!("a repeat"),
        }
    }

    async fn spend(&self, amount: u64) {
        let held = self.ledger.hold(wallet(), exactly(amount.cast_signed())).unwrap();
        self.ledger.settle(held, cost(amount)).await.unwrap();
    }

    async fn funds(&self) -> (i64, i64) {
        let PaidFunds { left, debt } = self.ledger.paid_funds(owner(1)).await.unwrap();
        (left.nanos(), debt.nanos())
    }

    /// The violations of a verification, without those of cash: reversals have no evidence here.
    async fn other_violations(&self) -> Vec<String> {
        let report = verify_books(&*self.store).await.unwrap();
        let lines = report.violations.iter().map(ToString::to_string);
        lines.filter(|line| !line.starts_with("I12")).collect()
    }
}

#[tokio::test]
async fn a_debt_survives_a_restart_and_is_repaid_first() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    world.spend(700).await;
    assert_eq!(world.reverse(2, 1_000).await, (300, 700));
    let world = world.restart().await;
    assert_eq!(world.funds().await, (0, 700));
    assert_eq!(world.ledger.reconcile().await.unwrap().difference_nano, 0);
    world.top_up(3, 500).await;
    assert_eq!(world.funds().await, (0, 200));
    world.top_up(4, 500).await;
    assert_eq!(world.funds().await, (300, 0));
    let world = world.restart().await;
    assert_eq!(world.funds().await, (300, 0));
    assert_eq!(world.other_violations().await, [""; 0]);
}

#[tokio::test]
async fn a_restoration_undoes_a_reversal() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    world.spend(700).await;
    world.reverse(2, 1_000).await;
    let restored = world.ledger.restore(entry(3), owner(1), base(), nanos(1_000), Vec::new());
    assert_eq!(restored.await.unwrap().balances.usd, nanos(300));
    let world = world.restart().await;
    assert_eq!(world.funds().await, (300, 0));
    let again = world.ledger.restore(entry(3), owner(1), base(), nanos(1_000), Vec::new());
    assert!(again.await.unwrap().is_repeat);
    let again = world.ledger.reverse(entry(2), order(1_000, BeyondPaid::Owe), Vec::new()).await;
    assert_eq!(again.unwrap(), ReversalOutcome::Before);
    assert_eq!(world.funds().await, (300, 0));
    assert_eq!(world.other_violations().await, [""; 0]);
}

#[tokio::test]
async fn grants_are_not_taken_and_repay_nothing() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let dollars = (BalanceCurrency::Usd, nanos(500));
    world.ledger.grant(entry(2), owner(1), dollars, None, Vec::new()).await.unwrap();
    world.spend(700).await;
    assert_eq!(world.reverse(3, 1_000).await, (800, 200));
    world.ledger.grant(entry(4), owner(1), dollars, None, Vec::new()).await.unwrap();
    assert_eq!(world.funds().await, (0, 200));
    assert_eq!(world.ledger.collect_debts().await.unwrap(), nanos(0));
    world.expect_usd(500);
}

#[tokio::test]
async fn credit_that_a_hold_leaves_is_collected() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let held = world.ledger.hold(wallet(), exactly(800)).unwrap();
    assert_eq!(world.reverse(2, 1_000).await, (200, 800));
    assert_eq!(world.ledger.collect_debts().await.unwrap(), nanos(0));
    drop(held);
    assert_eq!(world.ledger.collect_debts().await.unwrap(), nanos(800));
    assert_eq!(world.ledger.collect_debts().await.unwrap(), nanos(0));
    assert_eq!(world.funds().await, (0, 0));
    assert_eq!(world.other_violations().await, [""; 0]);
}

#[tokio::test]
async fn a_refund_of_ours_is_refused_beyond_what_is_left() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    world.spend(700).await;
    let refused = world.ledger.reverse(entry(2), order(301, BeyondPaid::Refuse), Vec::new()).await;
    let (left, wanted) = (nanos(300), nanos(301));
    assert!(matches!(
        refused,
        Err(LedgerError::Rejected(CommandRejection::BeyondPaid { left: l, wanted: w }))
            if l == left && w == wanted
    ));
    assert_eq!(world.funds().await, (300, 0));
}

#[tokio::test]
async fn verification_names_a_reversal_that_no_payment_explains() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    world.reverse(2, 300).await;
    let report = verify_books(&*world.store).await.unwrap();
    let lines: Vec<String> = report.violations.iter().map(ToString::to_string).collect();
    let names =
        |words: &str| lines.iter().any(|line| line.starts_with("I12") && line.contains(words));
    assert!(names("0.0000003 went out, and no payment was taken back for it"), "{lines:?}");
    assert_eq!(lines.len(), 2, "and the sum of the network: {lines:?}");
}

#[tokio::test]
async fn a_payment_in_two_parts_is_the_payment_that_was_settled() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    world.spend(1_000).await;
    world.reverse(2, 1_000).await;
    let also = settled(3, nanos(1_400));
    world.ledger.top_up(entry(3), owner(1), base(), nanos(1_400), also).await.unwrap();
    world.expect_usd(400);
    let report = verify_books(&*world.store).await.unwrap();
    let lines: Vec<String> = report.violations.iter().map(ToString::to_string).collect();
    // Only the reversal has no evidence, not the payment that repaid its debt.
    assert_eq!(lines.len(), 2, "{lines:?}");
}
