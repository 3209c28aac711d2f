//! Refunds of charges.

use money::{Currency, Nano};

use super::books::*;
use crate::*;

/// The charge as recorded by the journal's transfers.
fn read_back(books: &Books, entry: EntryId) -> Charge {
    let mut charge = Charge::default();
    for record in &books.journal {
        let Record::Transfer(transfer) = record else { continue };
        if transfer.entry != entry {
            continue;
        }
        charge.key = transfer.key;
        match (transfer.code, &transfer.debit) {
            (TransferCode::Charge, Account::Lot(lot)) => {
                charge.legs.push(Leg { lot: *lot, amount: transfer.amount });
            }
            _ => charge.written_off = transfer.amount,
        }
    }
    charge
}

#[track_caller]
fn refunded(books: &mut Books, command: &Command) -> Refund {
    match books.apply(command) {
        Ok(Outcome::Refunded(refund)) => refund,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refund_returns_every_leg_to_its_lot() {
    let mut books = Books::with_usd(10);
    books.grant(Currency::Diem, 3, None);
    let charge = books.charge(8);
    let refund = refunded(&mut books, &refund(charge));
    assert_eq!(show_legs(&refund.returned), "DIEM 3, USD 5");
    assert_eq!(refund.lapsed, []);
    assert_eq!(show(&refund.remaining), "10 USD, 3 DIEM");
    assert_eq!(books.system(Currency::Usd, SystemKind::Revenue), 0);
}

#[test]
fn a_second_refund_is_refused_with_the_first_one() {
    let mut books = Books::with_usd(10);
    let charge = books.charge(8);
    let first = books.apply(&refund(charge)).unwrap();
    let again = Rejection::AlreadyRefunded { earlier: Some(Box::new(first)) };
    assert_eq!(books.apply(&refund(charge)), Err(again));
    let source = ChargeSource::Journal(read_back(&books, charge));
    let by_journal = Command::Refund { charge, source };
    assert!(matches!(books.apply(&by_journal), Err(Rejection::AlreadyRefunded { .. })));
    assert_eq!(books.balance(), "10 USD");
}

#[test]
fn a_refund_can_be_refunded_no_more_than_it_can_be_charged() {
    let mut books = Books::with_usd(10);
    let charge = books.charge(8);
    let entry = refunded(&mut books, &refund(charge)).entry;
    assert_eq!(entry.refunded_charge(), charge);
    assert!(books.apply(&refund(entry)).is_err());
    let unknown = EntryId(books.id());
    assert_eq!(books.apply(&refund(unknown)), Err(Rejection::NoSuchCharge));
    let topped_up = books.top_up(5);
    assert_eq!(books.apply(&refund(topped_up)), Err(Rejection::NoSuchCharge));
}

#[test]
fn a_refund_to_an_expired_lot_lapses_at_once() {
    let mut books = Books::with_usd(10);
    books.grant(Currency::Vcu, 3, Some("2026-11-16"));
    let charge = books.charge(8);
    books.now = at("2026-11-16");
    let refund = refunded(&mut books, &refund(charge));
    assert_eq!(
        (show_legs(&refund.returned), show_legs(&refund.lapsed)),
        ("USD 5".into(), "VCU 3".into())
    );
    assert_eq!(books.system(Currency::Vcu, SystemKind::Expired), 3);
    assert_eq!(books.balance(), "10 USD");
}

#[test]
fn a_refund_to_a_closed_lot_lapses_at_once() {
    let mut books = Books::new();
    books.grant(Currency::Vcu, 3, Some("2026-11-16"));
    let charge = books.charge(2);
    books.now = at("2026-11-16");
    books.sweep();
    let refund = refunded(&mut books, &refund(charge));
    assert_eq!(show_legs(&refund.lapsed), "VCU 2");
    assert_eq!(books.system(Currency::Vcu, SystemKind::Expired), 3);
    assert_eq!(books.system(Currency::Vcu, SystemKind::Revenue), 0);
}

#[test]
fn an_old_charge_is_refunded_by_what_the_journal_says() {
    let mut books = Books::with_usd(10);
    let key = terms(Some(9), None, LimitPeriod::Lifetime);
    let hold = books.hold_with(key, 8);
    let charge = books.settle(hold, 8).charge;
    let remembered = books.ledger.recent_charge(charge).cloned();
    assert_eq!(remembered, Some(read_back(&books, charge)));
    books.now = at("2026-11-16");
    books.ledger.forget(books.now);
    assert_eq!(books.apply(&refund(charge)), Err(Rejection::NoSuchCharge));
    let source = ChargeSource::Journal(read_back(&books, charge));
    refunded(&mut books, &Command::Refund { charge, source });
    assert_eq!(books.balance(), "10 USD");
    assert_eq!(books.spent(LimitClass::Usd, LimitPeriod::Lifetime), (0, 0));
}

#[test]
fn what_was_written_off_is_not_paid_out() {
    let mut books = Books::with_usd(10);
    let hold = books.hold(10);
    let charge = books.settle(hold, 25).charge;
    let refund = refunded(&mut books, &refund(charge));
    assert_eq!(show_legs(&refund.returned), "USD 10");
    assert_eq!(books.balance(), "10 USD");
    assert_eq!(books.system(Currency::Usd, SystemKind::Writeoff), 0);
    assert_eq!(books.system(Currency::Usd, SystemKind::Revenue), 0);
}

#[test]
fn a_journal_that_lies_about_amounts_is_refused() {
    let mut books = Books::with_usd(10);
    let lot = LotKey { owner: OWNER, currency: Currency::Usd, tag: LotTag::Main };
    let charge = EntryId(books.id());
    let amount = Nano::from_nanos(-1);
    let lie = Charge { legs: vec![Leg { lot, amount }], ..Charge::default() };
    let source = ChargeSource::Journal(lie);
    assert_eq!(books.apply(&Command::Refund { charge, source }), Err(Rejection::InvalidAmount));
    let source = ChargeSource::Journal(Charge::default());
    assert_eq!(books.apply(&Command::Refund { charge, source }), Err(Rejection::NoSuchCharge));
}
