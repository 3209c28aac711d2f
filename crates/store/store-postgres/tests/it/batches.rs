//! Batches: in order, each group by itself, and split when one is at fault.

use std::sync::Arc;

use store::conformance::fixture::{
    add_funded_owner, add_key, build_charge, build_key, build_lot, build_owner, entry_id,
    expect_refusal, record_transfer, top_up,
};
use store::error::StoreError;
use store::key::KeySettings;
use store::write::{StoreWrite, WriteGroup};
use store::{AccessStore, LedgerStore, Store};
use store_postgres::PostgresStore;

use crate::server::{client, database, store};

fn pays(entry: u128) -> WriteGroup {
    WriteGroup::from_write(record_transfer(build_charge(entry, build_lot(1), 1)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_of_many_callers_keep_the_order_of_each() {
    const CALLERS: u128 = 20;
    const EACH: u128 = 50;
    let store = Arc::new(store(&database().await, "one").await);
    add_funded_owner(&*store, 1).await;
    let mut callers = tokio::task::JoinSet::new();
    for caller in 1..=CALLERS {
        let store: Arc<PostgresStore> = Arc::clone(&store);
        callers.spawn(async move {
            let mut commits = Vec::new();
            for number in 0..EACH {
                commits.push(store.commit(pays(caller * 1_000 + number)));
                if number % 7 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            for commit in commits {
                commit.await.unwrap();
            }
        });
    }
    while let Some(caller) = callers.join_next().await {
        caller.unwrap();
    }
    let journal = store.read_journal(0, 10_000).await.unwrap();
    assert_eq!(journal.len(), 1_001);
    for caller in 1..=CALLERS {
        let expected: Vec<_> = (0..EACH).map(|it| entry_id(caller * 1_000 + it)).collect();
        let mine = journal.iter().map(|entry| entry.transfer.entry);
        let mine: Vec<_> = mine.filter(|entry| expected.contains(entry)).collect();
        assert_eq!(mine, expected, "caller {caller}");
    }
    assert_eq!(store.queued_groups(), 0);
}

#[tokio::test]
async fn a_duplicate_in_a_batch_fails_alone_and_as_a_duplicate() {
    let store = store(&database().await, "one").await;
    add_funded_owner(&store, 1).await;
    store.commit(pays(50)).await.unwrap();
    let commits: Vec<_> = (1..=200).map(|number| store.commit(pays(number))).collect();
    for (number, commit) in (1..=200).zip(commits) {
        match commit.await {
            Ok(()) => assert_ne!(number, 50),
            Err(StoreError::Duplicate(_)) => assert_eq!(number, 50),
            Err(error) => panic!("group {number}: {error}"),
        }
    }
    let lots = store.load_books().await.unwrap().snapshot.lots;
    assert_eq!(lots[0].columns.debits, 200);
    assert_eq!(store.read_journal(0, 1_000).await.unwrap().len(), 201);
}

#[tokio::test]
async fn errors_mean_the_same_as_on_sqlite() {
    let store = store(&database().await, "one").await;
    add_funded_owner(&store, 1).await;
    let never_opened = vec![record_transfer(top_up(5, build_lot(2), 10))];
    let error = expect_refusal(&store, never_opened).await;
    assert!(matches!(error, StoreError::Missing("the lot was never opened")), "{error}");
    let closed = StoreWrite::Journal(ledger_core::JournalRecord::LotClosed { lot: build_lot(2) });
    let error = expect_refusal(&store, vec![closed]).await;
    assert!(matches!(error, StoreError::Missing("the lot was never opened")), "{error}");
    let overflow = vec![record_transfer(top_up(6, build_lot(1), i64::MAX))];
    let error = expect_refusal(&store, overflow).await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    let error = expect_refusal(&store, vec![StoreWrite::AddOwner(build_owner(1))]).await;
    assert!(!error.to_string().contains("owner-1"), "values of rows are not told: {error}");
}

#[tokio::test]
async fn a_character_that_postgres_cannot_keep_is_replaced() {
    let store = store(&database().await, "one").await;
    let settings = KeySettings { description: "a\0b".into(), ..build_key(1).settings };
    let key = store::key::ApiKey { settings, ..build_key(1) };
    let writes = vec![StoreWrite::AddOwner(build_owner(1)), add_key(key.clone())];
    store.commit(WriteGroup { writes }).await.unwrap();
    let (found, _) = store.find_key(key.digest).await.unwrap().unwrap();
    assert_eq!(found.settings.description, "a\u{fffd}b");
}

#[tokio::test]
async fn the_journal_and_the_audit_trail_cannot_be_changed_even_by_hand() {
    let url = database().await;
    let store = store(&url, "one").await;
    add_funded_owner(&store, 1).await;
    let raw = client(&url).await;
    for sql in [
        "UPDATE transfer SET amount = 1",
        "DELETE FROM transfer",
        "TRUNCATE transfer",
        "DELETE FROM audit",
    ] {
        let error = raw.batch_execute(sql).await.unwrap_err();
        let said = error.as_db_error().unwrap().message();
        assert!(said.contains("only added to"), "{sql}: {said}");
    }
    raw.batch_execute("ALTER TABLE transfer DISABLE TRIGGER ALL").await.unwrap();
    let faults = store::EvidenceStore::read_evidence(&store).await.unwrap().faults;
    assert_eq!(faults, ["the trigger transfer_never_changes is missing or switched off"]);
}

#[tokio::test]
async fn a_backup_is_left_to_the_tools_of_postgres() {
    let store = store(&database().await, "one").await;
    let to = std::path::Path::new("copy");
    let error = store.backup(to, moment::Timestamp::from_ms(0)).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Unsuitable(words) if words.contains("pg_dump")),
        "{error}"
    );
}
