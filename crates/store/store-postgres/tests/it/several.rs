//! Several nodes on one database: sums add up, and pages miss nothing.

use std::sync::Arc;
use std::time::Duration;

use ledger_core::{LedgerAccount, SystemKind};
use store::conformance::fixture::{
    add_funded_owner, build_charge, build_lot, build_system_account, entry_id, record_transfer,
};
use store::write::WriteGroup;
use store::{EvidenceStore, LedgerStore, Store};

use crate::server::{client, database, store};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn system_accounts_of_all_nodes_are_one_in_the_books() {
    let url = database().await;
    let nodes = [Arc::new(store(&url, "one").await), Arc::new(store(&url, "two").await)];
    add_funded_owner(&*nodes[0], 1).await;
    add_funded_owner(&*nodes[1], 2).await;
    let mut writing = tokio::task::JoinSet::new();
    for (number, node) in (1u8..).zip(&nodes) {
        let node = Arc::clone(node);
        writing.spawn(async move {
            for round in 0..50u128 {
                let entry = u128::from(number) * 1_000 + round;
                let pays = record_transfer(build_charge(entry, build_lot(number), 10));
                node.commit(WriteGroup::from_write(pays)).await.unwrap();
            }
        });
    }
    while let Some(wrote) = writing.join_next().await {
        wrote.unwrap();
    }
    for node in &nodes {
        let books = node.trial_balance().await.unwrap();
        let systems = &books.snapshot.systems;
        assert_eq!(systems.len(), 2, "cash and revenue");
        let revenue = systems
            .iter()
            .find(|row| {
                LedgerAccount::System(row.account.clone())
                    == build_system_account(SystemKind::Revenue)
            })
            .unwrap();
        assert_eq!((revenue.columns.debits, revenue.columns.credits), (0, 1_000));
        let sums = systems
            .iter()
            .map(|row| row.columns)
            .chain(books.snapshot.lots.iter().map(|row| row.columns));
        let balance: i128 = sums.map(|columns| columns.credits - columns.debits).sum();
        assert_eq!(balance, 0);
    }
    let rows = "SELECT count(*) FROM account WHERE owner IS NULL";
    let rows: i64 = client(&url).await.query_one(rows, &[]).await.unwrap().get(0);
    assert_eq!(rows, 4, "each node has its own");
}

/// A number is drawn before it is committed, so a later one may be visible sooner.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_reads_on_in_the_journal_misses_nothing_that_was_under_way() {
    let url = database().await;
    let store = store(&url, "one").await;
    add_funded_owner(&store, 1).await;
    store
        .commit(WriteGroup::from_write(record_transfer(build_charge(5, build_lot(1), 1))))
        .await
        .unwrap();
    let last_seen = store.read_journal(0, 10).await.unwrap().last().unwrap().seq;
    // Another node has drawn a number, and has not committed yet.
    let slow = client(&url).await;
    let lock = 0x546F_6C6C_0001_i64;
    let draw = "INSERT INTO transfer (entry, leg, debit, credit, amount, code, at_ms) \
                SELECT $1, 0, debit, credit, 1, 5, 1 FROM transfer WHERE entry = $2";
    slow.batch_execute("BEGIN").await.unwrap();
    slow.execute("SELECT pg_advisory_xact_lock_shared($1)", &[&lock]).await.unwrap();
    let (six, five) = (entry_id(6).0, entry_id(5).0);
    assert_eq!(slow.execute(draw, &[&six, &five]).await.unwrap(), 1);
    store
        .commit(WriteGroup::from_write(record_transfer(build_charge(7, build_lot(1), 1))))
        .await
        .unwrap();
    let (page, ()) = tokio::join!(store.read_journal(last_seen, 10), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        slow.batch_execute("COMMIT").await.unwrap();
    });
    let entries: Vec<_> = page.unwrap().iter().map(|entry| entry.transfer.entry).collect();
    assert_eq!(entries, [entry_id(6), entry_id(7)]);
}

/// Pages, marks and books are read while both nodes write, and each adds up by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_books_agree_with_the_journal_at_every_moment() {
    let url = database().await;
    let nodes = [Arc::new(store(&url, "one").await), Arc::new(store(&url, "two").await)];
    add_funded_owner(&*nodes[0], 1).await;
    add_funded_owner(&*nodes[1], 2).await;
    let mut writing = tokio::task::JoinSet::new();
    for (number, node) in (1u8..).zip(&nodes) {
        let node = Arc::clone(node);
        writing.spawn(async move {
            for round in 0..300u128 {
                let entry = u128::from(number) * 1_000 + round;
                let pays = record_transfer(build_charge(entry, build_lot(number), 10));
                node.commit(WriteGroup::from_write(pays)).await.unwrap();
            }
        });
    }
    let mut looks = 0;
    while !writing.is_empty() {
        let books = nodes[looks % 2].changed_books(0).await.unwrap();
        let journal = nodes[0].read_journal(0, 10_000).await.unwrap();
        let known = journal.iter().filter(|entry| entry.seq <= books.last_seq);
        let charged: i128 = known
            .filter(|entry| entry.transfer.credit == build_system_account(SystemKind::Revenue))
            .map(|entry| i128::from(entry.transfer.amount.nanos()))
            .sum();
        let debits: i128 = books.snapshot.lots.iter().map(|row| row.columns.debits).sum();
        assert_eq!(debits, charged, "at {}", books.last_seq);
        looks += 1;
        while let Some(wrote) = writing.try_join_next() {
            wrote.unwrap();
        }
    }
    println!("{looks} looks");
    assert!(2 < looks);
    let evidence = nodes[0].read_evidence().await.unwrap();
    assert_eq!((evidence.faults, evidence.miscounts), (vec![], vec![]));
}
