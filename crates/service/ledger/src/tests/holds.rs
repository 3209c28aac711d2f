//! Holds and settles of single requests.

use std::time::Duration;

use ledger_core::{
    AllowanceKind, CommandRejection, HoldPayer, HoldRange, KeyTerms, LimitClass, LimitPeriod,
};
use money::{BalanceCurrency, Nano};

use super::fixture::{cost, entry, exactly, key, nanos, owner, through, wallet, world};
use crate::HoldRefused;

#[tokio::test]
async fn a_settle_charges_its_cost_and_returns_the_rest() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let hold = world.ledger.hold(through(1), exactly(600)).unwrap();
    assert_eq!(hold.amount(), nanos(600));
    world.expect_usd(400);
    let receipt = world.ledger.settle(hold, cost(250)).await.unwrap();
    assert_eq!(receipt.paid(BalanceCurrency::Usd), nanos(250));
    assert_eq!(receipt.remaining.usd, nanos(750));
    world.expect_usd(750);
    assert_eq!(world.used().await, 250);
    world.expect_sound().await;
    let world = world.restart().await;
    world.expect_usd(750);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_hold_beyond_the_balance_says_what_is_there() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let refused = world.ledger.hold(wallet(), exactly(1_001)).unwrap_err();
    let rejection =
        CommandRejection::Insufficient { available: nanos(1_000), wanted: nanos(1_001) };
    assert_eq!(refused, HoldRefused::Rejected(rejection));
    let least_and_most = HoldRange::UpTo { least: nanos(1).into(), most: nanos(5_000).into() };
    assert_eq!(world.ledger.hold(wallet(), least_and_most).unwrap().amount(), nanos(1_000));
}

#[tokio::test]
async fn a_dropped_hold_is_released_and_so_is_a_released_one() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    drop(world.ledger.hold(wallet(), exactly(1_000)).unwrap());
    world.expect_usd(1_000);
    let hold = world.ledger.hold(wallet(), exactly(1_000)).unwrap();
    world.ledger.release(hold);
    world.expect_usd(1_000);
    assert_eq!(world.ledger.status().open_holds, 0);
    assert_eq!(world.used().await, 0);
}

#[tokio::test]
async fn a_dropped_settle_is_charged_all_the_same() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let hold = world.ledger.hold(through(1), exactly(600)).unwrap();
    drop(world.ledger.settle(hold, cost(250)));
    world.expect_usd(750);
    world.ledger.run_maintenance().await.unwrap();
    assert_eq!(world.ledger.status().unwritten_groups, 0);
    assert_eq!(world.used().await, 250);
    let world = world.restart().await;
    world.expect_usd(750);
    world.expect_sound().await;
}

#[tokio::test]
async fn free_work_writes_nothing() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let hold = world.ledger.hold(through(1), exactly(600)).unwrap();
    let receipt = world.ledger.settle(hold, cost(0)).await.unwrap();
    assert_eq!((receipt.legs.len(), receipt.remaining.usd), (0, nanos(1_000)));
    assert_eq!(world.store.read_journal(0, 10).await.unwrap().len(), 1);
    assert_eq!(world.usage().await, []);
}

#[tokio::test]
async fn a_cost_beyond_hold_and_balance_is_written_off_and_told() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let hold = world.ledger.hold(wallet(), exactly(600)).unwrap();
    let receipt = world.ledger.settle(hold, cost(1_300)).await.unwrap();
    assert_eq!(
        (receipt.paid(BalanceCurrency::Usd), receipt.written_off),
        (nanos(1_000), nanos(300))
    );
    world.expect_usd(0);
    assert_eq!(world.used().await, 1_000);
    assert_eq!(world.ledger.status().written_off_nano_total, 300);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_bill_that_no_amount_can_hold_is_refused_and_frees_the_hold() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let hold = world.ledger.hold(wallet(), exactly(600)).unwrap();
    let mut absurd = cost(u64::MAX);
    absurd.lines.push(absurd.lines[0].clone());
    let error = world.ledger.settle(hold, absurd).await.unwrap_err();
    assert!(
        matches!(error, crate::LedgerError::Rejected(CommandRejection::InvalidAmount)),
        "{error}"
    );
    world.expect_usd(1_000);
}

#[tokio::test]
async fn the_limit_of_a_key_holds_across_a_restart() {
    let world = world().await;
    world.top_up(1, 10_000).await;
    let terms = KeyTerms {
        key: key(1),
        limit_usd: Some(nanos(1_000)),
        limit_diem: None,
        period: LimitPeriod::Epoch,
    };
    let payer = HoldPayer { owner: owner(1), key: Some(terms) };
    let hold = world.ledger.hold(payer, exactly(800)).unwrap();
    world.ledger.settle(hold, cost(700)).await.unwrap();
    let world = world.restart().await;
    assert_eq!(world.ledger.key_usage(&terms, LimitClass::Usd).total(), nanos(700));
    let refused = world.ledger.hold(payer, exactly(301)).unwrap_err();
    assert!(
        matches!(refused, HoldRefused::Rejected(CommandRejection::KeyLimit { .. })),
        "{refused}"
    );
    drop(world.ledger.hold(payer, exactly(300)).unwrap());
    world.clock.advance(Duration::from_secs(86_400));
    drop(world.ledger.hold(payer, exactly(1_000)).unwrap());
}

#[tokio::test]
async fn an_allowance_opens_with_the_first_hold_of_the_day_and_lapses_at_midnight() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let kind = AllowanceKind::DiemDaily;
    world.ledger.set_allowance(entry(2), owner(1), kind, nanos(500), Vec::new()).await.unwrap();
    let hold = world.ledger.hold(through(1), exactly(800)).unwrap();
    let receipt = world.ledger.settle(hold, cost(700)).await.unwrap();
    assert_eq!(receipt.paid(BalanceCurrency::Diem), nanos(500));
    assert_eq!(receipt.paid(BalanceCurrency::Usd), nanos(200));
    let rows = world.usage().await;
    let paid: Vec<(BalanceCurrency, Nano, u64)> =
        rows.iter().map(|row| (row.currency, row.amount, row.units)).collect();
    assert_eq!(
        paid,
        [(BalanceCurrency::Diem, nanos(500), 500), (BalanceCurrency::Usd, nanos(200), 200)]
    );

    world.clock.advance(Duration::from_secs(86_400));
    assert_eq!(world.ledger.allocation(owner(1), kind), nanos(500));
    let hold = world.ledger.hold(through(1), exactly(100)).unwrap();
    world.ledger.settle(hold, cost(100)).await.unwrap();
    world.clock.advance(Duration::from_secs(86_400));
    world.ledger.run_maintenance().await.unwrap();
    world.expect_sound().await;
    let lapsed: i128 = 400;
    let systems = world.store.load_books().await.unwrap().snapshot.systems;
    let expired = systems.iter().find(|row| row.account.kind == ledger_core::SystemKind::Expired);
    assert_eq!(expired.unwrap().columns.credits, lapsed);
    let world = world.restart().await;
    assert_eq!(world.ledger.balances(owner(1)).diem, nanos(500));
    world.expect_usd(800);
}
