//! Holds that are raised while their work goes on.

use ledger_core::HoldRange;
use money::{BalanceCurrency, Nano};

use super::fixture::{cost, exactly, nanos, through, wallet, world};

fn up_to(most: i64) -> HoldRange {
    HoldRange::UpTo { least: Nano::ZERO.into(), most: nanos(most).into() }
}

#[tokio::test]
async fn a_raised_hold_is_settled_once_and_its_rest_returned() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let mut hold = world.ledger.hold(through(1), exactly(100)).unwrap();
    assert_eq!(world.ledger.raise(&mut hold, up_to(300)).usd, nanos(400));
    assert_eq!((hold.amount(), hold.means().usd), (nanos(400), nanos(400)));
    world.expect_usd(600);
    assert_eq!(world.ledger.raise(&mut hold, up_to(5_000)).usd, nanos(1_000), "in part");
    assert_eq!(world.ledger.raise(&mut hold, up_to(5_000)).usd, nanos(1_000), "not at all");
    let receipt = world.ledger.settle(hold, cost(700)).await.unwrap();
    assert_eq!(receipt.paid(BalanceCurrency::Usd), nanos(700));
    world.expect_usd(300);
    world.expect_sound().await;
    let world = world.restart().await;
    world.expect_usd(300);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_raised_hold_that_is_dropped_is_released_as_a_whole() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let mut hold = world.ledger.hold(wallet(), exactly(100)).unwrap();
    world.ledger.raise(&mut hold, up_to(300));
    drop(hold);
    world.expect_usd(1_000);
    assert_eq!(world.ledger.status().open_holds, 0);
}
