//! Tests of the effects and refusals of each operation.

use uuid::Uuid;

use super::{ControlFixture, credit, new_key};
use crate::operation::{ControlOperation, CreditCurrency, ExportFormat, KeyType, NewKey};
use crate::reply::{ControlReply, CreatedKey, KeyLine};

#[tokio::test]
async fn the_same_credit_sent_twice_counts_once() {
    let scene = ControlFixture::founded().await;
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
    let scene = ControlFixture::founded().await;
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
    let scene = ControlFixture::founded().await;
    for amount in ["", "-1", "0", "1e3", "0.0000000001", "9223372037", "10000001"] {
        scene.refusal(credit(1, amount, CreditCurrency::Usd)).await;
    }
    assert_eq!(scene.show("default").await.line.balances["USD"], "0");
}

#[tokio::test]
async fn a_key_is_made_listed_and_revoked() {
    let scene = ControlFixture::founded().await;
    let made = scene.perform(ControlOperation::CreateKey(new_key())).await.unwrap();
    let ControlReply::CreatedKey(CreatedKey { api_key, key }) = made else { panic!("{made:?}") };
    assert!(scene.service.keys.authenticate(&api_key).await.is_ok());
    let keys = list(&scene, None).await;
    assert_eq!(keys.len(), 1);
    assert_eq!(keys[0].id, key.id);
    assert_eq!(keys[0].last_used_at.as_deref(), Some("2026-11-15T12:00:00.000Z"));
    scene.perform(ControlOperation::RevokeKey { id: key.id }).await.unwrap();
    assert!(scene.service.keys.authenticate(&api_key).await.is_err());
    assert_eq!(list(&scene, Some("default")).await, []);
    let again = scene.refusal(ControlOperation::RevokeKey { id: key.id }).await;
    assert!(again.contains("is already revoked"), "{again}");
    scene.refusal(ControlOperation::RevokeKey { id: Uuid::nil() }).await;
}

async fn list(scene: &ControlFixture, account: Option<&str>) -> Vec<KeyLine> {
    let account = account.map(str::to_owned);
    match scene.perform(ControlOperation::ListKeys { account }).await {
        Ok(ControlReply::Keys(keys)) => keys,
        other => panic!("keys were expected: {other:?}"),
    }
}

#[tokio::test]
async fn a_key_with_wrong_terms_is_refused() {
    let scene = ControlFixture::founded().await;
    let wrong = [
        NewKey { account: "nobody".into(), ..new_key() },
        NewKey { description: "x".repeat(65), ..new_key() },
        NewKey { limit_usd: Some("-1".into()), ..new_key() },
        NewKey { limit_diem: Some("lots".into()), ..new_key() },
        NewKey { expires: Some("2026-11-15T12:00:00Z".into()), ..new_key() },
        NewKey { expires: Some("tomorrow".into()), kind: KeyType::Admin, ..new_key() },
    ];
    for key in wrong {
        scene.refusal(ControlOperation::CreateKey(key)).await;
    }
    assert_eq!(list(&scene, None).await, []);
}

#[tokio::test]
async fn all_keys_of_an_account_are_revoked_at_once() {
    let scene = ControlFixture::founded().await;
    scene.perform(ControlOperation::CreateAccount { name: "other".into() }).await.unwrap();
    for account in ["default", "default", "other"] {
        let key = NewKey { account: account.into(), ..new_key() };
        scene.perform(ControlOperation::CreateKey(key)).await.unwrap();
    }
    let account = Some("default".to_owned());
    let revoked = scene.perform(ControlOperation::RevokeAllKeys { account }).await.unwrap();
    let ControlReply::Keys(revoked) = revoked else { panic!("{revoked:?}") };
    assert_eq!(revoked.len(), 2);
    assert_eq!(list(&scene, None).await.len(), 1);
    scene.perform(ControlOperation::RevokeAllKeys { account: None }).await.unwrap();
    assert_eq!(list(&scene, None).await, []);
}

#[tokio::test]
async fn accounts_are_frozen_and_wallets_unlinked() {
    let scene = ControlFixture::founded().await;
    let name = || "default".to_owned();
    let wallet = || "0x00000000000000000000000000000000000000aa".to_owned();
    let unlink = || ControlOperation::UnlinkWallet { name: name(), wallet: wallet() };
    scene.refusal(unlink()).await;
    scene.perform(ControlOperation::LinkWallet { name: name(), wallet: wallet() }).await.unwrap();
    scene.perform(unlink()).await.unwrap();
    scene.refusal(unlink()).await;
    let frozen = scene.perform(ControlOperation::FreezeAccount { name: name() }).await.unwrap();
    let ControlReply::Account(frozen) = frozen else { panic!("{frozen:?}") };
    assert!(frozen.line.frozen_at.is_some());
    let thawed = scene.perform(ControlOperation::UnfreezeAccount { name: name() }).await.unwrap();
    let ControlReply::Account(thawed) = thawed else { panic!("{thawed:?}") };
    assert_eq!(thawed.line.frozen_at, None);
    scene.refusal(ControlOperation::FreezeAccount { name: "nobody".into() }).await;
    scene.refusal(ControlOperation::FreezeAccount { name: wallet() }).await;
}

#[tokio::test]
async fn names_of_accounts_are_plain_and_unique() {
    let scene = ControlFixture::founded().await;
    let create = |name: &str| ControlOperation::CreateAccount { name: name.to_owned() };
    for name in ["", "a b", "-x", "a/b", "a\nb", &"x".repeat(65), "default"] {
        scene.refusal(create(name)).await;
    }
    for name in ["ops@example.org", "Zoë", "a-b_c.d+1"] {
        scene.perform(create(name)).await.unwrap();
    }
    let listed = scene.perform(ControlOperation::ListAccounts).await.unwrap();
    let ControlReply::Accounts(accounts) = listed else { panic!("{listed:?}") };
    assert_eq!(accounts.len(), 4);
}

#[tokio::test]
async fn the_journal_is_exported_and_verified() {
    let scene = ControlFixture::founded().await;
    scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    let export = ControlOperation::ExportLedger { after_seq: 0, format: ExportFormat::Csv };
    let exported = scene.perform(export).await.unwrap();
    let ControlReply::Journal(page) = exported else { panic!("{exported:?}") };
    assert_eq!(page.lines.len(), 1);
    assert_eq!(page.next_seq, None);
    let verified = scene.perform(ControlOperation::VerifyLedger).await.unwrap();
    let ControlReply::Verified(verification) = verified else { panic!("{verified:?}") };
    assert_eq!(verification.transfers, 1);
    assert_eq!(verification.differences, Vec::<String>::new());
}

#[tokio::test]
async fn a_reload_that_fails_says_why() {
    let scene = ControlFixture::founded().await;
    assert_eq!(scene.refusal(ControlOperation::ReloadModels).await, "the file is wrong");
}
