//! Nonces, links of wallets to accounts, and statements.

use money::Nano;

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    add_funded_owner, build_charge, build_lot, build_owner, build_usage_row, commit_writes,
    entry_id, expect_refusal, owner_id, record_transfer, today_at, top_up,
};
use crate::error::StoreError;
use crate::owner::{Owner, OwnerKind};
use crate::statement::{StatementKind, StatementLine};
use crate::usage::UsageRow;
use crate::wallet::{UsedNonce, WalletLink};
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("a nonce is used once by each wallet", |store| Box::pin(check_single_nonce(store))),
    ("expired nonces are dropped, a few at a time", |store| Box::pin(check_nonce_deletion(store))),
    ("an owner can be added without asking whether it is there", |store| {
        Box::pin(check_ensured_owner(store))
    }),
    ("a linked wallet finds the account that it spends from", |store| Box::pin(check_link(store))),
    ("a wallet is unlinked from its own account only", |store| Box::pin(check_unlink(store))),
    ("a wallet with an owner of its own is not linked", |store| {
        Box::pin(check_wallet_owner(store))
    }),
    ("a statement tells what was left after each line", |store| Box::pin(check_statement(store))),
    ("a statement is read a page at a time", |store| Box::pin(check_statement_pages(store))),
];

const WALLET: &str = "0x00000000000000000000000000000000000000aa";

fn use_nonce(wallet: &str, nonce: &str, until_ms: i64) -> StoreWrite {
    let (wallet, nonce) = (wallet.to_owned(), nonce.to_owned());
    StoreWrite::UseNonce(UsedNonce { wallet, nonce, until: today_at(until_ms) })
}

