//! Proof that the books are right.

use expect_test::expect;

use super::fixture::{World, cost, exactly, through, world};
use crate::{CSV_HEADER, csv_line, json_line, verify};

pub(crate) async fn busy_world() -> World {
    let world = world().await;
    world.top_up(1, 1_000_000).await;
    for number in 1..=20 {
        let hold = world.ledger.hold(through(1), exactly(2_000)).unwrap();
        world.ledger.settle(hold, cost(number * 50)).await.unwrap();
    }
    world
}

#[tokio::test]
async fn sound_books_reconcile_again_and_again() {
    let world = busy_world().await;
    world.expect_sound().await;
    for _ in 0..3 {
        let hold = world.ledger.hold(through(1), exactly(2_000)).unwrap();
        world.ledger.settle(hold, cost(70)).await.unwrap();
        let reconciled = world.ledger.reconcile().await.unwrap();
        assert_eq!((reconciled.difference_nano, reconciled.entries), (0, 1));
    }
    let report = verify(&*world.store).await.unwrap();
    assert!(report.is_clean());
    assert_eq!(report.transfers, 24);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn books_reconcile_while_charges_come_in() {
    let world = busy_world().await;
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let ledger = std::sync::Arc::clone(&world.ledger);
        callers.spawn(async move {
            for _ in 0..50 {
                let hold = ledger.hold(through(1), exactly(100)).unwrap();
                ledger.settle(hold, cost(30)).await.unwrap();
            }
        });
    }
    for _ in 0..10 {
        assert_eq!(world.ledger.reconcile().await.unwrap().difference_nano, 0);
        assert!(verify(&*world.store).await.unwrap().is_clean());
    }
    callers.join_all().await;
    world.expect_sound().await;
}

#[tokio::test]
async fn the_journal_is_exported_as_csv_and_as_json_lines() {
    let world = busy_world().await;
    let entries = world.store.journal(0, 2).await.unwrap();
    let lines: Vec<String> = entries.iter().flat_map(|it| [csv_line(it), json_line(it)]).collect();
    expect![[r#"
        seq,entry,leg,time,code,debit_owner,debit,credit_owner,credit,currency,amount,key
    "#]]
    .assert_eq(&format!("{CSV_HEADER}\n"));
    expect![[r#"
        1,00000000-0000-0000-0000-000000000001,0,2026-11-15T12:00:00.000Z,top_up,,cash:base,01010101-0101-0101-0101-010101010101,main,USD,0.001,
        {"seq":1,"entry":"00000000-0000-0000-0000-000000000001","leg":0,"time":"2026-11-15T12:00:00.000Z","code":"top_up","debit_owner":null,"debit":"cash:base","credit_owner":"01010101-0101-0101-0101-010101010101","credit":"main","currency":"USD","amount":"0.001","key":null}
        2,01a1df14-1e00-7000-8000-000000000000,0,2026-11-15T12:00:00.000Z,charge,01010101-0101-0101-0101-010101010101,main,,revenue,USD,0.00000005,81818181-8181-8181-8181-818181818181
        {"seq":2,"entry":"01a1df14-1e00-7000-8000-000000000000","leg":0,"time":"2026-11-15T12:00:00.000Z","code":"charge","debit_owner":"01010101-0101-0101-0101-010101010101","debit":"main","credit_owner":null,"credit":"revenue","currency":"USD","amount":"0.00000005","key":"81818181-8181-8181-8181-818181818181"}"#]].assert_eq(&lines.join("\n"));
}
