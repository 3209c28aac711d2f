//! Generated media: readable until the key is destroyed, and known until deleted.

use uuid::Uuid;

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    add_funded_owner, commit_writes, expect_refusal, owner_id, today_at,
};
use crate::error::StoreError;
use crate::media::{MediaId, MediaRow, MediaState, MediaWrite};
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("an object is read back until its key is destroyed", |store| {
        Box::pin(check_key_destruction(store))
    }),
    ("what has expired or was begun is to be deleted", |store| Box::pin(check_expiry(store))),
    ("objects are known until they are gone", |store| Box::pin(check_known_media(store))),
];

pub(crate) fn media_id(number: u128) -> MediaId {
    MediaId(Uuid::from_u128(number))
}

pub(crate) fn build_media(number: u128, owner: u8) -> MediaRow {
    MediaRow {
        id: media_id(number),
        owner: owner_id(owner),
        bytes: 1_000,
        content_type: "video/mp4".into(),
        sha256: [3; 32],
        key: Some([4; 32]),
        state: MediaState::Stored,
        stored: today_at(1),
        expires: today_at(100),
    }
}

fn wrap_media_write(write: MediaWrite) -> StoreWrite {
    StoreWrite::Media(Box::new(write))
}

async fn check_key_destruction(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(store, vec![wrap_media_write(MediaWrite::Add(build_media(1, 1)))]).await;
    assert_eq!(store.media(media_id(1)).await.expect("asked"), Some(build_media(1, 1)));
    let error =
        expect_refusal(store, vec![wrap_media_write(MediaWrite::Add(build_media(1, 1)))]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    // Nothing is deleted while its key exists.
    commit_writes(store, vec![wrap_media_write(MediaWrite::Deleted(media_id(1)))]).await;
    let destroy = || wrap_media_write(MediaWrite::DestroyKey(media_id(1)));
    commit_writes(store, vec![destroy(), destroy()]).await;
    let without_key = MediaRow { key: None, state: MediaState::Deleting, ..build_media(1, 1) };
    assert_eq!(store.media(media_id(1)).await.expect("asked"), Some(without_key));
    commit_writes(store, vec![wrap_media_write(MediaWrite::Deleted(media_id(1))), destroy()]).await;
    let gone = store.media(media_id(1)).await.expect("asked").expect("its row is there");
    assert_eq!(gone.state, MediaState::Deleted);
}

async fn check_expiry(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let later = MediaRow { expires: today_at(200), ..build_media(2, 1) };
    let kept = MediaRow { expires: today_at(999), ..build_media(3, 1) };
    let all =
        [build_media(1, 1), later, kept].map(|media| wrap_media_write(MediaWrite::Add(media)));
    commit_writes(store, all.to_vec()).await;
    commit_writes(store, vec![wrap_media_write(MediaWrite::DestroyKey(media_id(3)))]).await;
    let ids = async |ms, limit| {
        let found = store.media_to_delete(today_at(ms), limit).await.expect("asked");
        found.into_iter().map(|media| media.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(99, 9).await, [media_id(3)]);
    assert_eq!(ids(100, 9).await, [media_id(3), media_id(1)]);
    assert_eq!(ids(200, 9).await, [media_id(3), media_id(1), media_id(2)]);
    assert_eq!(ids(200, 2).await.len(), 2);
}

async fn check_known_media(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let all = [1, 2, 3].map(|number| wrap_media_write(MediaWrite::Add(build_media(number, 1))));
    commit_writes(store, all.to_vec()).await;
    let gone = [MediaWrite::DestroyKey(media_id(2)), MediaWrite::Deleted(media_id(2))];
    commit_writes(store, gone.map(wrap_media_write).to_vec()).await;
    commit_writes(store, vec![wrap_media_write(MediaWrite::DestroyKey(media_id(3)))]).await;
    let asked = [3, 9, 2, 1].map(media_id).to_vec();
    let known = store.known_media(asked).await.expect("asked");
    assert_eq!(known, [3, 1].map(media_id));
}
