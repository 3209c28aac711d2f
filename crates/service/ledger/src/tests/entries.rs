//! Top-ups, grants and refunds: each happens once, however often it is requested.

use std::sync::Arc;
use std::time::Duration;

use ledger_core::CommandRejection;
use money::BalanceCurrency;
use store::write::StoreWrite;

use super::fixture::{base, cost, entry, exactly, nanos, owner, settled, through, world};
use crate::{LedgerError, RefundOutcome};

#[tokio::test]
async fn a_top_up_sent_again_changes_nothing_even_after_a_restart() {
    let world = world().await;
    let again = || async {
        let (amount, also) = (nanos(1_000), settled(1, nanos(1_000)));
        world.ledger.top_up(entry(1), owner(1), base(), amount, also).await.unwrap()
    };
    assert!(!again().await.is_repeat);
    assert!(again().await.is_repeat);
    world.clock.advance(Duration::from_secs(40 * 86_400));
    world.ledger.run_maintenance().await.unwrap();
    assert!(again().await.is_repeat);
    let world = world.restart().await;
    let amount = nanos(1_000);
    let repeat = world.ledger.top_up(entry(1), owner(1), base(), amount, Vec::new()).await.unwrap();
    assert!(repeat.is_repeat);
    assert_eq!(repeat.balances.usd, nanos(1_000));
    world.expect_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_top_up_from_many_sides_at_once_arrives_once() {
    let world = world().await;
    let mut senders = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let ledger = Arc::clone(&world.ledger);
        senders.spawn(async move {
            let (amount, also) = (nanos(1_000), settled(1, nanos(1_000)));
            ledger.top_up(entry(1), owner(1), base(), amount, also).await.unwrap()
        });
    }
    let answers = senders.join_all().await;
    assert_eq!(answers.iter().filter(|answer| !answer.is_repeat).count(), 1);
    world.expect_usd(1_000);
    world.expect_sound().await;
}

#[tokio::test]
async fn an_allowance_set_again_after_another_one_changes_nothing() {
    let world = world().await;
    let kind = ledger_core::AllowanceKind::DiemDaily;
    for (number, amount) in [(1, 500), (2, 700)] {
        let set = world.ledger.set_allowance(entry(number), owner(1), kind, nanos(amount), vec![]);
        set.await.unwrap();
    }
    let world = world.restart().await;
    let again = world.ledger.set_allowance(entry(1), owner(1), kind, nanos(500), vec![]);
    assert!(again.await.unwrap().is_repeat);
    assert_eq!(world.ledger.balances(owner(1)).diem, nanos(700));
}

#[tokio::test]
async fn a_grant_expires() {
    let world = world().await;
    let expires_at = credits_now_plus(&world, 60);
    let amount = (BalanceCurrency::Vcu, nanos(300));
    world.ledger.grant(entry(1), owner(1), amount, Some(expires_at), vec![]).await.unwrap();
    assert_eq!(world.ledger.balances(owner(1)).vcu, nanos(300));
    world.clock.advance(Duration::from_secs(60));
    world.ledger.run_maintenance().await.unwrap();
    assert_eq!(world.ledger.balances(owner(1)).vcu, nanos(0));
    world.expect_sound().await;
}

fn credits_now_plus(world: &super::fixture::World, seconds: u64) -> moment::Timestamp {
    moment::Clock::now(&*world.clock).plus(Duration::from_secs(seconds))
}

