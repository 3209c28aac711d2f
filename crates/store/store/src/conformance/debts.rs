//! The account of a debt: the one account of an owner whose debits may exceed its credits.

use ledger_core::{LedgerAccount, LedgerTransfer, LotKey, LotTag, TransferCode};
use money::{BalanceCurrency, Nano};

use super::CaseTable;
use super::fixture::{
    add_funded_owner, build_cash_account, build_lot, commit_writes, entry_id, expect_refusal,
    lot_opened, owner_id, record_transfer, top_up,
};
use crate::Store;
use crate::error::StoreError;

pub(super) const CASES: CaseTable = &[
    ("a debt may be owed and is never repaid beyond it", |store| Box::pin(check_debt(store))),
    ("a reversal and a restoration count as granted", |store| Box::pin(check_granted(store))),
];

fn debt_lot(number: u8) -> LotKey {
    LotKey { tag: LotTag::Debt, ..build_lot(number) }
}

/// A payment is taken back: from the lot, or as a debt.
fn reversal(entry: u128, lot: LotKey, nanos: i64) -> LedgerTransfer {
    let code =
        if lot.tag == LotTag::Debt { TransferCode::Shortfall } else { TransferCode::Reversal };
    LedgerTransfer {
        debit: LedgerAccount::Lot(lot),
        credit: build_cash_account(),
        code,
        ..top_up(entry, lot, nanos)
    }
}

fn repayment(entry: u128, nanos: i64) -> LedgerTransfer {
    LedgerTransfer { code: TransferCode::Repayment, ..top_up(entry, debt_lot(1), nanos) }
}

async fn check_debt(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let opened = lot_opened(debt_lot(1));
    commit_writes(store, vec![opened, record_transfer(reversal(5, debt_lot(1), 700))]).await;
    commit_writes(store, vec![record_transfer(repayment(6, 300))]).await;
    let error = expect_refusal(store, vec![record_transfer(repayment(7, 401))]).await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    commit_writes(store, vec![record_transfer(repayment(8, 400))]).await;
    let snapshot = store.load_books().await.expect("asked").snapshot;
    let debt = snapshot.lots.iter().find(|row| row.lot == debt_lot(1)).expect("it is open");
    assert_eq!((debt.columns.debits, debt.columns.credits), (700, 700));
    assert_eq!(debt.granted, Nano::ZERO);
    let transfers = store.find_transfers(entry_id(5)).await;
    assert_eq!(transfers.expect("asked")[0].transfer, reversal(5, debt_lot(1), 700));
}

async fn check_granted(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let restoration =
        LedgerTransfer { code: TransferCode::Restoration, ..top_up(6, build_lot(1), 200) };
    let reversal = reversal(5, build_lot(1), 700);
    commit_writes(store, vec![record_transfer(reversal), record_transfer(restoration)]).await;
    let snapshot = store.load_books().await.expect("asked").snapshot;
    assert_eq!(snapshot.lots[0].granted, Nano::from_nanos(1_000_000_000 - 500));
    let given = store.given_credit(owner_id(1), BalanceCurrency::Usd).await.expect("asked");
    assert_eq!(given, Nano::ZERO, "neither is the operator's");
}
