//! The journal and the sums that follow from it.

use ledger_core::{
    AllowanceKind, AllowanceRow, HeldKey, JobHold, JournalRecord, KeySpendRow, KeyStamp,
    LedgerAccount, LedgerTransfer, LimitClass, LotKey, LotRow, LotTag, PaymentLeg, SystemKind,
    TransferCode,
};
use money::{BalanceCurrency, Nano};

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    TODAY, add_funded_owner, build_cash_account, build_charge, build_key, build_lot,
    build_system_account, commit_writes, entry_id, expect_refusal, hold_id, key_id, lot_opened,
    owner_id, record_transfer, today_at, top_up,
};
use crate::error::StoreError;
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("transfers are read back as they were written", |store| Box::pin(check_read_back(store))),
    ("balances follow from transfers", |store| Box::pin(check_balances(store))),
    ("an entry is in the journal at most once", |store| Box::pin(check_single_entry(store))),
    ("a lot cannot be overdrawn", |store| Box::pin(check_overdraft(store))),
    ("what a job holds cannot be spent, and the hold ends once", |store| {
        Box::pin(check_job_holds(store))
    }),
    ("a lot that is closed is empty, and can be opened again", |store| {
        Box::pin(check_closed_lot(store))
    }),
    ("a key's spending starts over each day and month", |store| Box::pin(check_key_spend(store))),
    ("an allowance keeps its newest amount and period", |store| Box::pin(check_allowances(store))),
    ("given credit is what was granted less what was taken back", |store| {
        Box::pin(check_given_credit(store))
    }),
    ("a trial balance has the closed lots and the last entry", |store| {
        Box::pin(check_trial_balance(store))
    }),
];

async fn check_read_back(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let stamp = KeyStamp::at(key_id(1), today_at(3));
    let written = LedgerTransfer {
        leg: 3,
        key: Some(stamp),
        at: today_at(3),
        ..build_charge(5, build_lot(1), 250)
    };
    commit_writes(store, vec![record_transfer(written.clone())]).await;
    let read = store.find_transfers(entry_id(5)).await.expect("asked");
    assert_eq!(read.into_iter().map(|entry| entry.transfer).collect::<Vec<_>>(), [written]);
    let first = store.read_journal(0, 1).await.expect("asked");
    assert_eq!(first[0].transfer, top_up(1 << 64, build_lot(1), 1_000_000_000));
    let second = store.read_journal(first[0].seq, 10).await.expect("asked");
    assert_eq!(second.len(), 1);
    assert_eq!(store.read_journal(second[0].seq, 10).await.expect("asked"), []);
}

async fn check_balances(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(
        store,
        vec![
            record_transfer(build_charge(5, build_lot(1), 250)),
            record_transfer(build_charge(6, build_lot(1), 50)),
        ],
    )
    .await;
    let snapshot = store.load_books().await.expect("asked").snapshot;
    let row: LotRow = snapshot.lots[0];
    assert_eq!(row.lot, build_lot(1));
    assert_eq!((row.columns.debits, row.columns.credits), (300, 1_000_000_000));
    assert_eq!(row.granted, Nano::from_units(1));
    let system_of = |account: &LedgerAccount| {
        let rows = snapshot.systems.iter();
        rows.clone().find(|row| LedgerAccount::System(row.account.clone()) == *account).cloned()
    };
    let revenue = system_of(&build_system_account(SystemKind::Revenue)).expect("revenue is there");
    assert_eq!((revenue.columns.debits, revenue.columns.credits), (0, 300));
    let cash = system_of(&build_cash_account()).expect("cash is there");
    assert_eq!((cash.columns.debits, cash.columns.credits), (1_000_000_000, 0));
}