async fn check_single_nonce(store: &dyn Store) {
    commit_writes(store, vec![use_nonce("a", "n", 9)]).await;
    commit_writes(store, vec![use_nonce("b", "n", 9)]).await;
    commit_writes(store, vec![use_nonce("a", "m", 9)]).await;
    let error = expect_refusal(store, vec![use_nonce("a", "n", 10)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
}

async fn check_nonce_deletion(store: &dyn Store) {
    for (name, until) in [("1", 10), ("2", 11), ("3", 20)] {
        commit_writes(store, vec![use_nonce("a", name, until)]).await;
    }
    let drop_one = || vec![StoreWrite::DropExpiredNonces { now: today_at(11), rows_max: 1 }];
    commit_writes(store, drop_one()).await;
    commit_writes(store, vec![use_nonce("a", "1", 30)]).await;
    expect_refusal(store, vec![use_nonce("a", "2", 30)]).await;
    commit_writes(store, drop_one()).await;
    commit_writes(store, drop_one()).await;
    commit_writes(store, vec![use_nonce("a", "2", 30)]).await;
    expect_refusal(store, vec![use_nonce("a", "3", 30)]).await;
}

async fn check_ensured_owner(store: &dyn Store) {
    commit_writes(store, vec![StoreWrite::EnsureOwner(build_owner(1))]).await;
    let changed = Owner { tier: "partner".into(), ..build_owner(1) };
    commit_writes(store, vec![StoreWrite::EnsureOwner(changed)]).await;
    let same_name = Owner { id: owner_id(2), ..build_owner(1) };
    commit_writes(store, vec![StoreWrite::EnsureOwner(same_name)]).await;
    assert_eq!(store.owner(owner_id(1)).await.expect("asked"), Some(build_owner(1)));
    assert_eq!(store.owner(owner_id(2)).await.expect("asked"), None);
}

fn link_wallet(owner: u8) -> StoreWrite {
    let (kind, address) = (OwnerKind::Evm, WALLET.to_owned());
    StoreWrite::LinkWallet(WalletLink { kind, address, owner: owner_id(owner), at: today_at(1) })
}

async fn check_link(store: &dyn Store) {
    commit_writes(
        store,
        vec![StoreWrite::AddOwner(build_owner(1)), StoreWrite::AddOwner(build_owner(2))],
    )
    .await;
    assert_eq!(store.find_owner(OwnerKind::Evm, WALLET).await.expect("asked"), None);
    commit_writes(store, vec![link_wallet(1)]).await;
    assert_eq!(
        store.find_owner(OwnerKind::Evm, WALLET).await.expect("asked"),
        Some(build_owner(1))
    );
    assert_eq!(store.find_owner(OwnerKind::Solana, WALLET).await.expect("asked"), None);
    let error = expect_refusal(store, vec![link_wallet(2)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    // Otherwise a task that read the owner before the link was made would create a balance that is
    // never found.
    let own = Owner { kind: OwnerKind::Evm, name: WALLET.into(), ..build_owner(3) };
    let error = expect_refusal(store, vec![StoreWrite::EnsureOwner(own)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    commit_writes(store, vec![StoreWrite::EnsureOwner(build_owner(1))]).await;
    let links = store.wallet_links(OwnerKind::Evm, "", 10).await.expect("asked");
    let told: Vec<_> = links.iter().map(|it| (it.address.as_str(), it.owner)).collect();
    assert_eq!(told, [(WALLET, owner_id(1))]);
    assert_eq!(store.wallet_links(OwnerKind::Evm, WALLET, 10).await.expect("asked"), []);
    assert_eq!(store.wallet_links(OwnerKind::Solana, "", 10).await.expect("asked"), []);
}

async fn check_unlink(store: &dyn Store) {
    commit_writes(
        store,
        vec![
            StoreWrite::AddOwner(build_owner(1)),
            StoreWrite::AddOwner(build_owner(2)),
            link_wallet(1),
        ],
    )
    .await;
    let (kind, address) = (OwnerKind::Evm, WALLET.to_owned());
    let unlink = |number| StoreWrite::UnlinkWallet {
        kind,
        address: address.clone(),
        owner: owner_id(number),
    };
    let error = expect_refusal(store, vec![unlink(2)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    commit_writes(store, vec![unlink(1)]).await;
    assert_eq!(store.find_owner(OwnerKind::Evm, WALLET).await.expect("asked"), None);
    commit_writes(store, vec![link_wallet(2)]).await;
}

async fn check_wallet_owner(store: &dyn Store) {
    let own = Owner { kind: OwnerKind::Evm, name: WALLET.into(), ..build_owner(2) };
    commit_writes(
        store,
        vec![StoreWrite::AddOwner(build_owner(1)), StoreWrite::AddOwner(own.clone())],
    )
    .await;
    let error = expect_refusal(store, vec![link_wallet(1)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    assert_eq!(store.find_owner(OwnerKind::Evm, WALLET).await.expect("asked"), Some(own));
}

/// A dollar was paid in, two charges of two rows each were made, and the second was refunded.
async fn write_history(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    let row = |entry: u128, ms, nanos| {
        StoreWrite::AddUsage(UsageRow {
            charge: entry_id(entry),
            ..build_usage_row(1, today_at(ms), nanos)
        })
    };
    for (entry, ms) in [(1, 5), (2, 6)] {
        let charged = record_transfer(build_charge(entry, build_lot(1), 300));
        commit_writes(store, vec![charged, row(entry, ms, 100), row(entry, ms, 200)]).await;
    }
    let mut back = top_up(0, build_lot(1), 300);
    back.entry = entry_id(2).refund_entry();
    back.debit = build_charge(2, build_lot(1), 300).credit;
    back.code = ledger_core::TransferCode::Refund;
    commit_writes(store, vec![record_transfer(back), row(2, 7, -300)]).await;
}

fn build_line(kind: StatementKind, amount: i64, balance_after: i64) -> (StatementKind, i64, i64) {
    (kind, amount, balance_after)
}

fn summarize_lines(lines: &[StatementLine]) -> Vec<(StatementKind, i64, i64)> {
    let told = |it: &StatementLine| (it.kind, it.amount.nanos(), it.balance_after.nanos());
    lines.iter().map(told).collect()
}

async fn check_statement(store: &dyn Store) {
    write_history(store).await;
    let statement = store.read_statement(owner_id(1), 0, 10).await.expect("asked");
    assert_eq!(statement.balance, Nano::from_nanos(999_999_700));
    assert!(!statement.has_more);
    assert_eq!(
        summarize_lines(&statement.lines),
        [
            build_line(StatementKind::Refund, 300, 999_999_700),
            build_line(StatementKind::Charge, -300, 999_999_400),
            build_line(StatementKind::Charge, -300, 999_999_700),
            build_line(StatementKind::Credit, 1_000_000_000, 1_000_000_000),
        ]
    );
    let charge = &statement.lines[2];
    assert_eq!((charge.entry, charge.at), (entry_id(1), today_at(5)));
    assert_eq!(charge.request_id.as_deref(), Some("0a1b"));
    assert_eq!(charge.model.as_deref(), Some("llama"));
    assert_eq!(statement.lines[0].entry, entry_id(2).refund_entry());
    assert_eq!(statement.lines[3].request_id, None);
    let nobody = store.read_statement(owner_id(9), 0, 10).await.expect("asked");
    assert_eq!((nobody.balance, nobody.lines), (Nano::ZERO, Vec::new()));
}

async fn check_statement_pages(store: &dyn Store) {
    write_history(store).await;
    let page = store.read_statement(owner_id(1), 1, 2).await.expect("asked");
    assert!(page.has_more);
    assert_eq!(
        summarize_lines(&page.lines),
        [
            build_line(StatementKind::Charge, -300, 999_999_400),
            build_line(StatementKind::Charge, -300, 999_999_700),
        ]
    );
    let last = store.read_statement(owner_id(1), 3, 2).await.expect("asked");
    assert_eq!(
        summarize_lines(&last.lines),
        [build_line(StatementKind::Credit, 1_000_000_000, 1_000_000_000)]
    );
    assert!(!last.has_more);
    let beyond = store.read_statement(owner_id(1), 4, 2).await.expect("asked");
    assert_eq!((beyond.lines, beyond.has_more), (Vec::new(), false));
}
