//! Stored responses by idempotency key, sent transactions, and credits recounted after a start.

use moment::Timestamp;

use crate::Store;
use crate::conformance::Cases;
use crate::conformance::fixture::{at, done, furnish, owner_id, usage};
use crate::idempotency::{AnswerKey, KeptAnswer};
use crate::rpc::{SentTransaction, SpentCredits};
use crate::usage::UsageRow;
use crate::write::Write;

pub(crate) const CASES: Cases = &[
    ("an answer is kept by its owner and key", |store| Box::pin(kept(store))),
    ("an answer replaces the one before it, in the totals too", |store| Box::pin(replaced(store))),
    ("expired answers are dropped, a few at a time", |store| Box::pin(dropped(store))),
    ("a sent transaction is found by its hash", |store| Box::pin(sent(store))),
    ("a transaction without a hash is named later", |store| Box::pin(named(store))),
    ("credits are summed by owner and quarter of an hour", |store| Box::pin(spent(store))),
];

fn key(owner: u8, key: &str) -> AnswerKey {
    AnswerKey { owner: owner_id(owner), key: key.to_owned() }
}

fn answer(body: &[u8], expires: Timestamp) -> KeptAnswer {
    let headers = ["20", "0.00001250"].map(|value| ("x-one".to_owned(), value.to_owned())).into();
    KeptAnswer { fingerprint: [7; 32], headers, body: body.to_owned(), expires }
}

fn keep(owner: u8, name: &str, kept: KeptAnswer) -> Write {
    Write::KeepAnswer { key: key(owner, name), answer: kept }
}

async fn kept(store: &dyn Store) {
    furnish(store, 1).await;
    furnish(store, 2).await;
    done(store, vec![keep(1, "a", answer(b"{}", at(9)))]).await;
    let found = store.kept_answer(key(1, "a")).await.expect("asked");
    assert_eq!(found.answer, Some(answer(b"{}", at(9))));
    assert_eq!((found.answers, found.bytes), (1, 2));
    let other_key = store.kept_answer(key(1, "b")).await.expect("asked");
    assert_eq!((other_key.answer, other_key.answers), (None, 1));
    let other_owner = store.kept_answer(key(2, "a")).await.expect("asked");
    assert_eq!((other_owner.answer, other_owner.answers), (None, 0));
}

async fn replaced(store: &dyn Store) {
    furnish(store, 1).await;
    done(store, vec![keep(1, "a", answer(b"longer", at(9)))]).await;
    done(store, vec![keep(1, "a", answer(b"[]", at(10)))]).await;
    let found = store.kept_answer(key(1, "a")).await.expect("asked");
    assert_eq!(found.answer, Some(answer(b"[]", at(10))));
    assert_eq!((found.answers, found.bytes), (1, 2));
}

async fn dropped(store: &dyn Store) {
    furnish(store, 1).await;
    for (name, expires) in [("a", 10), ("b", 11), ("c", 20)] {
        done(store, vec![keep(1, name, answer(b"1", at(expires)))]).await;
    }
    let drop_one = || vec![Write::DropExpiredAnswers { now: at(11), rows_max: 1 }];
    done(store, drop_one()).await;
    assert_eq!(store.kept_answer(key(1, "a")).await.expect("asked").answer, None);
    assert_eq!(store.kept_answer(key(1, "b")).await.expect("asked").answers, 2);
    done(store, drop_one()).await;
    done(store, drop_one()).await;
    let left = store.kept_answer(key(1, "c")).await.expect("asked");
    assert_eq!((left.answer, left.answers, left.bytes), (Some(answer(b"1", at(20))), 1, 1));
}

async fn sent(store: &dyn Store) {
    furnish(store, 1).await;
    let transaction = |hash: Option<&str>, request: &str| SentTransaction {
        hash: hash.map(str::to_owned),
        network: "base-mainnet".into(),
        request_id: request.into(),
        owner: owner_id(1),
        at: at(5),
    };
    let rows = [(Some("0xaa"), "1"), (Some("0xbb"), "2"), (None, "3"), (Some("0xaa"), "4")];
    let rows = rows.map(|(hash, request)| transaction(hash, request));
    done(store, rows.iter().cloned().map(Write::AddSentTransaction).collect()).await;
    let found = store.sent_transactions("0xaa").await.expect("asked");
    assert_eq!(found, [rows[0].clone(), rows[3].clone()]);
    assert_eq!(store.sent_transactions("0xcc").await.expect("asked"), []);
}

async fn named(store: &dyn Store) {
    furnish(store, 1).await;
    let unnamed = |request_id: &str| SentTransaction {
        hash: None,
        network: "zksync-mainnet".to_owned(),
        request_id: request_id.to_owned(),
        owner: owner_id(1),
        at: at(1),
    };
    let add = |request_id| Write::AddSentTransaction(unnamed(request_id));
    let name =
        |hash: &str| Write::NameTransaction { request_id: "one".to_owned(), hash: hash.to_owned() };
    done(store, vec![add("other"), add("one"), add("one")]).await;
    done(store, vec![name("0xa"), name("0xb"), name("0xc")]).await;
    for (hash, count) in [("0xa", 1), ("0xb", 1), ("0xc", 0)] {
        let found = store.sent_transactions(hash).await.expect("asked");
        assert_eq!(found.len(), count, "{hash}");
        assert!(found.iter().all(|sent| sent.request_id == "one"));
    }
}

async fn spent(store: &dyn Store) {
    const QUARTER_MS: i64 = 900_000;
    furnish(store, 1).await;
    furnish(store, 2).await;
    let usage_row = |owner, ms, sku: &str, units| {
        Write::AddUsage(UsageRow { sku: sku.into(), units, ..usage(owner, at(ms), 1) })
    };
    done(store, vec![usage_row(1, 1, "crypto-rpc-bsc-testnet", 99)]).await;
    done(
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
    let row = |owner, ms, credits| SpentCredits { owner: owner_id(owner), at: at(ms), credits };
    assert_eq!(
        store.spent_credits(at(2)).await.expect("asked"),
        [row(1, QUARTER_MS, 50), row(2, QUARTER_MS, 5), row(1, 2 * QUARTER_MS, 40)]
    );
    done(store, vec![usage_row(2, 3 * QUARTER_MS - 1, "crypto-rpc-base-mainnet", 1)]).await;
    done(store, vec![usage_row(2, 2 * QUARTER_MS, "crypto-rpc-base-mainnet", 1)]).await;
    assert_eq!(
        store.spent_credits(at(2 * QUARTER_MS)).await.expect("asked"),
        [row(1, 2 * QUARTER_MS, 40), row(2, 2 * QUARTER_MS, 2)],
        "what comes later is added"
    );
    let days = |count: i64| count * 96 * QUARTER_MS;
    done(store, vec![usage_row(1, days(2) + QUARTER_MS, "crypto-rpc-base-mainnet", 6)]).await;
    assert_eq!(
        store.spent_credits(at(days(1))).await.expect("asked"),
        [row(1, days(2) + QUARTER_MS, 6)]
    );
}
