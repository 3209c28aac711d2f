//! Tests of secret rotation.

use access::KeyRefusal;
use domain::secret::digest_secret;

use super::{ControlFixture, new_key};
use crate::operation::{ControlOperation, OperationError};
use crate::secrets::{SecretName, read_or_create_secret, read_peppers};

const ROTATE_PEPPER: ControlOperation = ControlOperation::RotateSecret { name: SecretName::Pepper };

async fn key(scene: &ControlFixture) -> String {
    scene.service.create_key(new_key()).await.unwrap().api_key
}

#[tokio::test]
async fn the_pepper_stays_the_same() {
    let scene = ControlFixture::new().await;
    let entropy = scene.service.entropy.clone();
    let first = read_peppers(scene.service.store.as_ref(), entropy.as_ref()).await.unwrap();
    let scene = scene.restarted().await;
    let later = read_peppers(scene.service.store.as_ref(), entropy.as_ref()).await.unwrap();
    assert_eq!(
        digest_secret(&first.current, "a secret"),
        digest_secret(&later.current, "a secret")
    );
    assert!(later.before.is_none());
}

#[tokio::test]
async fn keys_outlive_their_pepper_if_they_are_used() {
    let scene = ControlFixture::founded().await;
    let (mut used, unused) = (Vec::new(), key(&scene).await);
    for _ in 0..16 {
        used.push(key(&scene).await);
    }
    let sealed = scene.service.keys.keyed_digest("voice\0handle");
    scene.perform(ROTATE_PEPPER).await.unwrap();
    assert!(
        scene.service.keys.authenticate(&used[0]).await.is_ok(),
        "nothing changes before the next start"
    );

    let scene = scene.restarted().await;
    let unsealed = scene
        .service
        .keys
        .verify_with_peppers(|seal| (seal("voice\0handle") == sealed).then_some(()));
    assert!(unsealed.is_some() && scene.service.keys.keyed_digest("voice\0handle") != sealed);
    // Concurrent uses: one of them moves the key to the new pepper.
    for key in &used {
        let open = || scene.service.keys.authenticate(key);
        let opened = tokio::join!(open(), open(), open(), open());
        assert!(opened.0.is_ok() && opened.1.is_ok() && opened.2.is_ok() && opened.3.is_ok());
    }
    assert!(matches!(scene.service.keys.authenticate("another").await, Err(KeyRefusal::Unknown)));
    let error = scene.perform(ROTATE_PEPPER).await.unwrap_err();
    assert!(matches!(&error, OperationError::Refused(why) if why.contains("forget-pepper")));
    scene.perform(ControlOperation::ForgetPepper).await.unwrap();

    let scene = scene.restarted().await;
    assert!(scene.service.keys.authenticate(&used[0]).await.is_ok());
    assert!(matches!(scene.service.keys.authenticate(&unused).await, Err(KeyRefusal::Unknown)));
    assert!(scene.perform(ControlOperation::ForgetPepper).await.is_err(), "there is none");
    scene.perform(ROTATE_PEPPER).await.unwrap();
}

#[tokio::test]
async fn other_secrets_are_new_after_a_rotation() {
    let scene = ControlFixture::founded().await;
    for name in [SecretName::Tokens, SecretName::Links, SecretName::Console, SecretName::Nodes] {
        let (store, entropy) = (scene.service.store.as_ref(), scene.service.entropy.as_ref());
        let first = read_or_create_secret(store, entropy, name).await.unwrap();
        assert_eq!(read_or_create_secret(store, entropy, name).await.unwrap(), first);
        scene.perform(ControlOperation::RotateSecret { name }).await.unwrap();
        assert_ne!(read_or_create_secret(store, entropy, name).await.unwrap(), first, "{name:?}");
    }
}
