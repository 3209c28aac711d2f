//! Nonces, links of wallets to accounts, and statements.

use money::Nano;

use crate::Store;
use crate::conformance::Cases;
use crate::conformance::fixture::{
    at, charge, done, entry_id, furnish, lot, owner, owner_id, refused, top_up, transfer, usage,
};
use crate::error::StoreError;
use crate::owner::{Owner, OwnerKind};
use crate::statement::{StatementKind, StatementLine};
use crate::usage::UsageRow;
use crate::wallet::{UsedNonce, WalletLink};
use crate::write::Write;

pub(crate) const CASES: Cases = &[
    ("a nonce is used once by each wallet", |store| Box::pin(once(store))),
    ("expired nonces are dropped, a few at a time", |store| Box::pin(dropped(store))),
    ("an owner can be added without asking whether it is there", |store| Box::pin(ensured(store))),
    ("a linked wallet finds the account that it spends from", |store| Box::pin(linked(store))),
    ("a wallet is unlinked from its own account only", |store| Box::pin(unlinked(store))),
    ("a wallet with an owner of its own is not linked", |store| Box::pin(taken(store))),
    ("a statement tells what was left after each line", |store| Box::pin(stated(store))),
    ("a statement is read a page at a time", |store| Box::pin(paged(store))),
];

const WALLET: &str = "0x00000000000000000000000000000000000000aa";

fn nonce(wallet: &str, nonce: &str, until_ms: i64) -> Write {
    let (wallet, nonce) = (wallet.to_owned(), nonce.to_owned());
    Write::UseNonce(UsedNonce { wallet, nonce, until: at(until_ms) })
}

