//! The stored sums that verification compares with the journal.

use ledger_core::{AllowanceKind, JournalRecord, LimitPeriod};
use money::{BalanceCurrency, Nano};

use crate::Store;
use crate::audit::AuditEntry;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    TODAY, add_funded_owner, add_key, build_charge, build_key, build_lot, build_usage_row,
    commit_writes, entry_id, key_id, owner_id, record_transfer, today_at,
};
use crate::evidence::{AllowanceSet, UsageMark, UsagePart, UsageSum};
use crate::key::{ApiKey, KeySettings};
use crate::usage_digest::{DigestCheck, digest_usage_row};
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("a new store finds nothing wrong with itself", |store| Box::pin(check_new_store(store))),
    ("usage is told by owner, by day and row by row", |store| {
        Box::pin(check_usage_evidence(store))
    }),
    ("allowances are told in the order they were set", |store| Box::pin(check_allowances(store))),
    ("a key has its limits since they were last changed", |store| {
        Box::pin(check_key_limits(store))
    }),
    ("the audit trail is read on from any row", |store| Box::pin(check_audit_trail(store))),
    ("sums of usage are what its rows come to", |store| Box::pin(check_usage_sums(store))),
];

async fn check_new_store(store: &dyn Store) {
    let evidence = store.read_evidence().await.expect("asked");
    assert_eq!(evidence.faults, [""; 0]);
    assert_eq!((evidence.books.last_seq, evidence.usage_last_seq), (0, 0));
}

async fn check_usage_evidence(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let row = build_usage_row(1, today_at(5), 250);
    commit_writes(
        store,
        vec![
            record_transfer(build_charge(5, build_lot(1), 250)),
            StoreWrite::AddUsage(row.clone()),
        ],
    )
    .await;
    let evidence = store.read_evidence().await.expect("asked");
    let (currency, amount) = (BalanceCurrency::Usd, Nano::from_nanos(250));
    let sum = |part| UsageSum { part, currency, amount };
    let sums = [sum(UsagePart::Owner(owner_id(1))), sum(UsagePart::Day(TODAY))];
    assert_eq!(evidence.usage_sums, sums);
    let marks = store.usage_marks(0, 10).await.expect("asked");
    let seq = evidence.usage_last_seq;
    assert_eq!(marks, [UsageMark::of_row(seq, &row, Some(digest_usage_row(&row)))]);
    assert_eq!(marks[0].digest, DigestCheck::Matching);
    assert_eq!(store.usage_marks(seq, 10).await.expect("asked"), []);
}

async fn check_allowances(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let (owner, kind) = (owner_id(1), AllowanceKind::DiemDaily);
    let set = |number, nanos, ms| {
        let (entry, amount) = (entry_id(number), Nano::from_nanos(nanos));
        StoreWrite::Journal(JournalRecord::AllowanceSet {
            entry,
            owner,
            kind,
            amount,
            at: today_at(ms),
        })
    };
    commit_writes(store, vec![set(9, 50, 1), set(3, 70, 2)]).await;
    let told = |nanos| AllowanceSet { owner, kind, amount: Nano::from_nanos(nanos) };
    assert_eq!(store.read_evidence().await.expect("asked").allowances, [told(50), told(70)]);
}

async fn check_key_limits(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let limited = |limit_usd| KeySettings {
        limit_usd: Some(Nano::from_units(limit_usd)),
        limit_period: LimitPeriod::Month,
        ..build_key(2).settings
    };
    let digest = domain::secret::SecretDigest([2; 32]);
    let second = ApiKey { owner: owner_id(1), settings: limited(5), digest, ..build_key(2) };
    commit_writes(store, vec![add_key(second.clone())]).await;
    let since = || async {
        let keys = store.read_evidence().await.expect("asked").limited_keys;
        let found = keys.into_iter().find(|it| it.key() == key_id(2)).expect("it has a limit");
        assert_eq!(found.created, second.created);
        (found.terms.limit_usd, found.since)
    };
    assert_eq!(since().await, (Some(Nano::from_units(5)), second.created));
    let change = |settings, ms| StoreWrite::ChangeKey {
        owner: owner_id(1),
        key: key_id(2),
        settings,
        at: today_at(ms),
    };
    let renamed = KeySettings { description: "renamed".into(), ..limited(5) };
    commit_writes(store, vec![change(renamed, 70)]).await;
    assert_eq!(since().await, (Some(Nano::from_units(5)), second.created));
    commit_writes(store, vec![change(limited(6), 80)]).await;
    assert_eq!(since().await, (Some(Nano::from_units(6)), today_at(80)));
}

async fn check_audit_trail(store: &dyn Store) {
    let entry = |subject: &str| AuditEntry {
        at: today_at(1),
        actor: "root".into(),
        action: "ledger credit".into(),
        subject: subject.into(),
        detail: "5 USD".into(),
    };
    let subjects = ["a", "b", "c"];
    commit_writes(store, subjects.map(|subject| StoreWrite::AddAudit(entry(subject))).to_vec())
        .await;
    let first = store.audit_after(0, 2).await.expect("asked");
    assert_eq!(first.iter().map(|row| &row.entry).collect::<Vec<_>>(), [&entry("a"), &entry("b")]);
    let rest = store.audit_after(first[1].seq, 10).await.expect("asked");
    assert_eq!(rest.iter().map(|row| &row.entry).collect::<Vec<_>>(), [&entry("c")]);
    assert_eq!(store.audit_after(rest[0].seq, 10).await.expect("asked"), []);
}

async fn check_usage_sums(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    let row = |number, ms, sku: &str| {
        StoreWrite::AddUsage(crate::usage::UsageRow {
            sku: sku.into(),
            ..build_usage_row(number, today_at(ms), 7)
        })
    };
    let of_a_wallet = crate::usage::UsageRow { key: None, ..build_usage_row(1, today_at(3), 9) };
    let rows = vec![row(1, 1, "crypto-rpc-base-mainnet"), row(2, 2, "llama-output-mtoken")];
    commit_writes(store, rows).await;
    commit_writes(
        store,
        vec![StoreWrite::AddUsage(of_a_wallet), row(1, 4, "crypto-rpc-base-mainnet")],
    )
    .await;
    assert_eq!(store.read_evidence().await.expect("asked").miscounts, [""; 0]);
}
