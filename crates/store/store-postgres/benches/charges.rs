//! Durable charges per second, by callers that each wait for their charge before they make the
//! next.
//!
//! `cargo bench -p store-postgres -- postgres://user@host/empty_database 1024 5` for 1,024 callers
//! and 5 seconds.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a tool that prints numbers")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ledger_core::{EntryId, JournalRecord, KeyStamp, LedgerTransfer, LimitClass};
use money::Nano;
use store::conformance::fixture::{
    add_funded_owner, build_charge, build_lot, build_usage_row, key_id, record_transfer, today_at,
};
use store::usage::UsageRow;
use store::write::{StoreWrite, WriteGroup};
use store::{LedgerStore, Store};
use store_postgres::{PostgresOptions, PostgresStore};
use uuid::Uuid;

const OWNERS: u8 = 100;

/// The writes of a request through a key: a transfer, a spend, a usage row.
fn paid(number: u64, owner: u8) -> WriteGroup {
    let entry = EntryId(Uuid::from_u128(u128::from(number) << 64 | u128::from(owner) | 1 << 60));
    let stamp = KeyStamp::at(key_id(owner), today_at(0));
    let charge = LedgerTransfer { entry, key: Some(stamp), ..build_charge(0, build_lot(owner), 1) };
    let (class, amount) = (LimitClass::Usd, Nano::from_nanos(1));
    let row = UsageRow { charge: entry, ..build_usage_row(owner, today_at(0), 1) };
    let spent = StoreWrite::Journal(JournalRecord::KeySpent { stamp, class, amount });
    WriteGroup { writes: vec![record_transfer(charge), spent, StoreWrite::AddUsage(row)] }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().filter(|it| it != "--bench").collect();
    let [_, url, callers, seconds] = arguments.as_slice() else {
        println!("give the URL of an empty database, how many callers, and how many seconds");
        return;
    };
    let (callers, seconds): (u64, u64) = (callers.parse().unwrap(), seconds.parse().unwrap());
    let store =
        Arc::new(PostgresStore::connect(&PostgresOptions::new(url, "bench")).await.unwrap());
    for owner in 1..=OWNERS {
        add_funded_owner(&*store, owner).await;
    }
    let before = store.trial_balance().await.unwrap().snapshot.lots;
    let before: i128 = before.iter().map(|row| row.columns.debits).sum();
    let (numbers, made) = (Arc::new(AtomicU64::new(1)), Arc::new(AtomicU64::new(0)));
    let started = Instant::now();
    let end = started + Duration::from_secs(seconds);
    let mut calling = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let (store, numbers, made) = (Arc::clone(&store), Arc::clone(&numbers), Arc::clone(&made));
        let owner = u8::try_from(caller % u64::from(OWNERS)).unwrap() + 1;
        calling.spawn(async move {
            while Instant::now() < end {
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                store.commit(paid(number, owner)).await.unwrap();
                made.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    calling.join_all().await;
    let took = started.elapsed();
    let made = made.load(Ordering::Relaxed);
    let lots = store.trial_balance().await.unwrap().snapshot.lots;
    let charged: i128 = lots.iter().map(|row| row.columns.debits).sum::<i128>() - before;
    assert_eq!(charged, i128::from(made), "every acknowledged charge, and no other");
    println!("{callers} callers: {:.0} charges/s", made as f64 / took.as_secs_f64());
}
