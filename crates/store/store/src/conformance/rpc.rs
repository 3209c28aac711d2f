//! Stored responses by idempotency key, sent transactions, and credits recounted after a start.

use moment::Timestamp;

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    add_funded_owner, build_usage_row, commit_writes, owner_id, today_at,
};
use crate::idempotency::{StoredResponse, StoredResponseKey};
use crate::rpc::{SentTransaction, SpentCredits};
use crate::usage::UsageRow;
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("an answer is kept by its owner and key", |store| Box::pin(check_stored_response(store))),
    ("an answer replaces the one before it, in the totals too", |store| {
        Box::pin(check_replacement(store))
    }),
    ("expired answers are dropped, a few at a time", |store| Box::pin(check_deletion(store))),
    ("a sent transaction is found by its hash", |store| Box::pin(check_sent_transactions(store))),
    ("a transaction without a hash is named later", |store| {
        Box::pin(check_transaction_naming(store))
    }),
    ("credits are summed by owner and quarter of an hour", |store| {
        Box::pin(check_spent_credits(store))
    }),
];

fn build_response_key(owner: u8, key: &str) -> StoredResponseKey {
    StoredResponseKey { owner: owner_id(owner), key: key.to_owned() }
}

fn build_response(body: &[u8], expires: Timestamp) -> StoredResponse {
    let headers = ["20", "0.00001250"].map(|value| ("x-one".to_owned(), value.to_owned())).into();
    StoredResponse { fingerprint: [7; 32], headers, body: body.to_owned(), expires }
}

fn store_response(owner: u8, name: &str, kept: StoredResponse) -> StoreWrite {
    StoreWrite::KeepAnswer { key: build_response_key(owner, name), answer: kept }
}

async fn check_stored_response(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    commit_writes(store, vec![store_response(1, "a", build_response(b"{}", today_at(9)))]).await;
    let found = store.find_stored_response(build_response_key(1, "a")).await.expect("asked");
    assert_eq!(found.answer, Some(build_response(b"{}", today_at(9))));
    assert_eq!((found.answers, found.bytes), (1, 2));
    let other_key = store.find_stored_response(build_response_key(1, "b")).await.expect("asked");
    assert_eq!((other_key.answer, other_key.answers), (None, 1));
    let other_owner = store.find_stored_response(build_response_key(2, "a")).await.expect("asked");
    assert_eq!((other_owner.answer, other_owner.answers), (None, 0));
}

async fn check_replacement(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(store, vec![store_response(1, "a", build_response(b"longer", today_at(9)))])
        .await;
    commit_writes(store, vec![store_response(1, "a", build_response(b"[]", today_at(10)))]).await;
    let found = store.find_stored_response(build_response_key(1, "a")).await.expect("asked");
    assert_eq!(found.answer, Some(build_response(b"[]", today_at(10))));
    assert_eq!((found.answers, found.bytes), (1, 2));
}

async fn check_deletion(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    for (name, expires) in [("a", 10), ("b", 11), ("c", 20)] {
        commit_writes(
            store,
            vec![store_response(1, name, build_response(b"1", today_at(expires)))],
        )
        .await;
    }
    let drop_one = || vec![StoreWrite::DropExpiredAnswers { now: today_at(11), rows_max: 1 }];
    commit_writes(store, drop_one()).await;
    assert_eq!(
        store.find_stored_response(build_response_key(1, "a")).await.expect("asked").answer,
        None
    );
    assert_eq!(
        store.find_stored_response(build_response_key(1, "b")).await.expect("asked").answers,
        2
    );
    commit_writes(store, drop_one()).await;
    commit_writes(store, drop_one()).await;
    let left = store.find_stored_response(build_response_key(1, "c")).await.expect("asked");
    assert_eq!(
        (left.answer, left.answers, left.bytes),
        (Some(build_response(b"1", today_at(20))), 1, 1)
    );
}