#[tokio::test]
async fn amounts_that_make_no_sense_are_rejected() {
    let world = world().await;
    for amount in [0, -5, i64::MAX] {
        let topped_up =
            world.ledger.top_up(entry(1), owner(1), base(), nanos(amount), vec![]).await;
        let is_rejected =
            matches!(topped_up, Err(LedgerError::Rejected(CommandRejection::InvalidAmount)));
        assert!(is_rejected, "{topped_up:?}");
    }
    assert_eq!(world.store.read_journal(0, 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_charge_is_given_back_once_also_long_after() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let hold = world.ledger.hold(through(1), exactly(600)).unwrap();
    let charge = world.ledger.settle(hold, cost(600)).await.unwrap().charge;
    let world = world.restart().await;
    let refunded = world.ledger.refund(charge, None, "refund", Vec::new()).await.unwrap();
    let RefundOutcome::Now(refund) = refunded else { panic!("{refunded:?}") };
    assert_eq!(refund.remaining.usd, nanos(1_000));
    for world in [world.restart().await] {
        let again = world.ledger.refund(charge, None, "refund", Vec::new()).await.unwrap();
        assert_eq!(again, RefundOutcome::Before);
        world.expect_usd(1_000);
        assert_eq!(world.used().await, 0);
        world.expect_sound().await;
    }
}

#[tokio::test]
async fn what_was_never_charged_cannot_be_given_back() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    for number in [1, 2] {
        let error =
            world.ledger.refund(entry(number), None, "refund", Vec::new()).await.unwrap_err();
        let is_unknown = matches!(error, LedgerError::Rejected(CommandRejection::NoSuchCharge));
        assert!(is_unknown, "{error}");
    }
    world.expect_usd(1_000);
}

#[tokio::test]
async fn more_rows_are_written_with_the_money_or_not_at_all() {
    let world = world().await;
    let row = |name: &str| StoreWrite::AddSetting { name: name.into(), value: vec![1] };
    let top_up = |number, rows: Vec<StoreWrite>| {
        let amount = nanos(1_000);
        let also = settled(number, amount).into_iter().chain(rows).collect();
        world.ledger.top_up(entry(number), owner(1), base(), amount, also)
    };
    top_up(1, vec![row("paid")]).await.unwrap();
    assert!(world.store.setting("paid").await.unwrap().is_some());
    let error = top_up(2, vec![row("other"), row("paid")]).await.unwrap_err();
    assert!(matches!(error, LedgerError::Unavailable), "{error}");
    assert_eq!(world.store.setting("other").await.unwrap(), None);
    // The core had credited the entry that the store refused; it is reloaded.
    world.ledger.run_maintenance().await.unwrap();
    world.expect_usd(1_000);
    world.expect_sound().await;
}

#[tokio::test]
async fn part_of_a_charge_is_given_back_once_and_counts_for_its_model_and_session() {
    let world = world().await;
    world.top_up(1, 10_000).await;
    let hold = world.ledger.hold(through(1), exactly(2_000)).unwrap();
    let mut bill = cost(1_000);
    bill.details.session = Some(7);
    let charge = world.ledger.settle(hold, bill).await.unwrap().charge;
    for wrong in [0, -5, 1_001] {
        let refused = world.ledger.refund(charge, Some(nanos(wrong)), "too much", vec![]).await;
        let error = refused.unwrap_err();
        assert!(matches!(error, LedgerError::Rejected(CommandRejection::InvalidAmount)), "{error}");
    }
    let refunded = world.ledger.refund(charge, Some(nanos(300)), "slow", vec![]).await.unwrap();
    assert!(matches!(refunded, RefundOutcome::Now(_)));
    world.expect_usd(9_300);
    for amount in [Some(nanos(300)), Some(nanos(700)), None] {
        let again = world.ledger.refund(charge, amount, "again", vec![]).await.unwrap();
        assert_eq!(again, RefundOutcome::Before);
    }
    world.expect_usd(9_300);
    let rows = world.usage().await;
    let last = rows.last().unwrap();
    assert_eq!((last.sku.as_str(), last.amount), ("refund", nanos(-300)));
    assert_eq!((last.model.as_str(), last.notes.as_str()), ("llama", "slow"));
    assert_eq!(last.details.request_id, "0a1b");
    let day = rows[0].at.unix_day();
    let days = store::usage::DayRange { first: day, last: day };
    let today = world.store.usage_by_model(owner(1), days).await.unwrap();
    assert_eq!(today.iter().map(|it| it.amount.nanos()).sum::<i64>(), 700, "{today:?}");
    let sessions = world.store.usage_by_session(owner(1), days).await.unwrap();
    let [of_session] = sessions.as_slice() else { panic!("{sessions:?}") };
    assert_eq!((of_session.session, of_session.usd, of_session.requests), (7, nanos(700), 1));
    world.expect_sound().await;
    let world = world.restart().await;
    assert_eq!(
        world.ledger.refund(charge, None, "again", vec![]).await.unwrap(),
        RefundOutcome::Before
    );
}
