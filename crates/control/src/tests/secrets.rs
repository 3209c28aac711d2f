//! Tests of secret rotation.

use access::KeyRefused;
use domain::secret::digest;

use super::{Scene, new_key};
use crate::operation::{Operation, OperationError};
use crate::secrets::{SecretName, peppers, secret};

const ROTATE_PEPPER: Operation = Operation::RotateSecret { name: SecretName::Pepper };

async fn key(scene: &Scene) -> String {
    scene.service.create_key(new_key()).await.unwrap().api_key
}

#[tokio::test]
async fn the_pepper_stays_the_same() {
    let scene = Scene::new().await;
    let entropy = scene.service.entropy.clone();
    let first = peppers(scene.service.store.as_ref(), entropy.as_ref()).await.unwrap();
    let scene = scene.restarted().await;
    let later = peppers(scene.service.store.as_ref(), entropy.as_ref()).await.unwrap();
    assert_eq!(digest(&first.current, "a secret"), digest(&later.current, "a secret"));
    assert!(later.before.is_none());
}

#[tokio::test]
async fn keys_outlive_their_pepper_if_they_are_used() {
    let scene = Scene::founded().await;
    let (mut used, unused) = (Vec::new(), key(&scene).await);
    for _ in 0..16 {
        used.push(key(&scene).await);
    }
    let sealed = scene.service.keys.seal("voice\0handle");
    scene.perform(ROTATE_PEPPER).await.unwrap();
    assert!(
        scene.service.keys.open(&used[0]).await.is_ok(),
        "nothing changes before the next start"
    );

    let scene = scene.restarted().await;
    let unsealed =
        scene.service.keys.unseal(|seal| (seal("voice\0handle") == sealed).then_some(()));
    assert!(unsealed.is_some() && scene.service.keys.seal("voice\0handle") != sealed);
    // Concurrent uses: one of them moves the key to the new pepper.
    for key in &used {
        let open = || scene.service.keys.open(key);
        let opened = tokio::join!(open(), open(), open(), open());
        assert!(opened.0.is_ok() && opened.1.is_ok() && opened.2.is_ok() && opened.3.is_ok());
    }
    assert!(matches!(scene.service.keys.open("another").await, Err(KeyRefused::Unknown)));
    let error = scene.perform(ROTATE_PEPPER).await.unwrap_err();
    assert!(matches!(&error, OperationError::Refused(why) if why.contains("forget-pepper")));
    scene.perform(Operation::ForgetPepper).await.unwrap();

    let scene = scene.restarted().await;
    assert!(scene.service.keys.open(&used[0]).await.is_ok());
    assert!(matches!(scene.service.keys.open(&unused).await, Err(KeyRefused::Unknown)));
    assert!(scene.perform(Operation::ForgetPepper).await.is_err(), "there is none");
    scene.perform(ROTATE_PEPPER).await.unwrap();
}

#[tokio::test]
async fn other_secrets_are_new_after_a_rotation() {
    let scene = Scene::founded().await;
    for name in [SecretName::Tokens, SecretName::Links, SecretName::Console, SecretName::Nodes] {
        let (store, entropy) = (scene.service.store.as_ref(), scene.service.entropy.as_ref());
        let first = secret(store, entropy, name).await.unwrap();
        assert_eq!(secret(store, entropy, name).await.unwrap(), first);
        scene.perform(Operation::RotateSecret { name }).await.unwrap();
        assert_ne!(secret(store, entropy, name).await.unwrap(), first, "{name:?}");
    }
}
