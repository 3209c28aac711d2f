//! Owners, settings and the log of refused requests.

use crate::Store;
use crate::conformance::Cases;
use crate::conformance::fixture::{at, done, furnish, key_id, owner, owner_id, refused};
use crate::error::StoreError;
use crate::limit_hit::{LIMIT_HITS_KEPT, LimitHit};
use crate::owner::{Owner, OwnerKind};
use crate::write::Write;

pub(crate) const CASES: Cases = &[
    ("an owner is found by its id and by its name", |store| Box::pin(found(store))),
    ("names are unique within a kind of owner", |store| Box::pin(unique(store))),
    ("owners are listed by name, a page at a time", |store| Box::pin(listed(store))),
    ("the tier of an owner can be changed", |store| Box::pin(tier(store))),
    ("an owner can be frozen and thawed", |store| Box::pin(frozen(store))),
    ("only the last fifty refusals of each owner are kept", |store| Box::pin(hits(store))),
    ("a setting is added once and can be replaced", |store| Box::pin(settings(store))),
];

async fn found(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1))]).await;
    assert_eq!(store.owner(owner_id(1)).await.expect("asked"), Some(owner(1)));
    assert_eq!(store.owner(owner_id(2)).await.expect("asked"), None);
    let named = store.find_owner(OwnerKind::Account, "owner-1").await.expect("asked");
    assert_eq!(named, Some(owner(1)));
    assert_eq!(store.find_owner(OwnerKind::Evm, "owner-1").await.expect("asked"), None);
}

async fn unique(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1))]).await;
    let same_name = Owner { id: owner_id(2), ..owner(1) };
    let error = refused(store, vec![Write::AddOwner(same_name.clone())]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    done(store, vec![Write::AddOwner(Owner { kind: OwnerKind::Evm, ..same_name })]).await;
}

async fn listed(store: &dyn Store) {
    done(store, (1..=4).map(|number| Write::AddOwner(owner(number))).collect()).await;
    let first = store.list_owners(OwnerKind::Account, "", 3).await.expect("asked");
    assert_eq!(first, [owner(1), owner(2), owner(3)]);
    let rest = store.list_owners(OwnerKind::Account, "owner-3", 3).await.expect("asked");
    assert_eq!(rest, [owner(4)]);
}

async fn frozen(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1))]).await;
    let freeze = |number, since| Write::Freeze { owner: owner_id(number), since };
    done(store, vec![freeze(1, Some(at(7)))]).await;
    let frozen = Owner { frozen: Some(at(7)), ..owner(1) };
    assert_eq!(store.owner(owner_id(1)).await.expect("asked"), Some(frozen.clone()));
    let listed = store.list_owners(OwnerKind::Account, "", 3).await.expect("asked");
    assert_eq!(listed, [frozen]);
    done(store, vec![freeze(1, None)]).await;
    assert_eq!(store.owner(owner_id(1)).await.expect("asked"), Some(owner(1)));
    let error = refused(store, vec![freeze(2, None)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
}

async fn tier(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1))]).await;
    let set = |number| Write::SetTier { owner: owner_id(number), tier: "partner".into() };
    done(store, vec![set(1)]).await;
    let changed = store.owner(owner_id(1)).await.expect("asked").expect("the owner is there");
    assert_eq!(changed.tier, "partner");
    let error = refused(store, vec![set(2)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
}

async fn hits(store: &dyn Store) {
    furnish(store, 1).await;
    furnish(store, 2).await;
    let hit = |owner, ms| LimitHit {
        owner: owner_id(owner),
        key: Some(key_id(owner)),
        model: "llama".into(),
        tier: "default".into(),
        kind: "RPM".into(),
        at: at(ms),
    };
    done(store, vec![Write::AddLimitHit(hit(2, 0))]).await;
    let many = (0..60).map(|ms| Write::AddLimitHit(hit(1, ms))).collect();
    done(store, many).await;
    let kept = store.limit_hits(owner_id(1)).await.expect("asked");
    assert_eq!(kept.len(), LIMIT_HITS_KEPT);
    assert_eq!(kept.first(), Some(&hit(1, 59)));
    assert_eq!(kept.last(), Some(&hit(1, 10)));
    assert_eq!(store.limit_hits(owner_id(2)).await.expect("asked"), [hit(2, 0)]);
    let of_nobody = LimitHit { key: None, ..hit(3, 0) };
    done(store, vec![Write::AddLimitHit(of_nobody)]).await;
    assert_eq!(store.limit_hits(owner_id(3)).await.expect("asked"), [], "it has no row");
}

async fn settings(store: &dyn Store) {
    let name = || "pepper".to_owned();
    assert_eq!(store.setting("pepper").await.expect("asked"), None);
    done(store, vec![Write::AddSetting { name: name(), value: vec![1] }]).await;
    let error = refused(store, vec![Write::AddSetting { name: name(), value: vec![2] }]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    assert_eq!(store.setting("pepper").await.expect("asked"), Some(vec![1]));
    done(store, vec![Write::PutSetting { name: name(), value: vec![2] }]).await;
    assert_eq!(store.setting("pepper").await.expect("asked"), Some(vec![2]));
}
