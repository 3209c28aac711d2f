//! Lost connections: the outcome becomes known, and everything is written once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::conformance::fixture::{
    add_funded_owner, build_charge, build_lot, entry_id, record_transfer,
};
use store::error::StoreError;
use store::write::WriteGroup;
use store::{EvidenceStore, LedgerStore, Store};

use crate::proxy::{Cut, Proxy};
use crate::server::{client, database, store};

fn pays(entry: u128) -> WriteGroup {
    WriteGroup::from_write(record_transfer(build_charge(entry, build_lot(1), 1)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_found_out_and_not_done_twice() {
    let direct = database().await;
    let proxy = Proxy::start().await;
    let store = store(&proxy.url(&direct), "one").await;
    add_funded_owner(&store, 1).await;
    for (entry, when) in
        [(5, Cut::AfterCommit), (6, Cut::BeforeCommit), (7, Cut::AfterCommit), (8, Cut::Never)]
    {
        proxy.cut(when);
        store.commit(pays(entry)).await.unwrap();
        assert!(proxy.has_cut());
        assert_eq!(store.find_transfers(entry_id(entry)).await.unwrap().len(), 1);
    }
    let again = store.commit(pays(5)).await.unwrap_err();
    assert!(matches!(again, StoreError::Duplicate(_)), "{again}");
    assert_eq!(store.load_books().await.unwrap().snapshot.lots[0].columns.debits, 4);
    // Rows are deleted when the outcome of their batches is known.
    let left = "SELECT count(*) FROM batch";
    let left: i64 = client(&direct).await.query_one(left, &[]).await.unwrap().get(0);
    assert!(left <= 1, "{left} marks");
}

/// A group that was refused gets its own error although the connection was lost before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_with_a_fault_in_it_is_told_apart_after_a_lost_connection() {
    let direct = database().await;
    let proxy = Proxy::start().await;
    let store = store(&proxy.url(&direct), "one").await;
    add_funded_owner(&store, 1).await;
    store.commit(pays(3)).await.unwrap();
    proxy.cut(Cut::AfterCommit);
    let commits: Vec<_> = (1..=5).map(|entry| store.commit(pays(entry))).collect();
    for (entry, commit) in (1..=5).zip(commits) {
        assert_eq!(commit.await.is_err(), entry == 3, "group {entry}");
    }
    assert_eq!(store.load_books().await.unwrap().snapshot.lots[0].columns.debits, 5);
}

/// A commit that was sent may be durable, so it is retried for as long as the server is away. Groups
/// behind it were never sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_behind_a_commit_of_unknown_outcome_fail_while_the_server_is_away() {
    let direct = database().await;
    let proxy = Proxy::start().await;
    let store = store(&proxy.url(&direct), "one").await;
    add_funded_owner(&store, 1).await;
    proxy.cut(Cut::FreezeBeforeCommit);
    let mut unknown = store.commit(pays(5));
    while !proxy.has_cut() {
        tokio::task::yield_now().await;
    }
    proxy.swallow(true);
    let behind = store.commit(pays(6));
    let refused = tokio::time::timeout(Duration::from_secs(30), behind).await.unwrap();
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
    tokio::time::timeout(Duration::ZERO, &mut unknown).await.expect_err("it is still unknown");
    proxy.swallow(false);
    unknown.await.unwrap();
    assert_eq!(store.find_transfers(entry_id(5)).await.unwrap().len(), 1);
    assert_eq!(store.find_transfers(entry_id(6)).await.unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_whose_session_is_ended_again_and_again_writes_everything_once() {
    const ROUNDS: u128 = 60;
    let url = database().await;
    let store = Arc::new(store(&url, "one").await);
    add_funded_owner(&*store, 1).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let (until, raw) = (Arc::clone(&is_over), client(&url).await);
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE application_name = 'tollgate one write' AND datname = current_database()";
        let mut ended = 0;
        while !until.load(Ordering::SeqCst) {
            ended += raw.query(end, &[]).await.unwrap().len();
            tokio::time::sleep(Duration::from_millis(97)).await;
        }
        ended
    });
    for round in 1..=ROUNDS {
        let entries = round * 100..round * 100 + 20;
        let commits: Vec<_> = entries.map(|entry| store.commit(pays(entry))).collect();
        for commit in commits {
            commit.await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    is_over.store(true, Ordering::SeqCst);
    let ended = tasks.join_next().await.unwrap().unwrap();
    println!("{ended} sessions ended");
    assert!(1 < ended);
    let charged = i128::try_from(ROUNDS * 20).unwrap();
    let evidence = store.read_evidence().await.unwrap();
    assert_eq!(evidence.faults, Vec::<String>::new());
    assert_eq!(evidence.books.snapshot.lots[0].columns.debits, charged);
    assert_eq!(store.read_journal(0, 10_000).await.unwrap().len(), 1 + 1_200);
}

#[tokio::test]
async fn questions_find_another_connection_when_theirs_is_gone() {
    let url = database().await;
    let store = store(&url, "one").await;
    add_funded_owner(&store, 1).await;
    assert_eq!(store.load_books().await.unwrap().snapshot.lots.len(), 1);
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE application_name = 'tollgate one read' AND datname = current_database()";
    assert!(!client(&url).await.query(end, &[]).await.unwrap().is_empty());
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(store.load_books().await.unwrap().snapshot.lots.len(), 1);
}
