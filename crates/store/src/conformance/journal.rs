//! The journal and the sums that follow from it.

use credits::{
    Account, AllowanceKind, AllowanceRow, HeldKey, JobHold, KeySpendRow, KeyStamp, Leg, LimitClass,
    LotKey, LotRow, LotTag, Record, SystemKind, Transfer, TransferCode,
};
use money::{Currency, Nano};

use crate::Store;
use crate::conformance::Cases;
use crate::conformance::fixture::{
    TODAY, at, cash, charge, done, entry_id, furnish, hold_id, key, key_id, lot, lot_opened,
    owner_id, refused, system, top_up, transfer,
};
use crate::error::StoreError;
use crate::write::Write;

pub(crate) const CASES: Cases = &[
    ("transfers are read back as they were written", |store| Box::pin(read_back(store))),
    ("balances follow from transfers", |store| Box::pin(balances(store))),
    ("an entry is in the journal at most once", |store| Box::pin(once(store))),
    ("a lot cannot be overdrawn", |store| Box::pin(overdrawn(store))),
    ("what a job holds cannot be spent, and the hold ends once", |store| Box::pin(jobs(store))),
    ("a lot that is closed is empty, and can be opened again", |store| Box::pin(closed(store))),
    ("a key's spending starts over each day and month", |store| Box::pin(key_spend(store))),
    ("an allowance keeps its newest amount and period", |store| Box::pin(allowances(store))),
    ("given credit is what was granted less what was taken back", |store| Box::pin(given(store))),
    ("a trial balance has the closed lots and the last entry", |store| Box::pin(trial(store))),
];

async fn read_back(store: &dyn Store) {
    furnish(store, 1).await;
    let stamp = KeyStamp::at(key_id(1), at(3));
    let written = Transfer { leg: 3, key: Some(stamp), at: at(3), ..charge(5, lot(1), 250) };
    done(store, vec![transfer(written.clone())]).await;
    let read = store.transfers(entry_id(5)).await.expect("asked");
    assert_eq!(read.into_iter().map(|entry| entry.transfer).collect::<Vec<_>>(), [written]);
    let first = store.journal(0, 1).await.expect("asked");
    assert_eq!(first[0].transfer, top_up(1 << 64, lot(1), 1_000_000_000));
    let second = store.journal(first[0].seq, 10).await.expect("asked");
    assert_eq!(second.len(), 1);
    assert_eq!(store.journal(second[0].seq, 10).await.expect("asked"), []);
}

async fn balances(store: &dyn Store) {
    furnish(store, 1).await;
    done(store, vec![transfer(charge(5, lot(1), 250)), transfer(charge(6, lot(1), 50))]).await;
    let snapshot = store.load().await.expect("asked").snapshot;
    let row: LotRow = snapshot.lots[0];
    assert_eq!(row.lot, lot(1));
    assert_eq!((row.columns.debits, row.columns.credits), (300, 1_000_000_000));
    assert_eq!(row.granted, Nano::from_units(1));
    let system_of = |account: &Account| {
        let rows = snapshot.systems.iter();
        rows.clone().find(|row| Account::System(row.account.clone()) == *account).cloned()
    };
    let revenue = system_of(&system(SystemKind::Revenue)).expect("revenue is there");
    assert_eq!((revenue.columns.debits, revenue.columns.credits), (0, 300));
    let cash = system_of(&cash()).expect("cash is there");
    assert_eq!((cash.columns.debits, cash.columns.credits), (1_000_000_000, 0));
}

