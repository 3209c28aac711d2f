//! Groups: all or nothing, each by itself, in order.

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    add_funded_owner, build_charge, build_lot, build_owner, commit_writes, entry_id,
    expect_refusal, owner_id, record_transfer, top_up,
};
use crate::error::StoreError;
use crate::write::{StoreWrite, WriteGroup};

pub(crate) const CASES: CaseTable = &[
    ("a group that fails leaves no trace of itself", |store| Box::pin(check_atomic_group(store))),
    ("a group that fails does not take its neighbours along", |store| {
        Box::pin(check_group_isolation(store))
    }),
    ("groups are written in the order they were handed in", |store| {
        Box::pin(check_group_order(store))
    }),
    ("a group whose waiter has gone is written all the same", |store| {
        Box::pin(check_dropped_waiter(store))
    }),
];

async fn check_atomic_group(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1))]).await;
    let setting = StoreWrite::AddSetting { name: "half".into(), value: vec![1] };
    let error = expect_refusal(store, vec![setting, StoreWrite::AddOwner(build_owner(1))]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    assert_eq!(store.setting("half").await.expect("asked"), None);
}

async fn check_group_isolation(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let overdraft = record_transfer(build_charge(50, build_lot(1), 2_000_000_000));
    let mut commits = Vec::new();
    for number in 0..100 {
        let pays = record_transfer(build_charge(100 + number, build_lot(1), 1_000));
        let writes = if number % 10 == 3 { vec![pays, overdraft.clone()] } else { vec![pays] };
        commits.push(store.commit(WriteGroup { writes }));
    }
    for (number, commit) in (0..100).zip(commits) {
        let outcome = commit.await;
        let is_overdraft = number % 10 == 3;
        assert_eq!(outcome.is_err(), is_overdraft, "group {number}: {outcome:?}");
        let written = store.find_transfers(entry_id(100 + number)).await.expect("asked");
        assert_eq!(written.is_empty(), is_overdraft, "group {number}");
    }
    let snapshot = store.load_books().await.expect("asked").snapshot;
    assert_eq!(snapshot.lots[0].columns.debits, 90 * 1_000);
}

async fn check_group_order(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let commits: Vec<_> = (0..500)
        .map(|number| {
            let pays = record_transfer(build_charge(1_000 + number, build_lot(1), 1));
            store.commit(WriteGroup { writes: vec![pays] })
        })
        .collect();
    for commit in commits {
        commit.await.expect("the group should be written");
    }
    let entries = store.read_journal(0, 1_000).await.expect("asked");
    let charged: Vec<_> = entries.iter().skip(1).map(|entry| entry.transfer.entry).collect();
    assert_eq!(charged, (0..500).map(|number| entry_id(1_000 + number)).collect::<Vec<_>>());
}

async fn check_dropped_waiter(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    drop(store.commit(WriteGroup { writes: vec![record_transfer(top_up(7, build_lot(1), 5))] }));
    // A later group is written after the dropped one, or with it.
    commit_writes(store, vec![StoreWrite::SetTier { owner: owner_id(1), tier: "partner".into() }])
        .await;
    assert_eq!(store.find_transfers(entry_id(7)).await.expect("asked").len(), 1);
}
