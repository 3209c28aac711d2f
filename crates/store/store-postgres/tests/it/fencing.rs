//! A node that was declared dead writes nothing.

use std::time::{Duration, Instant};

use store::Store;
use store::error::StoreError;
use store::leases::{LeaseHolder, OwnerLeases};
use store::write::{StoreWrite, WriteGroup};
use store_postgres::{LeaseState, PostgresStore, RegisteredNode};

use crate::server::{client, database, server, store};

fn setting(name: &str) -> WriteGroup {
    WriteGroup::from_write(StoreWrite::PutSetting { name: name.into(), value: vec![1] })
}

fn state(store: &PostgresStore) -> LeaseState {
    *store.lease().borrow()
}

/// Ends the lease of a node as if it had not been extended for long.
async fn expire(url: &str, name: &str) {
    let sql = "UPDATE node SET expires_at = clock_timestamp() - interval '1 second' \
               WHERE name = $1";
    assert_eq!(client(url).await.execute(sql, &[&name]).await.unwrap(), 1);
}

async fn wait_for(store: &PostgresStore, wanted: LeaseState, at_most: Duration) {
    let mut lease = store.lease();
    let reached = lease.wait_for(|state| *state == wanted);
    let reached = tokio::time::timeout(at_most, reached).await;
    assert!(reached.is_ok(), "it should be {wanted:?} by now, and is {:?}", state(store));
}

#[tokio::test]
async fn a_node_whose_lease_ran_out_writes_nothing_until_it_is_extended() {
    let url = database().await;
    let store = store(&url, "one").await;
    let mut fenced = 0;
    for number in 0..3 {
        expire(&url, "one").await;
        match store.commit(setting(&number.to_string())).await {
            Err(StoreError::Fenced) => fenced += 1,
            // The lease was extended just in between.
            Ok(()) => continue,
            Err(error) => panic!("{error}"),
        }
        assert_eq!(store.setting(&number.to_string()).await.unwrap(), None);
    }
    assert!(0 < fenced);
    // No node has replaced it, so the next extension renews its lease.
    tokio::time::sleep(Duration::from_secs(4)).await;
    store.commit(setting("after")).await.unwrap();
    assert_eq!(state(&store), LeaseState::Held);
}

#[tokio::test]
async fn a_retired_node_writes_nothing_though_it_believes_in_its_lease() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    one.commit(setting("before")).await.unwrap();
    assert_eq!(two.retire_expired().await.unwrap(), 0);
    retire(&url, &two).await;
    assert_eq!(state(&one), LeaseState::Held, "it has not heard of it");
    let error = one.commit(setting("zombie")).await.unwrap_err();
    assert!(matches!(error, StoreError::Fenced), "{error}");
    assert_eq!(two.setting("zombie").await.unwrap(), None);
    assert_eq!(two.retire_expired().await.unwrap(), 0, "once is enough");
    wait_for(&one, LeaseState::Retired, Duration::from_secs(4)).await;
    assert!(one.is_retired() && !one.can_write());
    let error = one.commit(setting("zombie")).await.unwrap_err();
    assert!(matches!(error, StoreError::Fenced), "{error}");
    two.commit(setting("others")).await.unwrap();
    let nodes = two.nodes().await.unwrap();
    let told: Vec<_> = nodes.iter().map(|node| (node.name.as_str(), node.is_live)).collect();
    assert_eq!(told, [("one", false), ("two", true)]);
}

#[tokio::test]
async fn a_process_of_the_same_name_takes_the_place_of_the_one_before() {
    let url = database().await;
    let killed = store(&url, "one").await;
    killed.commit(setting("before")).await.unwrap();
    let again = store(&url, "one").await;
    assert_eq!(again.node(), killed.node());
    again.commit(setting("after")).await.unwrap();
    let error = killed.commit(setting("zombie")).await.unwrap_err();
    assert!(matches!(error, StoreError::Fenced), "{error}");
    wait_for(&killed, LeaseState::Lost, Duration::from_secs(4)).await;
    // When the older process ends, the newer one keeps its lease.
    killed.close().await;
    again.commit(setting("still")).await.unwrap();
    let RegisteredNode { name, address, is_live, .. } = again.nodes().await.unwrap().remove(0);
    assert_eq!((name.as_str(), address.as_str(), is_live), ("one", "http://one:8080", true));
}