async fn once(store: &dyn Store) {
    done(store, vec![nonce("a", "n", 9)]).await;
    done(store, vec![nonce("b", "n", 9)]).await;
    done(store, vec![nonce("a", "m", 9)]).await;
    let error = refused(store, vec![nonce("a", "n", 10)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
}

async fn dropped(store: &dyn Store) {
    for (name, until) in [("1", 10), ("2", 11), ("3", 20)] {
        done(store, vec![nonce("a", name, until)]).await;
    }
    let drop_one = || vec![Write::DropExpiredNonces { now: at(11), rows_max: 1 }];
    done(store, drop_one()).await;
    done(store, vec![nonce("a", "1", 30)]).await;
    refused(store, vec![nonce("a", "2", 30)]).await;
    done(store, drop_one()).await;
    done(store, drop_one()).await;
    done(store, vec![nonce("a", "2", 30)]).await;
    refused(store, vec![nonce("a", "3", 30)]).await;
}

async fn ensured(store: &dyn Store) {
    done(store, vec![Write::EnsureOwner(owner(1))]).await;
    let changed = Owner { tier: "partner".into(), ..owner(1) };
    done(store, vec![Write::EnsureOwner(changed)]).await;
    let same_name = Owner { id: owner_id(2), ..owner(1) };
    done(store, vec![Write::EnsureOwner(same_name)]).await;
    assert_eq!(store.owner(owner_id(1)).await.expect("asked"), Some(owner(1)));
    assert_eq!(store.owner(owner_id(2)).await.expect("asked"), None);
}

fn link(owner: u8) -> Write {
    let (kind, address) = (OwnerKind::Evm, WALLET.to_owned());
    Write::LinkWallet(WalletLink { kind, address, owner: owner_id(owner), at: at(1) })
}

async fn linked(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1)), Write::AddOwner(owner(2))]).await;
    assert_eq!(store.find_owner(OwnerKind::Evm, WALLET).await.expect("asked"), None);
    done(store, vec![link(1)]).await;
    assert_eq!(store.find_owner(OwnerKind::Evm, WALLET).await.expect("asked"), Some(owner(1)));
    assert_eq!(store.find_owner(OwnerKind::Solana, WALLET).await.expect("asked"), None);
    let error = refused(store, vec![link(2)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    // Otherwise a task that read the owner before the link was made would create a balance that is
    // never found.
    let own = Owner { kind: OwnerKind::Evm, name: WALLET.into(), ..owner(3) };
    let error = refused(store, vec![Write::EnsureOwner(own)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    done(store, vec![Write::EnsureOwner(owner(1))]).await;
    let links = store.wallet_links(OwnerKind::Evm, "", 10).await.expect("asked");
    let told: Vec<_> = links.iter().map(|it| (it.address.as_str(), it.owner)).collect();
    assert_eq!(told, [(WALLET, owner_id(1))]);
    assert_eq!(store.wallet_links(OwnerKind::Evm, WALLET, 10).await.expect("asked"), []);
    assert_eq!(store.wallet_links(OwnerKind::Solana, "", 10).await.expect("asked"), []);
}

async fn unlinked(store: &dyn Store) {
    done(store, vec![Write::AddOwner(owner(1)), Write::AddOwner(owner(2)), link(1)]).await;
    let (kind, address) = (OwnerKind::Evm, WALLET.to_owned());
    let unlink =
        |number| Write::UnlinkWallet { kind, address: address.clone(), owner: owner_id(number) };
    let error = refused(store, vec![unlink(2)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    done(store, vec![unlink(1)]).await;
    assert_eq!(store.find_owner(OwnerKind::Evm, WALLET).await.expect("asked"), None);
    done(store, vec![link(2)]).await;
}

async fn taken(store: &dyn Store) {
    let own = Owner { kind: OwnerKind::Evm, name: WALLET.into(), ..owner(2) };
    done(store, vec![Write::AddOwner(owner(1)), Write::AddOwner(own.clone())]).await;
    let error = refused(store, vec![link(1)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    assert_eq!(store.find_owner(OwnerKind::Evm, WALLET).await.expect("asked"), Some(own));
}

/// A dollar was paid in, two charges of two rows each were made, and the second was refunded.
async fn history(store: &dyn Store) {
    furnish(store, 1).await;
    furnish(store, 2).await;
    let row = |entry: u128, ms, nanos| {
        Write::AddUsage(UsageRow { charge: entry_id(entry), ..usage(1, at(ms), nanos) })
    };
    for (entry, ms) in [(1, 5), (2, 6)] {
        let charged = transfer(charge(entry, lot(1), 300));
        done(store, vec![charged, row(entry, ms, 100), row(entry, ms, 200)]).await;
    }
    let mut back = top_up(0, lot(1), 300);
    back.entry = entry_id(2).refund();
    back.debit = charge(2, lot(1), 300).credit;
    back.code = credits::TransferCode::Refund;
    done(store, vec![transfer(back), row(2, 7, -300)]).await;
}

fn line(kind: StatementKind, amount: i64, balance_after: i64) -> (StatementKind, i64, i64) {
    (kind, amount, balance_after)
}

fn told(lines: &[StatementLine]) -> Vec<(StatementKind, i64, i64)> {
    let told = |it: &StatementLine| (it.kind, it.amount.nanos(), it.balance_after.nanos());
    lines.iter().map(told).collect()
}

async fn stated(store: &dyn Store) {
    history(store).await;
    let statement = store.statement(owner_id(1), 0, 10).await.expect("asked");
    assert_eq!(statement.balance, Nano::from_nanos(999_999_700));
    assert!(!statement.has_more);
    assert_eq!(
        told(&statement.lines),
        [
            line(StatementKind::Refund, 300, 999_999_700),
            line(StatementKind::Charge, -300, 999_999_400),
            line(StatementKind::Charge, -300, 999_999_700),
            line(StatementKind::Credit, 1_000_000_000, 1_000_000_000),
        ]
    );
    let charge = &statement.lines[2];
    assert_eq!((charge.entry, charge.at), (entry_id(1), at(5)));
    assert_eq!(charge.request_id.as_deref(), Some("0a1b"));
    assert_eq!(charge.model.as_deref(), Some("llama"));
    assert_eq!(statement.lines[0].entry, entry_id(2).refund());
    assert_eq!(statement.lines[3].request_id, None);
    let nobody = store.statement(owner_id(9), 0, 10).await.expect("asked");
    assert_eq!((nobody.balance, nobody.lines), (Nano::ZERO, Vec::new()));
}

async fn paged(store: &dyn Store) {
    history(store).await;
    let page = store.statement(owner_id(1), 1, 2).await.expect("asked");
    assert!(page.has_more);
    assert_eq!(
        told(&page.lines),
        [
            line(StatementKind::Charge, -300, 999_999_400),
            line(StatementKind::Charge, -300, 999_999_700),
        ]
    );
    let last = store.statement(owner_id(1), 3, 2).await.expect("asked");
    assert_eq!(told(&last.lines), [line(StatementKind::Credit, 1_000_000_000, 1_000_000_000)]);
    assert!(!last.has_more);
    let beyond = store.statement(owner_id(1), 4, 2).await.expect("asked");
    assert_eq!((beyond.lines, beyond.has_more), (Vec::new(), false));
}
