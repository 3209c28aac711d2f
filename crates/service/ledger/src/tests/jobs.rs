//! Holds of jobs, which survive a restart of the process.

use ledger_core::{CommandRejection, HoldId};
use store::write::StoreWrite;
use uuid::Uuid;

use super::fixture::{cost, exactly, nanos, through, world};
use crate::{LedgerError, LedgerJob};

fn job(number: u128) -> LedgerJob {
    LedgerJob { hold: HoldId(Uuid::from_u128(number)), payer: through(1) }
}

#[tokio::test]
async fn a_job_is_held_before_a_restart_and_settled_after_it() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    let row = StoreWrite::AddSetting { name: "job".into(), value: vec![1] };
    let held = world.ledger.hold_job(job(7), exactly(600), vec![row]).await.unwrap();
    assert_eq!(held.means.total(), nanos(600));
    assert!(world.store.setting("job").await.unwrap().is_some());
    let world = world.restart().await;
    world.expect_usd(400);
    world.expect_sound().await;
    let receipt = world.ledger.settle_job(job(7), cost(450), Vec::new()).await.unwrap();
    assert_eq!(receipt.remaining.usd, nanos(550));
    assert_eq!(world.used().await, 450);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_job_is_settled_or_released_once() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    world.ledger.hold_job(job(7), exactly(600), Vec::new()).await.unwrap();
    let error = world.ledger.hold_job(job(7), exactly(600), Vec::new()).await.unwrap_err();
    assert!(matches!(error, LedgerError::Rejected(CommandRejection::Duplicate { .. })), "{error}");
    world.ledger.settle_job(job(7), cost(450), Vec::new()).await.unwrap();
    let world = world.restart().await;
    let error = world.ledger.settle_job(job(7), cost(450), Vec::new()).await.unwrap_err();
    assert!(matches!(error, LedgerError::Rejected(CommandRejection::Duplicate { .. })), "{error}");
    let error = world.ledger.release_job(job(7), Vec::new()).await.unwrap_err();
    assert!(matches!(error, LedgerError::Rejected(CommandRejection::NoSuchHold)), "{error}");
    world.expect_usd(550);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_failed_job_costs_nothing() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    world.ledger.hold_job(job(7), exactly(600), Vec::new()).await.unwrap();
    world.ledger.release_job(job(7), Vec::new()).await.unwrap();
    world.expect_usd(1_000);
    let world = world.restart().await;
    world.expect_usd(1_000);
    assert_eq!(world.usage().await, []);
    world.expect_sound().await;
}
