//! Groups: all or nothing, each by itself, in order.

use crate::Store;
use crate::conformance::Cases;
use crate::conformance::fixture::{
    charge, done, entry_id, furnish, lot, owner, owner_id, refused, top_up, transfer,
};
use crate::error::StoreError;
use crate::write::{Group, Write};

pub(crate) const CASES: Cases = &[
    ("a group that fails leaves no trace of itself", |store| Box::pin(whole(store))),
    ("a group that fails does not take its neighbours along", |store| Box::pin(alone(store))),
    ("groups are written in the order they were handed in", |store| Box::pin(ordered(store))),
    ("a group whose waiter has gone is written all the same", |store| Box::pin(dropped(store))),
];

async fn whole(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1))]).await;
    let setting = Write::AddSetting { name: "half".into(), value: vec![1] };
    let error = refused(store, vec![setting, Write::AddOwner(owner(1))]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    assert_eq!(store.setting("half").await.expect("asked"), None);
}

async fn alone(store: &dyn Store) {
    furnish(store, 1).await;
    let overdraft = transfer(charge(50, lot(1), 2_000_000_000));
    let mut commits = Vec::new();
    for number in 0..100 {
        let pays = transfer(charge(100 + number, lot(1), 1_000));
        let writes = if number % 10 == 3 { vec![pays, overdraft.clone()] } else { vec![pays] };
        commits.push(store.commit(Group { writes }));
    }
    for (number, commit) in (0..100).zip(commits) {
        let outcome = commit.await;
        let is_overdraft = number % 10 == 3;
        assert_eq!(outcome.is_err(), is_overdraft, "group {number}: {outcome:?}");
        let written = store.transfers(entry_id(100 + number)).await.expect("asked");
        assert_eq!(written.is_empty(), is_overdraft, "group {number}");
    }
    let snapshot = store.load().await.expect("asked").snapshot;
    assert_eq!(snapshot.lots[0].columns.debits, 90 * 1_000);
}

async fn ordered(store: &dyn Store) {
    furnish(store, 1).await;
    let commits: Vec<_> = (0..500)
        .map(|number| {
            let pays = transfer(charge(1_000 + number, lot(1), 1));
            store.commit(Group { writes: vec![pays] })
        })
        .collect();
    for commit in commits {
        commit.await.expect("the group should be written");
    }
    let entries = store.journal(0, 1_000).await.expect("asked");
    let charged: Vec<_> = entries.iter().skip(1).map(|entry| entry.transfer.entry).collect();
    assert_eq!(charged, (0..500).map(|number| entry_id(1_000 + number)).collect::<Vec<_>>());
}

async fn dropped(store: &dyn Store) {
    furnish(store, 1).await;
    drop(store.commit(Group { writes: vec![transfer(top_up(7, lot(1), 5))] }));
    // A later group is written after the dropped one, or with it.
    done(store, vec![Write::SetTier { owner: owner_id(1), tier: "partner".into() }]).await;
    assert_eq!(store.transfers(entry_id(7)).await.expect("asked").len(), 1);
}