#[tokio::test]
async fn a_lease_that_was_given_back_can_be_seen_to_be() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    one.close().await;
    let nodes = two.nodes().await.unwrap();
    assert_eq!(nodes.iter().map(|node| node.is_live).collect::<Vec<_>>(), [false, true]);
}

/// Retiring waits for a transaction in progress, and nothing after it is written.
#[tokio::test]
async fn retiring_a_node_waits_for_what_it_has_under_way() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    let zombie = client(&url).await;
    let fence = "SELECT epoch FROM node WHERE name = 'one' FOR KEY SHARE";
    zombie.batch_execute("BEGIN").await.unwrap();
    zombie.query_one(fence, &[]).await.unwrap();
    expire(&url, "one").await;
    let retired = tokio::time::timeout(Duration::from_millis(300), two.retire_expired()).await;
    assert!(retired.is_err(), "somebody holds the row");
    zombie.batch_execute("COMMIT").await.unwrap();
    drop(one);
}

/// Its own clock shows it, in time and without an answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_its_database_knows_that_its_lease_has_lapsed() {
    let store = store(&database().await, "one").await;
    store.commit(setting("before")).await.unwrap();
    // Just extended, or just registered.
    let started = Instant::now();
    server().stop("immediate");
    let stopped = Instant::now();
    wait_for(&store, LeaseState::Lapsed, Duration::from_secs(13)).await;
    let took = started.elapsed();
    assert!(Duration::from_secs(8) < took, "it gave up after {took:?}");
    assert!(stopped.elapsed() < Duration::from_millis(12_500), "it noticed after {took:?}");
    let waiting = store.commit(setting("meanwhile"));
    server().start();
    waiting.await.unwrap();
    wait_for(&store, LeaseState::Held, Duration::from_secs(10)).await;
    assert!(store.setting("before").await.unwrap().is_some());
    assert!(store.setting("meanwhile").await.unwrap().is_some());
}

#[tokio::test]
async fn a_retired_node_registers_again_and_begins_without_leases() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    store::conformance::fixture::add_funded_owner(&one, 1).await;
    let owner = store::conformance::fixture::owner_id(1);
    assert!(matches!(one.lease_owner(owner).await.unwrap(), LeaseHolder::Here(_)));
    retire(&url, &two).await;
    assert!(matches!(two.lease_owner(owner).await.unwrap(), LeaseHolder::Here(_)));
    wait_for(&one, LeaseState::Retired, Duration::from_secs(4)).await;
    one.register_again().await.unwrap();
    assert_eq!(state(&one), LeaseState::Held);
    one.commit(setting("again")).await.unwrap();
    one.confirm_reach().await.unwrap();
    assert!(matches!(one.lease_owner(owner).await.unwrap(), LeaseHolder::At { .. }));
    // Its lease is extended again.
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(state(&one), LeaseState::Held);
    one.commit(setting("later")).await.unwrap();
}

#[tokio::test]
async fn a_node_whose_name_another_process_has_does_not_come_back() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    retire(&url, &two).await;
    wait_for(&one, LeaseState::Retired, Duration::from_secs(4)).await;
    let heir = store(&url, "one").await;
    let error = one.register_again().await.unwrap_err();
    assert!(matches!(error, StoreError::Occupied { .. }), "{error}");
    assert_eq!(state(&one), LeaseState::Lost);
    heir.commit(setting("heir")).await.unwrap();
    let error = one.commit(setting("zombie")).await.unwrap_err();
    assert!(matches!(error, StoreError::Fenced), "{error}");
}

/// Makes the second node declare the first one dead.
async fn retire(url: &str, two: &PostgresStore) {
    let mut tries = 3;
    while {
        expire(url, "one").await;
        two.retire_expired().await.unwrap() == 0
    } {
        tries -= 1;
        assert!(0 < tries);
    }
}
