//! Owners' leases: one node at a time, which reads the complete books.

use std::time::Duration;

use money::Nano;
use store::Store;
use store::conformance::fixture::{
    add_funded_owner, build_charge, build_lot, key_id, owner_id, record_transfer,
};
use store::error::StoreError;
use store::journal::LedgerBooks;
use store::leases::{LeaseHolder, OwnerLeases};
use store::write::{StoreWrite, WriteGroup};
use store_postgres::PostgresStore;

use crate::server::{client, database, store};

fn here(leased: LeaseHolder) -> LedgerBooks {
    match leased {
        LeaseHolder::Here(books) => *books,
        LeaseHolder::At { address } => panic!("it is leased to {address}"),
        LeaseHolder::Nobody => panic!("there is no such owner"),
    }
}

async fn pays(store: &PostgresStore, entry: u128, nanos: i64) -> Result<(), StoreError> {
    let stamp = ledger_core::KeyStamp { key: key_id(1), day: 1, month: 1 };
    let (class, amount) = (ledger_core::LimitClass::Usd, Nano::from_nanos(nanos));
    let spent = StoreWrite::Journal(ledger_core::JournalRecord::KeySpent { stamp, class, amount });
    let writes = vec![record_transfer(build_charge(entry, build_lot(1), nanos)), spent];
    store.commit(WriteGroup { writes }).await
}

#[tokio::test]
async fn an_owner_is_leased_to_one_node_and_handed_over_with_its_books() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    add_funded_owner(&one, 1).await;
    add_funded_owner(&one, 2).await;
    let books = here(one.lease_owner(owner_id(1)).await.unwrap());
    assert_eq!(books.snapshot.lots.iter().map(|row| row.lot).collect::<Vec<_>>(), [build_lot(1)]);
    assert_eq!(books.snapshot.systems, [], "those are nobody's");
    here(one.lease_owner(owner_id(1)).await.unwrap());
    let elsewhere = LeaseHolder::At { address: "http://one:8080".into() };
    assert_eq!(two.lease_owner(owner_id(1)).await.unwrap(), elsewhere);
    here(two.lease_owner(owner_id(2)).await.unwrap());
    pays(&one, 5, 300).await.unwrap();
    one.release_owner(owner_id(1)).await.unwrap();
    let books = here(two.lease_owner(owner_id(1)).await.unwrap());
    assert_eq!(books.snapshot.lots[0].columns.debits, 300);
    assert_eq!(books.snapshot.key_spends[0].lifetime_spent, Nano::from_nanos(300));
    let elsewhere = LeaseHolder::At { address: "http://two:8080".into() };
    assert_eq!(one.lease_owner(owner_id(1)).await.unwrap(), elsewhere);
    // A node can release only its own lease.
    one.release_owner(owner_id(1)).await.unwrap();
    assert_eq!(one.lease_owner(owner_id(1)).await.unwrap(), elsewhere);
}

#[tokio::test]
async fn the_owners_of_a_dead_node_are_taken_over_and_it_is_fenced() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    add_funded_owner(&one, 1).await;
    here(one.lease_owner(owner_id(1)).await.unwrap());
    pays(&one, 5, 300).await.unwrap();
    let expire = "UPDATE node SET expires_at = clock_timestamp() WHERE name = 'one'";
    let mut tries = 3;
    let books = loop {
        client(&url).await.execute(expire, &[]).await.unwrap();
        if let LeaseHolder::Here(books) = two.lease_owner(owner_id(1)).await.unwrap() {
            break books;
        }
        tries -= 1;
        assert!(0 < tries);
    };
    assert_eq!(books.snapshot.lots[0].columns.debits, 300);
    let error = pays(&one, 6, 1).await.unwrap_err();
    assert!(matches!(error, StoreError::Fenced), "{error}");
    let error = one.lease_owner(owner_id(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::Fenced), "{error}");
    pays(&two, 7, 1).await.unwrap();
}

#[tokio::test]
async fn a_node_that_ends_leaves_its_owners_to_others() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    add_funded_owner(&one, 1).await;
    here(one.lease_owner(owner_id(1)).await.unwrap());
    one.close().await;
    here(two.lease_owner(owner_id(1)).await.unwrap());
    let again = store(&url, "one").await;
    assert!(matches!(again.lease_owner(owner_id(1)).await.unwrap(), LeaseHolder::At { .. }));
}

/// A node that takes over an owner waits for the dead node's last transaction, and sees its writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_dead_node_still_had_under_way_is_in_the_books_that_are_handed_over() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    add_funded_owner(&one, 1).await;
    here(one.lease_owner(owner_id(1)).await.unwrap());
    let zombie = client(&url).await;
    zombie.batch_execute("BEGIN").await.unwrap();
    let fence = "SELECT 1 FROM node WHERE name = 'one' FOR KEY SHARE";
    zombie.query_one(fence, &[]).await.unwrap();
    let spend = "UPDATE account SET debits = debits + 77 WHERE owner IS NOT NULL";
    assert_eq!(zombie.execute(spend, &[]).await.unwrap(), 1);
    let expire = "UPDATE node SET expires_at = clock_timestamp() WHERE name = 'one'";
    client(&url).await.execute(expire, &[]).await.unwrap();
    let (taken, ()) = tokio::join!(two.lease_owner(owner_id(1)), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        zombie.batch_execute("COMMIT").await.unwrap();
    });
    assert_eq!(here(taken.unwrap()).snapshot.lots[0].columns.debits, 77);
}
