//! Owners, settings and the log of refused requests.

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    add_funded_owner, build_owner, commit_writes, expect_refusal, key_id, owner_id, today_at,
};
use crate::error::StoreError;
use crate::limit_hit::{LIMIT_HITS_KEPT, LimitHit};
use crate::owner::{Owner, OwnerKind};
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("an owner is found by its id and by its name", |store| Box::pin(check_lookup(store))),
    ("names are unique within a kind of owner", |store| Box::pin(check_unique_names(store))),
    ("owners are listed by name, a page at a time", |store| Box::pin(check_list(store))),
    ("the tier of an owner can be changed", |store| Box::pin(check_tier(store))),
    ("an owner can be frozen and thawed", |store| Box::pin(check_freeze(store))),
    ("only the last fifty refusals of each owner are kept", |store| {
        Box::pin(check_limit_hits(store))
    }),
    ("a setting is added once and can be replaced", |store| Box::pin(check_settings(store))),
];

async fn check_lookup(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1))]).await;
    assert_eq!(store.owner(owner_id(1)).await.expect("asked"), Some(build_owner(1)));
    assert_eq!(store.owner(owner_id(2)).await.expect("asked"), None);
    let named = store.find_owner(OwnerKind::Account, "owner-1").await.expect("asked");
    assert_eq!(named, Some(build_owner(1)));
    assert_eq!(store.find_owner(OwnerKind::Evm, "owner-1").await.expect("asked"), None);
}

async fn check_unique_names(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1))]).await;
    let same_name = Owner { id: owner_id(2), ..build_owner(1) };
    let error = expect_refusal(store, vec![StoreWrite::AddOwner(same_name.clone())]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    commit_writes(store, vec![StoreWrite::AddOwner(Owner { kind: OwnerKind::Evm, ..same_name })])
        .await;
}

async fn check_list(store: &dyn Store) {
    commit_writes(store, (1..=4).map(|number| StoreWrite::AddOwner(build_owner(number))).collect())
        .await;
    let first = store.list_owners(OwnerKind::Account, "", 3).await.expect("asked");
    assert_eq!(first, [build_owner(1), build_owner(2), build_owner(3)]);
    let rest = store.list_owners(OwnerKind::Account, "owner-3", 3).await.expect("asked");
    assert_eq!(rest, [build_owner(4)]);
}

async fn check_freeze(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1))]).await;
    let freeze = |number, since| StoreWrite::Freeze { owner: owner_id(number), since };
    commit_writes(store, vec![freeze(1, Some(today_at(7)))]).await;
    let frozen = Owner { frozen: Some(today_at(7)), ..build_owner(1) };
    assert_eq!(store.owner(owner_id(1)).await.expect("asked"), Some(frozen.clone()));
    let listed = store.list_owners(OwnerKind::Account, "", 3).await.expect("asked");
    assert_eq!(listed, [frozen]);
    commit_writes(store, vec![freeze(1, None)]).await;
    assert_eq!(store.owner(owner_id(1)).await.expect("asked"), Some(build_owner(1)));
    let error = expect_refusal(store, vec![freeze(2, None)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
}

async fn check_tier(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1))]).await;
    let set = |number| StoreWrite::SetTier { owner: owner_id(number), tier: "partner".into() };
    commit_writes(store, vec![set(1)]).await;
    let changed = store.owner(owner_id(1)).await.expect("asked").expect("the owner is there");
    assert_eq!(changed.tier, "partner");
    let error = expect_refusal(store, vec![set(2)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
}

async fn check_limit_hits(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    let hit = |owner, ms| LimitHit {
        owner: owner_id(owner),
        key: Some(key_id(owner)),
        model: "llama".into(),
        tier: "default".into(),
        kind: "RPM".into(),
        at: today_at(ms),
    };
    commit_writes(store, vec![StoreWrite::AddLimitHit(hit(2, 0))]).await;
    let many = (0..60).map(|ms| StoreWrite::AddLimitHit(hit(1, ms))).collect();
    commit_writes(store, many).await;
    let kept = store.limit_hits(owner_id(1)).await.expect("asked");
    assert_eq!(kept.len(), LIMIT_HITS_KEPT);
    assert_eq!(kept.first(), Some(&hit(1, 59)));
    assert_eq!(kept.last(), Some(&hit(1, 10)));
    assert_eq!(store.limit_hits(owner_id(2)).await.expect("asked"), [hit(2, 0)]);
    let of_nobody = LimitHit { key: None, ..hit(3, 0) };
    commit_writes(store, vec![StoreWrite::AddLimitHit(of_nobody)]).await;
    assert_eq!(store.limit_hits(owner_id(3)).await.expect("asked"), [], "it has no row");
}

async fn check_settings(store: &dyn Store) {
    let name = || "pepper".to_owned();
    assert_eq!(store.setting("pepper").await.expect("asked"), None);
    commit_writes(store, vec![StoreWrite::AddSetting { name: name(), value: vec![1] }]).await;
    let error =
        expect_refusal(store, vec![StoreWrite::AddSetting { name: name(), value: vec![2] }]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    assert_eq!(store.setting("pepper").await.expect("asked"), Some(vec![1]));
    commit_writes(store, vec![StoreWrite::PutSetting { name: name(), value: vec![2] }]).await;
    assert_eq!(store.setting("pepper").await.expect("asked"), Some(vec![2]));
}