async fn once(store: &dyn Store) {
    furnish(store, 1).await;
    done(store, vec![transfer(top_up(5, lot(1), 10))]).await;
    let error = refused(store, vec![transfer(top_up(5, lot(1), 10))]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    assert!(store.is_recorded(entry_id(5)).await.expect("asked"));
    let other_leg = Transfer { leg: 1, ..top_up(5, lot(1), 10) };
    done(store, vec![transfer(other_leg)]).await;
    let snapshot = store.load().await.expect("asked").snapshot;
    assert_eq!(snapshot.lots[0].columns.credits, 1_000_000_020);
}

async fn given(store: &dyn Store) {
    furnish(store, 1).await;
    let given = async || store.given_credit(owner_id(1), Currency::Usd).await.expect("asked");
    assert_eq!(given().await, Nano::ZERO);
    let granted = Transfer {
        debit: system(SystemKind::Issuance),
        code: TransferCode::Grant,
        ..top_up(5, lot(1), 700)
    };
    let taken_back = Transfer {
        debit: Account::Lot(lot(1)),
        credit: system(SystemKind::Issuance),
        code: TransferCode::TakeBack,
        ..top_up(6, lot(1), 200)
    };
    done(store, vec![transfer(granted), transfer(taken_back)]).await;
    done(store, vec![transfer(charge(7, lot(1), 250))]).await;
    assert_eq!(given().await, Nano::from_nanos(500));
    let other = store.given_credit(owner_id(1), Currency::Vcu).await.expect("asked");
    assert_eq!(other, Nano::ZERO);
    assert_eq!(store.given_credit(owner_id(9), Currency::Usd).await.expect("asked"), Nano::ZERO);
}

async fn overdrawn(store: &dyn Store) {
    furnish(store, 1).await;
    let error = refused(store, vec![transfer(charge(5, lot(1), 1_000_000_001))]).await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    let nothing = Transfer { amount: Nano::ZERO, ..charge(6, lot(1), 1) };
    let error = refused(store, vec![transfer(nothing)]).await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    done(store, vec![transfer(charge(7, lot(1), 1_000_000_000))]).await;
}

async fn jobs(store: &dyn Store) {
    furnish(store, 1).await;
    let stamp = KeyStamp::at(key_id(1), at(0));
    let hold = JobHold {
        hold: hold_id(1),
        owner: owner_id(1),
        key: Some(HeldKey { terms: key(1).terms(), stamp }),
        legs: vec![Leg { lot: lot(1), amount: Nano::from_nanos(600_000_000) }],
        made_at: at(0),
    };
    done(store, vec![Write::Journal(Record::JobHeld(hold.clone()))]).await;
    let open = store.load().await.expect("asked").snapshot.job_holds;
    assert_eq!(open, std::slice::from_ref(&hold));
    let error = refused(store, vec![transfer(charge(5, lot(1), 400_000_001))]).await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    let pending = store.trial_balance().await.expect("asked").pending;
    assert_eq!(pending, [(lot(1), Nano::from_nanos(600_000_000))]);
    let ended =
        || Write::Journal(Record::JobHoldEnded { hold: hold.hold, legs: hold.legs.clone() });
    done(store, vec![ended(), transfer(charge(6, lot(1), 1_000_000_000))]).await;
    let error = refused(store, vec![ended()]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    let after = store.trial_balance().await.expect("asked");
    assert_eq!((after.pending, after.snapshot.job_holds), (vec![], vec![]));
    furnish(store, 2).await;
    let legs = vec![Leg { lot: lot(2), amount: Nano::from_nanos(1) }];
    let other = JobHold { hold: hold_id(2), owner: owner_id(2), key: None, legs, made_at: at(0) };
    done(store, vec![Write::Journal(Record::JobHeld(other.clone()))]).await;
    assert_eq!(store.load().await.expect("asked").snapshot.job_holds, [other]);
}

async fn closed(store: &dyn Store) {
    furnish(store, 1).await;
    let day = LotKey { currency: Currency::Diem, tag: LotTag::Day(TODAY), ..lot(1) };
    let in_diem = |transfer: Transfer, kind: SystemKind| match transfer.code {
        TransferCode::TopUp => Transfer { debit: diem(kind), ..transfer },
        _ => Transfer { credit: diem(kind), ..transfer },
    };
    let granted = in_diem(top_up(5, day, 10), SystemKind::Issuance);
    let expired = in_diem(charge(6, day, 10), SystemKind::Expired);
    let close = || Write::Journal(Record::LotClosed { lot: day });
    done(store, vec![lot_opened(day), transfer(granted)]).await;
    let error = refused(store, vec![close()]).await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    done(store, vec![transfer(expired), close()]).await;
    let open = store.load().await.expect("asked").snapshot.lots;
    assert_eq!(open.iter().map(|row| row.lot).collect::<Vec<_>>(), [lot(1)]);
    done(store, vec![lot_opened(day)]).await;
    assert_eq!(store.load().await.expect("asked").snapshot.lots.len(), 2);
    let error = refused(store, vec![lot_opened(day)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
}

fn diem(kind: SystemKind) -> Account {
    Account::System(credits::SystemAccount { currency: Currency::Diem, kind })
}

async fn key_spend(store: &dyn Store) {
    furnish(store, 1).await;
    let spent = |day, month, nanos| {
        let stamp = KeyStamp { key: key_id(1), day, month };
        let amount = Nano::from_nanos(nanos);
        Write::Journal(Record::KeySpent { stamp, class: LimitClass::Usd, amount })
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
        done(store, vec![write]).await;
        assert_eq!(store.load().await.expect("asked").snapshot.key_spends, [expected]);
    }
}

async fn allowances(store: &dyn Store) {
    furnish(store, 1).await;
    let kind = AllowanceKind::DiemDaily;
    let set = |entry, nanos| {
        let (entry, amount) = (entry_id(entry), Nano::from_nanos(nanos));
        Write::Journal(Record::AllowanceSet { entry, owner: owner_id(1), kind, amount, at: at(0) })
    };
    let opened =
        |period| Write::Journal(Record::AllowanceOpened { owner: owner_id(1), kind, period });
    done(store, vec![set(1, 50)]).await;
    assert!(store.is_recorded(entry_id(1)).await.expect("asked"));
    assert!(!store.is_recorded(entry_id(2)).await.expect("asked"));
    done(store, vec![opened(TODAY), set(2, 70)]).await;
    let amount = Nano::from_nanos(70);
    let expected = AllowanceRow { owner: owner_id(1), kind, amount, opened: Some(TODAY) };
    assert_eq!(store.load().await.expect("asked").snapshot.allowances, [expected]);
    let error = refused(store, vec![set(1, 50)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
}

async fn trial(store: &dyn Store) {
    let empty = store.trial_balance().await.expect("asked");
    assert_eq!((empty.last_seq, empty.snapshot.lots.len()), (0, 0));
    furnish(store, 1).await;
    let month = LotKey { currency: Currency::Bundled, tag: LotTag::Month(682), ..lot(1) };
    let close = Write::Journal(Record::LotClosed { lot: month });
    done(store, vec![lot_opened(month), close]).await;
    let trial = store.trial_balance().await.expect("asked");
    assert_eq!(trial.snapshot.lots.len(), 2);
    let last = store.journal(0, 10).await.expect("asked").last().map(|entry| entry.seq);
    assert_eq!(Some(trial.last_seq), last);
}
