//! Generated media: readable until the key is destroyed, and known until deleted.

use uuid::Uuid;

use crate::Store;
use crate::conformance::Cases;
use crate::conformance::fixture::{at, done, furnish, owner_id, refused};
use crate::error::StoreError;
use crate::media::{Media, MediaId, MediaState, MediaWrite};
use crate::write::Write;

pub(crate) const CASES: Cases = &[
    ("an object is read back until its key is destroyed", |store| Box::pin(destroyed(store))),
    ("what has expired or was begun is to be deleted", |store| Box::pin(expired(store))),
    ("objects are known until they are gone", |store| Box::pin(known(store))),
];

pub(crate) fn media_id(number: u128) -> MediaId {
    MediaId(Uuid::from_u128(number))
}

pub(crate) fn media(number: u128, owner: u8) -> Media {
    Media {
        id: media_id(number),
        owner: owner_id(owner),
        bytes: 1_000,
        content_type: "video/mp4".into(),
        sha256: [3; 32],
        key: Some([4; 32]),
        state: MediaState::Stored,
        stored: at(1),
        expires: at(100),
    }
}

fn write(write: MediaWrite) -> Write {
    Write::Media(Box::new(write))
}

async fn destroyed(store: &dyn Store) {
    furnish(store, 1).await;
    done(store, vec![write(MediaWrite::Add(media(1, 1)))]).await;
    assert_eq!(store.media(media_id(1)).await.expect("asked"), Some(media(1, 1)));
    let error = refused(store, vec![write(MediaWrite::Add(media(1, 1)))]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    // Nothing is deleted while its key exists.
    done(store, vec![write(MediaWrite::Deleted(media_id(1)))]).await;
    let destroy = || write(MediaWrite::DestroyKey(media_id(1)));
    done(store, vec![destroy(), destroy()]).await;
    let without_key = Media { key: None, state: MediaState::Deleting, ..media(1, 1) };
    assert_eq!(store.media(media_id(1)).await.expect("asked"), Some(without_key));
    done(store, vec![write(MediaWrite::Deleted(media_id(1))), destroy()]).await;
    let gone = store.media(media_id(1)).await.expect("asked").expect("its row is there");
    assert_eq!(gone.state, MediaState::Deleted);
}

async fn expired(store: &dyn Store) {
    furnish(store, 1).await;
    let later = Media { expires: at(200), ..media(2, 1) };
    let kept = Media { expires: at(999), ..media(3, 1) };
    let all = [media(1, 1), later, kept].map(|media| write(MediaWrite::Add(media)));
    done(store, all.to_vec()).await;
    done(store, vec![write(MediaWrite::DestroyKey(media_id(3)))]).await;
    let ids = async |ms, limit| {
        let found = store.media_to_delete(at(ms), limit).await.expect("asked");
        found.into_iter().map(|media| media.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(99, 9).await, [media_id(3)]);
    assert_eq!(ids(100, 9).await, [media_id(3), media_id(1)]);
    assert_eq!(ids(200, 9).await, [media_id(3), media_id(1), media_id(2)]);
    assert_eq!(ids(200, 2).await.len(), 2);
}

async fn known(store: &dyn Store) {
    furnish(store, 1).await;
    let all = [1, 2, 3].map(|number| write(MediaWrite::Add(media(number, 1))));
    done(store, all.to_vec()).await;
    let gone = [MediaWrite::DestroyKey(media_id(2)), MediaWrite::Deleted(media_id(2))];
    done(store, gone.map(write).to_vec()).await;
    done(store, vec![write(MediaWrite::DestroyKey(media_id(3)))]).await;
    let asked = [3, 9, 2, 1].map(media_id).to_vec();
    let known = store.known_media(asked).await.expect("asked");
    assert_eq!(known, [3, 1].map(media_id));
}
