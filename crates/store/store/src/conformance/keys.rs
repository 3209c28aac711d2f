//! API keys: found by the digest of their secret, changed and revoked by their owner only.

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    add_key, build_key, build_owner, commit_writes, expect_refusal, key_id, owner_id, today_at,
};
use crate::error::StoreError;
use crate::key::{ApiKey, KeySettings};
use crate::write::StoreWrite;
use domain::access::{KeyKind, ModelPrivacy};
use domain::secret::SecretDigest;
use money::Nano;

pub(crate) const CASES: CaseTable = &[
    ("a key is found by its digest, with its owner", |store| Box::pin(check_lookup(store))),
    ("a key keeps its kind when it is changed", |store| Box::pin(check_key_kinds(store))),
    ("two keys cannot share a digest", |store| Box::pin(check_unique_digest(store))),
    ("an owner changes its own keys and no others", |store| Box::pin(check_change(store))),
    ("a revoked key is listed no more, and cannot come back", |store| {
        Box::pin(check_revocation(store))
    }),
    ("a key moves to another digest once", |store| Box::pin(check_digest_move(store))),
    ("an owner can have only so many active keys", |store| Box::pin(check_key_limit(store))),
    ("the last use of a key never moves back", |store| Box::pin(check_last_use(store))),
];

async fn check_lookup(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1)), add_key(build_key(1))]).await;
    let found = store.find_key(build_key(1).digest).await.expect("asked");
    assert_eq!(found, Some((build_key(1), build_owner(1))));
    assert_eq!(store.find_key(build_key(2).digest).await.expect("asked"), None);
    assert_eq!(store.key(owner_id(1), key_id(1)).await.expect("asked"), Some(build_key(1)));
    assert_eq!(store.key(owner_id(2), key_id(1)).await.expect("asked"), None);
}

async fn check_key_kinds(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1))]).await;
    for (number, kind) in (1..).zip([KeyKind::Inference, KeyKind::Admin, KeyKind::Operator]) {
        let added = ApiKey { owner: owner_id(1), kind, ..build_key(number) };
        commit_writes(store, vec![add_key(added.clone())]).await;
        let settings = KeySettings { description: "changed".into(), ..added.settings };
        let change = StoreWrite::ChangeKey {
            owner: owner_id(1),
            key: key_id(number),
            settings,
            at: today_at(1),
        };
        commit_writes(store, vec![change]).await;
        let (found, _) = store.find_key(added.digest).await.expect("asked").expect("it is there");
        assert_eq!(found.kind, kind);
        let found = store.key(owner_id(1), key_id(number)).await.expect("asked");
        assert_eq!(found.expect("it is there").kind, kind);
    }
}

async fn check_unique_digest(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1)), add_key(build_key(1))]).await;
    let error =
        expect_refusal(store, vec![add_key(ApiKey { id: key_id(2), ..build_key(1) })]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    let error = expect_refusal(store, vec![add_key(build_key(3))]).await;
    assert!(matches!(error, StoreError::Refused(_)), "a key needs its owner: {error}");
}

async fn check_change(store: &dyn Store) {
    commit_writes(
        store,
        vec![
            StoreWrite::AddOwner(build_owner(1)),
            StoreWrite::AddOwner(build_owner(2)),
            add_key(build_key(1)),
        ],
    )
    .await;
    let settings = KeySettings {
        description: "changed".into(),
        limit_usd: None,
        limit_diem: Some(Nano::from_units(2)),
        expires: Some(today_at(5)),
        model_privacy: ModelPrivacy::PrivateOnly,
        ..build_key(1).settings
    };
    let change = |owner| StoreWrite::ChangeKey {
        owner: owner_id(owner),
        key: key_id(1),
        settings: settings.clone(),
        at: today_at(9),
    };
    commit_writes(store, vec![change(1)]).await;
    let expected = ApiKey { settings: settings.clone(), ..build_key(1) };
    assert_eq!(store.list_keys(owner_id(1)).await.expect("asked"), [expected]);
    let error = expect_refusal(store, vec![change(2)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
}

async fn check_revocation(store: &dyn Store) {
    commit_writes(
        store,
        vec![
            StoreWrite::AddOwner(build_owner(1)),
            StoreWrite::AddOwner(build_owner(2)),
            add_key(build_key(1)),
        ],
    )
    .await;
    let revoke =
        |owner| StoreWrite::RevokeKey { owner: owner_id(owner), key: key_id(1), at: today_at(7) };
    let error = expect_refusal(store, vec![revoke(2)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    commit_writes(store, vec![revoke(1)]).await;
    assert_eq!(store.list_keys(owner_id(1)).await.expect("asked"), []);
    let (found, _) =
        store.find_key(build_key(1).digest).await.expect("asked").expect("still known");
    assert_eq!(found.revoked, Some(today_at(7)));
    assert!(!found.is_active(today_at(8)));
    let error = expect_refusal(store, vec![revoke(1)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
}

async fn check_digest_move(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1)), add_key(build_key(1))]).await;
    let (from, to) = (build_key(1).digest, SecretDigest([200; 32]));
    let moving = || vec![StoreWrite::MoveKey { key: key_id(1), from, to }];
    commit_writes(store, moving()).await;
    let found = store.find_key(to).await.expect("asked");
    assert_eq!(found, Some((ApiKey { digest: to, ..build_key(1) }, build_owner(1))));
    assert_eq!(store.find_key(from).await.expect("asked"), None);
    let error = expect_refusal(store, moving()).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
}

async fn check_key_limit(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1))]).await;
    let numbered = |number: u8| StoreWrite::AddKey {
        key: ApiKey { id: key_id(number), digest: SecretDigest([number; 32]), ..build_key(1) },
        active_keys_max: 3,
    };
    commit_writes(store, vec![numbered(1), numbered(2)]).await;
    let error = expect_refusal(store, vec![numbered(3), numbered(4)]).await;
    assert!(matches!(error, StoreError::TooMany { most: 3 }), "{error}");
    commit_writes(
        store,
        vec![StoreWrite::RevokeKey { owner: owner_id(1), key: key_id(1), at: today_at(1) }],
    )
    .await;
    commit_writes(store, vec![numbered(3), numbered(4)]).await;
}

async fn check_last_use(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::AddOwner(build_owner(1)), add_key(build_key(1))]).await;
    for ms in [5, 3] {
        commit_writes(store, vec![StoreWrite::TouchKey { key: key_id(1), at: today_at(ms) }]).await;
    }
    let (found, _) =
        store.find_key(build_key(1).digest).await.expect("asked").expect("it is there");
    assert_eq!(found.last_used, Some(today_at(5)));
}
