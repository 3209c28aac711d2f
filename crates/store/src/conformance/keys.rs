//! API keys: found by the digest of their secret, changed and revoked by their owner only.

use crate::Store;
use crate::conformance::Cases;
use crate::conformance::fixture::{add_key, at, done, key, key_id, owner, owner_id, refused};
use crate::error::StoreError;
use crate::key::{ApiKey, KeySettings};
use crate::write::Write;
use domain::access::{KeyKind, ModelPrivacy};
use domain::secret::SecretDigest;
use money::Nano;

pub(crate) const CASES: Cases = &[
    ("a key is found by its digest, with its owner", |store| Box::pin(found(store))),
    ("a key keeps its kind when it is changed", |store| Box::pin(kinds(store))),
    ("two keys cannot share a digest", |store| Box::pin(unique(store))),
    ("an owner changes its own keys and no others", |store| Box::pin(changed(store))),
    ("a revoked key is listed no more, and cannot come back", |store| Box::pin(revoked(store))),
    ("a key moves to another digest once", |store| Box::pin(moved(store))),
    ("an owner can have only so many active keys", |store| Box::pin(bounded(store))),
    ("the last use of a key never moves back", |store| Box::pin(touched(store))),
];

async fn found(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1)), add_key(key(1))]).await;
    let found = store.find_key(key(1).digest).await.expect("asked");
    assert_eq!(found, Some((key(1), owner(1))));
    assert_eq!(store.find_key(key(2).digest).await.expect("asked"), None);
    assert_eq!(store.key(owner_id(1), key_id(1)).await.expect("asked"), Some(key(1)));
    assert_eq!(store.key(owner_id(2), key_id(1)).await.expect("asked"), None);
}

async fn kinds(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1))]).await;
    for (number, kind) in (1..).zip([KeyKind::Inference, KeyKind::Admin, KeyKind::Operator]) {
        let added = ApiKey { owner: owner_id(1), kind, ..key(number) };
        done(store, vec![add_key(added.clone())]).await;
        let settings = KeySettings { description: "changed".into(), ..added.settings };
        let change =
            Write::ChangeKey { owner: owner_id(1), key: key_id(number), settings, at: at(1) };
        done(store, vec![change]).await;
        let (found, _) = store.find_key(added.digest).await.expect("asked").expect("it is there");
        assert_eq!(found.kind, kind);
        let found = store.key(owner_id(1), key_id(number)).await.expect("asked");
        assert_eq!(found.expect("it is there").kind, kind);
    }
}

async fn unique(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1)), add_key(key(1))]).await;
    let error = refused(store, vec![add_key(ApiKey { id: key_id(2), ..key(1) })]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    let error = refused(store, vec![add_key(key(3))]).await;
    assert!(matches!(error, StoreError::Refused(_)), "a key needs its owner: {error}");
}

async fn changed(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1)), Write::AddOwner(owner(2)), add_key(key(1))]).await;
    let settings = KeySettings {
        description: "changed".into(),
        limit_usd: None,
        limit_diem: Some(Nano::from_units(2)),
        expires: Some(at(5)),
        model_privacy: ModelPrivacy::PrivateOnly,
        ..key(1).settings
    };
    let change = |owner| Write::ChangeKey {
        owner: owner_id(owner),
        key: key_id(1),
        settings: settings.clone(),
        at: at(9),
    };
    done(store, vec![change(1)]).await;
    let expected = ApiKey { settings: settings.clone(), ..key(1) };
    assert_eq!(store.list_keys(owner_id(1)).await.expect("asked"), [expected]);
    let error = refused(store, vec![change(2)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
}

async fn revoked(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1)), Write::AddOwner(owner(2)), add_key(key(1))]).await;
    let revoke = |owner| Write::RevokeKey { owner: owner_id(owner), key: key_id(1), at: at(7) };
    let error = refused(store, vec![revoke(2)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    done(store, vec![revoke(1)]).await;
    assert_eq!(store.list_keys(owner_id(1)).await.expect("asked"), []);
    let (found, _) = store.find_key(key(1).digest).await.expect("asked").expect("still known");
    assert_eq!(found.revoked, Some(at(7)));
    assert!(!found.is_active(at(8)));
    let error = refused(store, vec![revoke(1)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
}

async fn moved(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1)), add_key(key(1))]).await;
    let (from, to) = (key(1).digest, SecretDigest([200; 32]));
    let moving = || vec![Write::MoveKey { key: key_id(1), from, to }];
    done(store, moving()).await;
    let found = store.find_key(to).await.expect("asked");
    assert_eq!(found, Some((ApiKey { digest: to, ..key(1) }, owner(1))));
    assert_eq!(store.find_key(from).await.expect("asked"), None);
    let error = refused(store, moving()).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
}

async fn bounded(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1))]).await;
    let numbered = |number: u8| Write::AddKey {
        key: ApiKey { id: key_id(number), digest: SecretDigest([number; 32]), ..key(1) },
        active_keys_max: 3,
    };
    done(store, vec![numbered(1), numbered(2)]).await;
    let error = refused(store, vec![numbered(3), numbered(4)]).await;
    assert!(matches!(error, StoreError::TooMany { most: 3 }), "{error}");
    done(store, vec![Write::RevokeKey { owner: owner_id(1), key: key_id(1), at: at(1) }]).await;
    done(store, vec![numbered(3), numbered(4)]).await;
}

async fn touched(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1)), add_key(key(1))]).await;
    for ms in [5, 3] {
        done(store, vec![Write::TouchKey { key: key_id(1), at: at(ms) }]).await;
    }
    let (found, _) = store.find_key(key(1).digest).await.expect("asked").expect("it is there");
    assert_eq!(found.last_used, Some(at(5)));
}
