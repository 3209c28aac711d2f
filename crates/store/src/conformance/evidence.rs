//! The stored sums that verification compares with the journal.

use credits::{AllowanceKind, LimitPeriod, Record};
use money::{Currency, Nano};

use crate::Store;
use crate::audit::AuditEntry;
use crate::conformance::Cases;
use crate::conformance::fixture::{
    TODAY, add_key, at, charge, done, entry_id, furnish, key, key_id, lot, owner_id, transfer,
    usage,
};
use crate::evidence::{AllowanceSet, UsageMark, UsagePart, UsageSum};
use crate::key::{ApiKey, KeySettings};
use crate::usage_digest::{DigestCheck, digest_usage_row};
use crate::write::Write;

pub(crate) const CASES: Cases = &[
    ("a new store finds nothing wrong with itself", |store| Box::pin(sound(store))),
    ("usage is told by owner, by day and row by row", |store| Box::pin(usage_told(store))),
    ("allowances are told in the order they were set", |store| Box::pin(allowances(store))),
    ("a key has its limits since they were last changed", |store| Box::pin(limits(store))),
    ("the audit trail is read on from any row", |store| Box::pin(audited(store))),
    ("sums of usage are what its rows come to", |store| Box::pin(recounted(store))),
];

async fn sound(store: &dyn Store) {
    let evidence = store.evidence().await.expect("asked");
    assert_eq!(evidence.faults, [""; 0]);
    assert_eq!((evidence.books.last_seq, evidence.usage_last_seq), (0, 0));
}

async fn usage_told(store: &dyn Store) {
    furnish(store, 1).await;
    let row = usage(1, at(5), 250);
    done(store, vec![transfer(charge(5, lot(1), 250)), Write::AddUsage(row.clone())]).await;
    let evidence = store.evidence().await.expect("asked");
    let (currency, amount) = (Currency::Usd, Nano::from_nanos(250));
    let sum = |part| UsageSum { part, currency, amount };
    let sums = [sum(UsagePart::Owner(owner_id(1))), sum(UsagePart::Day(TODAY))];
    assert_eq!(evidence.usage_sums, sums);
    let marks = store.usage_marks(0, 10).await.expect("asked");
    let seq = evidence.usage_last_seq;
    assert_eq!(marks, [UsageMark::of_row(seq, &row, Some(digest_usage_row(&row)))]);
    assert_eq!(marks[0].digest, DigestCheck::Matching);
    assert_eq!(store.usage_marks(seq, 10).await.expect("asked"), []);
}

async fn allowances(store: &dyn Store) {
    furnish(store, 1).await;
    let (owner, kind) = (owner_id(1), AllowanceKind::DiemDaily);
    let set = |number, nanos, ms| {
        let (entry, amount) = (entry_id(number), Nano::from_nanos(nanos));
        Write::Journal(Record::AllowanceSet { entry, owner, kind, amount, at: at(ms) })
    };
    done(store, vec![set(9, 50, 1), set(3, 70, 2)]).await;
    let told = |nanos| AllowanceSet { owner, kind, amount: Nano::from_nanos(nanos) };
    assert_eq!(store.evidence().await.expect("asked").allowances, [told(50), told(70)]);
}

async fn limits(store: &dyn Store) {
    furnish(store, 1).await;
    let limited = |limit_usd| KeySettings {
        limit_usd: Some(Nano::from_units(limit_usd)),
        limit_period: LimitPeriod::Month,
        ..key(2).settings
    };
    let digest = domain::secret::SecretDigest([2; 32]);
    let second = ApiKey { owner: owner_id(1), settings: limited(5), digest, ..key(2) };
    done(store, vec![add_key(second.clone())]).await;
    let since = || async {
        let keys = store.evidence().await.expect("asked").limited_keys;
        let found = keys.into_iter().find(|it| it.key() == key_id(2)).expect("it has a limit");
        assert_eq!(found.created, second.created);
        (found.terms.limit_usd, found.since)
    };
    assert_eq!(since().await, (Some(Nano::from_units(5)), second.created));
    let change = |settings, ms| Write::ChangeKey {
        owner: owner_id(1),
        key: key_id(2),
        settings,
        at: at(ms),
    };
    let renamed = KeySettings { description: "renamed".into(), ..limited(5) };
    done(store, vec![change(renamed, 70)]).await;
    assert_eq!(since().await, (Some(Nano::from_units(5)), second.created));
    done(store, vec![change(limited(6), 80)]).await;
    assert_eq!(since().await, (Some(Nano::from_units(6)), at(80)));
}

async fn audited(store: &dyn Store) {
    let entry = |subject: &str| AuditEntry {
        at: at(1),
        actor: "root".into(),
        action: "ledger credit".into(),
        subject: subject.into(),
        detail: "5 USD".into(),
    };
    let subjects = ["a", "b", "c"];
    done(store, subjects.map(|subject| Write::AddAudit(entry(subject))).to_vec()).await;
    let first = store.audit_after(0, 2).await.expect("asked");
    assert_eq!(first.iter().map(|row| &row.entry).collect::<Vec<_>>(), [&entry("a"), &entry("b")]);
    let rest = store.audit_after(first[1].seq, 10).await.expect("asked");
    assert_eq!(rest.iter().map(|row| &row.entry).collect::<Vec<_>>(), [&entry("c")]);
    assert_eq!(store.audit_after(rest[0].seq, 10).await.expect("asked"), []);
}

async fn recounted(store: &dyn Store) {
    furnish(store, 1).await;
    furnish(store, 2).await;
    let row = |number, ms, sku: &str| {
        Write::AddUsage(crate::usage::UsageRow { sku: sku.into(), ..usage(number, at(ms), 7) })
    };
    let of_a_wallet = crate::usage::UsageRow { key: None, ..usage(1, at(3), 9) };
    let rows = vec![row(1, 1, "crypto-rpc-base-mainnet"), row(2, 2, "llama-output-mtoken")];
    done(store, rows).await;
    done(store, vec![Write::AddUsage(of_a_wallet), row(1, 4, "crypto-rpc-base-mainnet")]).await;
    assert_eq!(store.evidence().await.expect("asked").miscounts, [""; 0]);
}
