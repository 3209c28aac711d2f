//! Proof that the books are right.

use expect_test::expect;

use super::fixture::{World, cost, exactly, through, world};
use crate::{CSV_HEADER, csv_line, json_line, verify_books};

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
    let report = verify_books(&*world.store).await.unwrap();
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
        assert!(verify_books(&*world.store).await.unwrap().is_clean());
    }
    callers.join_all().await;
    world.expect_sound().await;
}

#[tokio::test]
async fn the_journal_is_exported_as_csv_and_as_json_lines() {
    let world = busy_world().await;
    let entries = world.store.read_journal(0, 2).await.unwrap();
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

/// Adds lots that expired long ago, as years of allowances leave them behind.
fn add_closed_lots(world: &World, count: u32) {
    let path = store::sqlite::database_in(world.directory.path());
    let connection = rusqlite::Connection::open(path).unwrap();
    let sql = "WITH RECURSIVE day(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM day WHERE n < ?1) \
               INSERT INTO account (owner, currency, name, opened_ms, expires_ms, is_closed, \
                   granted, debits, credits) \
               SELECT (SELECT id FROM owner), 'DIEM', 'day:' || -n, 0, 1, 1, 10, 10, 10 FROM day";
    connection.execute(sql, [count]).unwrap();
}

#[tokio::test]
async fn lots_that_were_closed_long_ago_are_not_looked_at_again() {
    let world = busy_world().await;
    let before = world.ledger.reconcile().await.unwrap();
    add_closed_lots(&world, 1_000);
    let hold = world.ledger.hold(through(1), exactly(2_000)).unwrap();
    world.ledger.settle(hold, cost(70)).await.unwrap();
    let after = world.ledger.reconcile().await.unwrap();
    assert_eq!((after.difference_nano, after.entries), (0, 1));
    assert_eq!(after.accounts, before.accounts);
}

#[tokio::test]
async fn lots_that_close_between_two_looks_are_no_difference() {
    let world = world().await;
    let diem = ledger_core::AllowanceKind::DiemDaily;
    let (id, owner) = (super::fixture::entry(77), super::fixture::owner(1));
    let amount = super::fixture::nanos(5_000);
    world.ledger.set_allowance(id, owner, diem, amount, Vec::new()).await.unwrap();
    for spent in [0, 1_000, 5_000, 0] {
        let hold = world.ledger.hold(through(1), exactly(0)).unwrap();
        world.ledger.settle(hold, cost(spent)).await.unwrap();
        world.expect_sound().await;
        world.clock.advance(std::time::Duration::from_secs(86_400));
        world.ledger.run_maintenance().await.unwrap();
        let reconciled = world.ledger.reconcile().await.unwrap();
        assert_eq!(reconciled.difference_nano, 0);
        assert!(reconciled.accounts < 8, "{reconciled:?}");
    }
}

/// Run: `cargo nextest run -p ledger --run-ignored only -E 'test(five_million)' --no-capture`
#[tokio::test]
#[ignore = "takes a minute: it measures"]
async fn a_look_takes_no_longer_with_five_million_closed_lots() {
    let world = busy_world().await;
    for lots in [0, 5_000_000] {
        if lots > 0 {
            add_closed_lots(&world, lots);
        }
        for _ in 0..3 {
            let started = tokio::time::Instant::now();
            let reconciled = world.ledger.reconcile().await.unwrap();
            println!("{lots} closed lots: {:?}, {reconciled:?}", started.elapsed());
            assert!(started.elapsed() < std::time::Duration::from_secs(1));
        }
    }
}
