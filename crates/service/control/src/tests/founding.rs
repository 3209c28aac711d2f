//! Tests that a fresh database is initialized once, even after interrupted attempts.

use money::Nano;

use super::ControlFixture;

#[tokio::test]
async fn the_starting_credit_is_given_once_through_any_number_of_starts() {
    let scene = ControlFixture::new().await;
    scene.service.create_default_account(Some(Nano::from_units(10))).await.unwrap();
    scene.service.create_default_account(Some(Nano::from_units(10))).await.unwrap();
    let scene = scene.restarted().await;
    scene.service.create_default_account(Some(Nano::from_units(10))).await.unwrap();
    assert_eq!(scene.show("default").await.line.balances["USD"], "10");
}

#[tokio::test]
async fn a_start_that_died_half_way_is_made_good() {
    let scene = ControlFixture::new().await;
    // Simulates a crash after the account and the credit, before both were recorded as done.
    scene.service.create_account("default").await.unwrap();
    let owner = scene.service.find_account("default").await.unwrap();
    let entry = crate::first_start::STARTING_CREDIT;
    let usd = money::BalanceCurrency::Usd;
    scene.service.grant(entry, owner.id, usd, Nano::from_units(10), Vec::new()).await.unwrap();
    let scene = scene.restarted().await;
    scene.service.create_default_account(Some(Nano::from_units(10))).await.unwrap();
    assert_eq!(scene.show("default").await.line.balances["USD"], "10");
}

#[tokio::test]
async fn the_first_key_is_made_once_and_opens_the_account() {
    let scene = ControlFixture::founded().await;
    let secret =
        scene.service.create_first_key(None).await.unwrap().expect("the first start makes a key");
    assert_eq!(scene.service.create_first_key(None).await.unwrap(), None);
    let holder = scene.service.keys.authenticate(&secret).await.unwrap();
    assert_eq!(holder.owner.name, "default");
    let scene = scene.restarted().await;
    assert_eq!(scene.service.create_first_key(Some("chosen")).await.unwrap(), None);
    assert!(scene.service.keys.authenticate(&secret).await.is_ok());
}

#[tokio::test]
async fn a_chosen_first_key_is_the_one_that_works() {
    let scene = ControlFixture::founded().await;
    let made = scene.service.create_first_key(Some("my own secret")).await.unwrap();
    assert_eq!(made.as_deref(), Some("my own secret"));
    assert!(scene.service.keys.authenticate("my own secret").await.is_ok());
}
