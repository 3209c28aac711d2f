//! Nodes that hang, and networks that drop everything: no other node waits long for them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::conformance::fixture::{
    add_funded_owner, build_charge, build_lot, owner_id, record_transfer,
};
use store::leases::{LeaseHolder, OwnerLeases};
use store::write::WriteGroup;
use store::{AccessStore, Store};

use crate::proxy::{Cut, Proxy};
use crate::server::{client, database, store};

/// The longest time for which an owner is unavailable because a node hangs while it takes the
/// owner's lease.
const FREED_WITHIN: Duration = Duration::from_secs(9);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_hangs_while_it_takes_a_lease_holds_nobody_up() {
    let direct = database().await;
    let proxy = Proxy::start().await;
    let (one, two) = (store(&proxy.url(&direct), "one").await, store(&direct, "two").await);
    add_funded_owner(&two, 1).await;
    let begun = Instant::now();
    proxy.cut(Cut::FreezeBeforeCommit);
    one.lease_owner(owner_id(1)).await.unwrap_err();
    assert!(proxy.has_cut());
    let locked = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' \
                  AND application_name = 'tollgate one own' AND datname = current_database()";
    let locked: i64 = client(&direct).await.query_one(locked, &[]).await.unwrap().get(0);
    assert_eq!(locked, 1, "its session keeps its locks");
    let two = Arc::new(two);
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let two = Arc::clone(&two);
        waiting.spawn(async move {
            while !matches!(two.lease_owner(owner_id(1)).await, Ok(LeaseHolder::Here(_))) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
    }
    // Queries about others are answered meanwhile.
    let asked = Instant::now();
    assert!(two.owner(owner_id(1)).await.unwrap().is_some());
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    let all = tokio::time::timeout(FREED_WITHIN, waiting.join_all());
    all.await.expect("the owner should be free by now");
    println!("free after {:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_hangs_while_it_writes_is_retired_and_its_owner_taken_over() {
    let direct = database().await;
    let proxy = Proxy::start().await;
    let (one, two) = (store(&proxy.url(&direct), "one").await, store(&direct, "two").await);
    add_funded_owner(&one, 1).await;
    assert!(matches!(one.lease_owner(owner_id(1)).await.unwrap(), LeaseHolder::Here(_)));
    proxy.cut(Cut::FreezeBeforeCommit);
    let hanging =
        one.commit(WriteGroup::from_write(record_transfer(build_charge(5, build_lot(1), 300))));
    while !proxy.has_cut() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // From now on the lease of the node is not extended either.
    proxy.swallow(true);
    let begun = Instant::now();
    let taken = tokio::time::timeout(Duration::from_secs(17), async {
        loop {
            if let Ok(LeaseHolder::Here(books)) = two.lease_owner(owner_id(1)).await {
                return books;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let books = taken.await.expect("the owner should have been taken over by now");
    println!("taken over after {:?}", begun.elapsed());
    assert_eq!(books.snapshot.lots[0].columns.debits, 0, "it was never committed");
    proxy.swallow(false);
    hanging.await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_swallows_everything_is_known_to_be_away_within_three_seconds() {
    const KNOWN_WITHIN: Duration = Duration::from_secs(3);
    let direct = database().await;
    let proxy = Proxy::start().await;
    let store = store(&proxy.url(&direct), "one").await;
    add_funded_owner(&store, 1).await;
    store.confirm_reach().await.unwrap();
    proxy.swallow(true);
    tokio::time::sleep(Duration::from_millis(150)).await;
    let begun = Instant::now();
    let (reach, owner, leased) = tokio::join!(
        store.confirm_reach(),
        store.owner(owner_id(1)),
        store.lease_owner(owner_id(1)),
    );
    assert!(reach.is_err() && owner.is_err() && leased.is_err());
    assert!(begun.elapsed() < KNOWN_WITHIN, "{:?}", begun.elapsed());
    assert!(!store.can_write());
    let again = Instant::now();
    store.owner(owner_id(1)).await.unwrap_err();
    store.confirm_reach().await.unwrap_err();
    assert!(again.elapsed() < Duration::from_millis(500), "it is known: {:?}", again.elapsed());
    proxy.swallow(false);
    let back = tokio::time::timeout(Duration::from_secs(10), async {
        while store.confirm_reach().await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    back.await.expect("it is there again");
    assert!(store.owner(owner_id(1)).await.unwrap().is_some());
    store
        .commit(WriteGroup::from_write(record_transfer(build_charge(5, build_lot(1), 300))))
        .await
        .unwrap();
}