async fn check_single_entry(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(store, vec![record_transfer(top_up(5, build_lot(1), 10))]).await;
    let error = expect_refusal(store, vec![record_transfer(top_up(5, build_lot(1), 10))]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    assert!(store.is_recorded(entry_id(5)).await.expect("asked"));
    let other_leg = LedgerTransfer { leg: 1, ..top_up(5, build_lot(1), 10) };
    commit_writes(store, vec![record_transfer(other_leg)]).await;
    let snapshot = store.load_books().await.expect("asked").snapshot;
    assert_eq!(snapshot.lots[0].columns.credits, 1_000_000_020);
}

async fn check_given_credit(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let given =
        async || store.given_credit(owner_id(1), BalanceCurrency::Usd).await.expect("asked");
    assert_eq!(given().await, Nano::ZERO);
    let granted = LedgerTransfer {
        debit: build_system_account(SystemKind::Issuance),
        code: TransferCode::Grant,
        ..top_up(5, build_lot(1), 700)
    };
    let taken_back = LedgerTransfer {
        debit: LedgerAccount::Lot(build_lot(1)),
        credit: build_system_account(SystemKind::Issuance),
        code: TransferCode::TakeBack,
        ..top_up(6, build_lot(1), 200)
    };
    commit_writes(store, vec![record_transfer(granted), record_transfer(taken_back)]).await;
    commit_writes(store, vec![record_transfer(build_charge(7, build_lot(1), 250))]).await;
    assert_eq!(given().await, Nano::from_nanos(500));
    let other = store.given_credit(owner_id(1), BalanceCurrency::Vcu).await.expect("asked");
    assert_eq!(other, Nano::ZERO);
    assert_eq!(
        store.given_credit(owner_id(9), BalanceCurrency::Usd).await.expect("asked"),
        Nano::ZERO
    );
}

async fn check_overdraft(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let error =
        expect_refusal(store, vec![record_transfer(build_charge(5, build_lot(1), 1_000_000_001))])
            .await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    let nothing = LedgerTransfer { amount: Nano::ZERO, ..build_charge(6, build_lot(1), 1) };
    let error = expect_refusal(store, vec![record_transfer(nothing)]).await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    commit_writes(store, vec![record_transfer(build_charge(7, build_lot(1), 1_000_000_000))]).await;
}

async fn check_job_holds(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let stamp = KeyStamp::at(key_id(1), today_at(0));
    let hold = JobHold {
        hold: hold_id(1),
        owner: owner_id(1),
        key: Some(HeldKey { terms: build_key(1).terms(), stamp }),
        legs: vec![PaymentLeg { lot: build_lot(1), amount: Nano::from_nanos(600_000_000) }],
        made_at: today_at(0),
    };
    commit_writes(store, vec![StoreWrite::Journal(JournalRecord::JobHeld(hold.clone()))]).await;
    let open = store.load_books().await.expect("asked").snapshot.job_holds;
    assert_eq!(open, std::slice::from_ref(&hold));
    let error =
        expect_refusal(store, vec![record_transfer(build_charge(5, build_lot(1), 400_000_001))])
            .await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    let pending = store.trial_balance().await.expect("asked").pending;
    assert_eq!(pending, [(build_lot(1), Nano::from_nanos(600_000_000))]);
    let ended = || {
        StoreWrite::Journal(JournalRecord::JobHoldEnded {
            hold: hold.hold,
            legs: hold.legs.clone(),
        })
    };
    commit_writes(
        store,
        vec![ended(), record_transfer(build_charge(6, build_lot(1), 1_000_000_000))],
    )
    .await;
    let error = expect_refusal(store, vec![ended()]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    let after = store.trial_balance().await.expect("asked");
    assert_eq!((after.pending, after.snapshot.job_holds), (vec![], vec![]));
    add_funded_owner(store, 2).await;
    let legs = vec![PaymentLeg { lot: build_lot(2), amount: Nano::from_nanos(1) }];
    let other =
        JobHold { hold: hold_id(2), owner: owner_id(2), key: None, legs, made_at: today_at(0) };
    commit_writes(store, vec![StoreWrite::Journal(JournalRecord::JobHeld(other.clone()))]).await;
    assert_eq!(store.load_books().await.expect("asked").snapshot.job_holds, [other]);
}

async fn check_closed_lot(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let day = LotKey { currency: BalanceCurrency::Diem, tag: LotTag::Day(TODAY), ..build_lot(1) };
    let in_diem = |transfer: LedgerTransfer, kind: SystemKind| match transfer.code {
        TransferCode::TopUp => LedgerTransfer { debit: build_diem_account(kind), ..transfer },
        _ => LedgerTransfer { credit: build_diem_account(kind), ..transfer },
    };
    let granted = in_diem(top_up(5, day, 10), SystemKind::Issuance);
    let expired = in_diem(build_charge(6, day, 10), SystemKind::Expired);
    let close = || StoreWrite::Journal(JournalRecord::LotClosed { lot: day });
    commit_writes(store, vec![lot_opened(day), record_transfer(granted)]).await;
    let error = expect_refusal(store, vec![close()]).await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    commit_writes(store, vec![record_transfer(expired), close()]).await;
    let open = store.load_books().await.expect("asked").snapshot.lots;
    assert_eq!(open.iter().map(|row| row.lot).collect::<Vec<_>>(), [build_lot(1)]);
    commit_writes(store, vec![lot_opened(day)]).await;
    assert_eq!(store.load_books().await.expect("asked").snapshot.lots.len(), 2);
    let error = expect_refusal(store, vec![lot_opened(day)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
}

fn build_diem_account(kind: SystemKind) -> LedgerAccount {
    LedgerAccount::System(ledger_core::SystemAccount { currency: BalanceCurrency::Diem, kind })
}

async fn check_key_spend(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let spent = |day, month, nanos| {
        let stamp = KeyStamp { key: key_id(1), day, month };
        let amount = Nano::from_nanos(nanos);
        StoreWrite::Journal(JournalRecord::KeySpent { stamp, class: LimitClass::Usd, amount })
    };
    let expect = |day, day_spent, month, month_spent, lifetime_spent| KeySpendRow {
        key: key_id(1),
        class: LimitClass::Usd,
        day,
        day_spent: Nano::from_nanos(day_spent),
        month,
        month_spent: Nano::from_nanos(month_spent),
        lifetime_spent: Nano::from_nanos(lifetime_spent),
    };
    let steps = [
        (spent(10, 1, 5), expect(10, 5, 1, 5, 5)),
        (spent(10, 1, 7), expect(10, 12, 1, 12, 12)),
        (spent(11, 1, 1), expect(11, 1, 1, 13, 13)),
        (spent(10, 1, 2), expect(11, 1, 1, 15, 15)),
        (spent(31, 2, 4), expect(31, 4, 2, 4, 19)),
        (spent(31, 2, -4), expect(31, 0, 2, 0, 15)),
    ];
    for (write, expected) in steps {
        commit_writes(store, vec![write]).await;
        assert_eq!(store.load_books().await.expect("asked").snapshot.key_spends, [expected]);
    }
}

async fn check_allowances(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let kind = AllowanceKind::DiemDaily;
    let set = |entry, nanos| {
        let (entry, amount) = (entry_id(entry), Nano::from_nanos(nanos));
        StoreWrite::Journal(JournalRecord::AllowanceSet {
            entry,
            owner: owner_id(1),
            kind,
            amount,
            at: today_at(0),
        })
    };
    let opened = |period| {
        StoreWrite::Journal(JournalRecord::AllowanceOpened { owner: owner_id(1), kind, period })
    };
    commit_writes(store, vec![set(1, 50)]).await;
    assert!(store.is_recorded(entry_id(1)).await.expect("asked"));
    assert!(!store.is_recorded(entry_id(2)).await.expect("asked"));
    commit_writes(store, vec![opened(TODAY), set(2, 70)]).await;
    let amount = Nano::from_nanos(70);
    let expected = AllowanceRow { owner: owner_id(1), kind, amount, opened: Some(TODAY) };
    assert_eq!(store.load_books().await.expect("asked").snapshot.allowances, [expected]);
    let error = expect_refusal(store, vec![set(1, 50)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
}

async fn check_trial_balance(store: &dyn Store) {
    let empty = store.trial_balance().await.expect("asked");
    assert_eq!((empty.last_seq, empty.snapshot.lots.len()), (0, 0));
    add_funded_owner(store, 1).await;
    let month =
        LotKey { currency: BalanceCurrency::Bundled, tag: LotTag::Month(682), ..build_lot(1) };
    let close = StoreWrite::Journal(JournalRecord::LotClosed { lot: month });
    commit_writes(store, vec![lot_opened(month), close]).await;
    let trial = store.trial_balance().await.expect("asked");
    assert_eq!(trial.snapshot.lots.len(), 2);
    let last = store.read_journal(0, 10).await.expect("asked").last().map(|entry| entry.seq);
    assert_eq!(Some(trial.last_seq), last);
}
