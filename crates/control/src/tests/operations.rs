//! Tests of the effects and refusals of each operation.

use uuid::Uuid;

use super::{Scene, credit, new_key};
use crate::operation::{CreditCurrency, ExportFormat, KeyType, NewKey, Operation};
use crate::reply::{CreatedKey, KeyLine, Reply};

#[tokio::test]
async fn the_same_credit_sent_twice_counts_once() {
    let scene = Scene::founded().await;
    for _ in 0..2 {
        scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    }
    let scene = scene.restarted().await;
    scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    assert_eq!(scene.show("default").await.line.balances["USD"], "5");
    scene.perform(credit(2, "5", CreditCurrency::Usd)).await.unwrap();
    assert_eq!(scene.show("default").await.line.balances["USD"], "10");
}

#[tokio::test]
async fn an_allowance_is_set_rather_than_added() {
    let scene = Scene::founded().await;
    scene.perform(credit(1, "5", CreditCurrency::Diem)).await.unwrap();
    scene.perform(credit(2, "3", CreditCurrency::Diem)).await.unwrap();
    scene.perform(credit(3, "7", CreditCurrency::Bundled)).await.unwrap();
    let account = scene.show("default").await;
    assert_eq!(account.line.balances["DIEM"], "3");
    assert_eq!(account.line.balances["BUNDLED_CREDITS"], "7");
    assert_eq!(account.allowances.bundled_per_month, "7");
}

#[tokio::test]
async fn wrong_amounts_change_nothing() {
    let scene = Scene::founded().await;
    for amount in ["", "-1", "0", "1e3", "0.0000000001", "9223372037", "10000001"] {
        scene.refusal(credit(1, amount, CreditCurrency::Usd)).await;
    }
    assert_eq!(scene.show("default").await.line.balances["USD"], "0");
}

#[tokio::test]
async fn a_key_is_made_listed_and_revoked() {
    let scene = Scene::founded().await;
    let made = scene.perform(Operation::CreateKey(new_key())).await.unwrap();
    let Reply::CreatedKey(CreatedKey { api_key, key }) = made else { panic!("{made:?}") };
    assert!(scene.service.keys.open(&api_key).await.is_ok());
    let keys = list(&scene, None).await;
    assert_eq!(keys.len(), 1);
    assert_eq!(keys[0].id, key.id);
    assert_eq!(keys[0].last_used_at.as_deref(), Some("2026-11-15T12:00:00.000Z"));
    scene.perform(Operation::RevokeKey { id: key.id }).await.unwrap();
    assert!(scene.service.keys.open(&api_key).await.is_err());
    assert_eq!(list(&scene, Some("default")).await, []);
    let again = scene.refusal(Operation::RevokeKey { id: key.id }).await;
    assert!(again.contains("was revoked before"), "{again}");
    scene.refusal(Operation::RevokeKey { id: Uuid::nil() }).await;
}

async fn list(scene: &Scene, account: Option<&str>) -> Vec<KeyLine> {
    let account = account.map(str::to_owned);
    match scene.perform(Operation::ListKeys { account }).await {
        Ok(Reply::Keys(keys)) => keys,
        other => panic!("keys were expected: {other:?}"),
    }
}

#[tokio::test]
async fn a_key_with_wrong_terms_is_refused() {
    let scene = Scene::founded().await;
    let wrong = [
        NewKey { account: "nobody".into(), ..new_key() },
        NewKey { description: "x".repeat(65), ..new_key() },
        NewKey { limit_usd: Some("-1".into()), ..new_key() },
        NewKey { limit_diem: Some("lots".into()), ..new_key() },
        NewKey { expires: Some("2026-11-15T12:00:00Z".into()), ..new_key() },
        NewKey { expires: Some("tomorrow".into()), kind: KeyType::Admin, ..new_key() },
    ];
    for key in wrong {
        scene.refusal(Operation::CreateKey(key)).await;
    }
    assert_eq!(list(&scene, None).await, []);
}

#[tokio::test]
async fn all_keys_of_an_account_are_revoked_at_once() {
    let scene = Scene::founded().await;
    scene.perform(Operation::CreateAccount { name: "other".into() }).await.unwrap();
    for account in ["default", "default", "other"] {
        let key = NewKey { account: account.into(), ..new_key() };
        scene.perform(Operation::CreateKey(key)).await.unwrap();
    }
    let account = Some("default".to_owned());
    let revoked = scene.perform(Operation::RevokeAllKeys { account }).await.unwrap();
    let Reply::Keys(revoked) = revoked else { panic!("{revoked:?}") };
    assert_eq!(revoked.len(), 2);
    assert_eq!(list(&scene, None).await.len(), 1);
    scene.perform(Operation::RevokeAllKeys { account: None }).await.unwrap();
    assert_eq!(list(&scene, None).await, []);
}

#[tokio::test]
async fn accounts_are_frozen_and_wallets_unlinked() {
    let scene = Scene::founded().await;
    let name = || "default".to_owned();
    let wallet = || "0x00000000000000000000000000000000000000aa".to_owned();
    let unlink = || Operation::UnlinkWallet { name: name(), wallet: wallet() };
    scene.refusal(unlink()).await;
    scene.perform(Operation::LinkWallet { name: name(), wallet: wallet() }).await.unwrap();
    scene.perform(unlink()).await.unwrap();
    scene.refusal(unlink()).await;
    let frozen = scene.perform(Operation::FreezeAccount { name: name() }).await.unwrap();
    let Reply::Account(frozen) = frozen else { panic!("{frozen:?}") };
    assert!(frozen.line.frozen_at.is_some());
    let thawed = scene.perform(Operation::UnfreezeAccount { name: name() }).await.unwrap();
    let Reply::Account(thawed) = thawed else { panic!("{thawed:?}") };
    assert_eq!(thawed.line.frozen_at, None);
    scene.refusal(Operation::FreezeAccount { name: "nobody".into() }).await;
    scene.refusal(Operation::FreezeAccount { name: wallet() }).await;
}

#[tokio::test]
async fn names_of_accounts_are_plain_and_unique() {
    let scene = Scene::founded().await;
    let create = |name: &str| Operation::CreateAccount { name: name.to_owned() };
    for name in ["", "a b", "-x", "a/b", "a\nb", &"x".repeat(65), "default"] {
        scene.refusal(create(name)).await;
    }
    for name in ["ops@example.org", "Zoë", "a-b_c.d+1"] {
        scene.perform(create(name)).await.unwrap();
    }
    let listed = scene.perform(Operation::ListAccounts).await.unwrap();
    let Reply::Accounts(accounts) = listed else { panic!("{listed:?}") };
    assert_eq!(accounts.len(), 4);
}

#[tokio::test]
async fn the_journal_is_exported_and_verified() {
    let scene = Scene::founded().await;
    scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    let export = Operation::ExportLedger { after_seq: 0, format: ExportFormat::Csv };
    let exported = scene.perform(export).await.unwrap();
    let Reply::Journal(page) = exported else { panic!("{exported:?}") };
    assert_eq!(page.lines.len(), 1);
    assert_eq!(page.next_seq, None);
    let verified = scene.perform(Operation::VerifyLedger).await.unwrap();
    let Reply::Verified(verification) = verified else { panic!("{verified:?}") };
    assert_eq!(verification.transfers, 1);
    assert_eq!(verification.differences, Vec::<String>::new());
}

#[tokio::test]
async fn a_reload_that_fails_says_why() {
    let scene = Scene::founded().await;
    assert_eq!(scene.refusal(Operation::ReloadModels).await, "the file is wrong");
}