async fn check_sent_transactions(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let transaction = |hash: Option<&str>, request: &str| SentTransaction {
        hash: hash.map(str::to_owned),
        network: "base-mainnet".into(),
        request_id: request.into(),
        owner: owner_id(1),
        at: today_at(5),
    };
    let rows = [(Some("0xaa"), "1"), (Some("0xbb"), "2"), (None, "3"), (Some("0xaa"), "4")];
    let rows = rows.map(|(hash, request)| transaction(hash, request));
    commit_writes(store, rows.iter().cloned().map(StoreWrite::AddSentTransaction).collect()).await;
    let found = store.sent_transactions("0xaa").await.expect("asked");
    assert_eq!(found, [rows[0].clone(), rows[3].clone()]);
    assert_eq!(store.sent_transactions("0xcc").await.expect("asked"), []);
}

async fn check_transaction_naming(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let unnamed = |request_id: &str| SentTransaction {
        hash: None,
        network: "zksync-mainnet".to_owned(),
        request_id: request_id.to_owned(),
        owner: owner_id(1),
        at: today_at(1),
    };
    let add = |request_id| StoreWrite::AddSentTransaction(unnamed(request_id));
    let name = |hash: &str| StoreWrite::NameTransaction {
        request_id: "one".to_owned(),
        hash: hash.to_owned(),
    };
    commit_writes(store, vec![add("other"), add("one"), add("one")]).await;
    commit_writes(store, vec![name("0xa"), name("0xb"), name("0xc")]).await;
    for (hash, count) in [("0xa", 1), ("0xb", 1), ("0xc", 0)] {
        let found = store.sent_transactions(hash).await.expect("asked");
        assert_eq!(found.len(), count, "{hash}");
        assert!(found.iter().all(|sent| sent.request_id == "one"));
    }
}

async fn check_spent_credits(store: &dyn Store) {
    const QUARTER_MS: i64 = 900_000;
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    let usage_row = |owner, ms, sku: &str, units| {
        StoreWrite::AddUsage(UsageRow {
            sku: sku.into(),
            units,
            ..build_usage_row(owner, today_at(ms), 1)
        })
    };
    commit_writes(store, vec![usage_row(1, 1, "crypto-rpc-bsc-testnet", 99)]).await;
    commit_writes(
        store,
        vec![
            usage_row(1, QUARTER_MS, "crypto-rpc-base-mainnet", 20),
            usage_row(1, QUARTER_MS + 1, "llama-output-mtoken", 7),
            usage_row(2, QUARTER_MS + 2, "crypto-rpc-base-mainnet", 5),
            usage_row(1, 2 * QUARTER_MS - 1, "crypto-rpc-zksync-mainnet", 30),
            usage_row(1, 2 * QUARTER_MS, "crypto-rpc-base-mainnet", 40),
        ],
    )
    .await;
    let row =
        |owner, ms, credits| SpentCredits { owner: owner_id(owner), at: today_at(ms), credits };
    assert_eq!(
        store.spent_credits(today_at(2)).await.expect("asked"),
        [row(1, QUARTER_MS, 50), row(2, QUARTER_MS, 5), row(1, 2 * QUARTER_MS, 40)]
    );
    commit_writes(store, vec![usage_row(2, 3 * QUARTER_MS - 1, "crypto-rpc-base-mainnet", 1)])
        .await;
    commit_writes(store, vec![usage_row(2, 2 * QUARTER_MS, "crypto-rpc-base-mainnet", 1)]).await;
    assert_eq!(
        store.spent_credits(today_at(2 * QUARTER_MS)).await.expect("asked"),
        [row(1, 2 * QUARTER_MS, 40), row(2, 2 * QUARTER_MS, 2)],
        "what comes later is added"
    );
    let days = |count: i64| count * 96 * QUARTER_MS;
    commit_writes(store, vec![usage_row(1, days(2) + QUARTER_MS, "crypto-rpc-base-mainnet", 6)])
        .await;
    assert_eq!(
        store.spent_credits(today_at(days(1))).await.expect("asked"),
        [row(1, days(2) + QUARTER_MS, 6)]
    );
}
