//! Refunds of charges.

use money::{BalanceCurrency, Nano};

use super::books::*;
use crate::*;

/// The charge as recorded by the journal's transfers.
fn read_back(books: &Books, entry: EntryId) -> SettledCharge {
    let mut charge = SettledCharge::default();
    for record in &books.journal {
        let JournalRecord::Transfer(transfer) = record else { continue };
        if transfer.entry != entry {
            continue;
        }
        charge.key = transfer.key;
        match (transfer.code, &transfer.debit) {
            (TransferCode::Charge, LedgerAccount::Lot(lot)) => {
                charge.legs.push(PaymentLeg { lot: *lot, amount: transfer.amount });
            }
            _ => charge.written_off = transfer.amount,
        }
    }
    charge
}

#[track_caller]
fn refunded(books: &mut Books, command: &CreditCommand) -> RefundReceipt {
    match books.apply(command) {
        Ok(CommandOutcome::Refunded(refund)) => refund,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refund_returns_every_leg_to_its_lot() {
    let mut books = Books::with_usd(10);
    books.grant(BalanceCurrency::Diem, 3, None);
    let charge = books.charge(8);
    let refund = refunded(&mut books, &refund(charge));
    assert_eq!(show_legs(&refund.returned), "DIEM 3, USD 5");
    assert_eq!(refund.lapsed, []);
    assert_eq!(show(&refund.remaining), "10 USD, 3 DIEM");
    assert_eq!(books.system(BalanceCurrency::Usd, SystemKind::Revenue), 0);
}

#[test]
fn a_second_refund_is_refused_with_the_first_one() {
    let mut books = Books::with_usd(10);
    let charge = books.charge(8);
    let first = books.apply(&refund(charge)).unwrap();
    let again = CommandRejection::AlreadyRefunded { earlier: Some(Box::new(first)) };
    assert_eq!(books.apply(&refund(charge)), Err(again));
    let source = ChargeSource::Journal(read_back(&books, charge));
    let by_journal = CreditCommand::Refund { charge, source };
    assert!(matches!(books.apply(&by_journal), Err(CommandRejection::AlreadyRefunded { .. })));
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
    assert_eq!(books.apply(&refund(unknown)), Err(CommandRejection::NoSuchCharge));
    let topped_up = books.top_up(5);
    assert_eq!(books.apply(&refund(topped_up)), Err(CommandRejection::NoSuchCharge));
}

#[test]
fn a_refund_to_an_expired_lot_lapses_at_once() {
    let mut books = Books::with_usd(10);
    books.grant(BalanceCurrency::Vcu, 3, Some("2026-11-16"));
    let charge = books.charge(8);
    books.now = at("2026-11-16");
    let refund = refunded(&mut books, &refund(charge));
    assert_eq!(
        (show_legs(&refund.returned), show_legs(&refund.lapsed)),
        ("USD 5".into(), "VCU 3".into())
    );
    assert_eq!(books.system(BalanceCurrency::Vcu, SystemKind::Expired), 3);
    assert_eq!(books.balance(), "10 USD");
}

#[test]
fn a_refund_to_a_closed_lot_lapses_at_once() {
    let mut books = Books::new();
    books.grant(BalanceCurrency::Vcu, 3, Some("2026-11-16"));
    let charge = books.charge(2);
    books.now = at("2026-11-16");
    books.sweep();
    let refund = refunded(&mut books, &refund(charge));
    assert_eq!(show_legs(&refund.lapsed), "VCU 2");
    assert_eq!(books.system(BalanceCurrency::Vcu, SystemKind::Expired), 3);
    assert_eq!(books.system(BalanceCurrency::Vcu, SystemKind::Revenue), 0);
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
    books.ledger.forget_entries(books.now);
    assert_eq!(books.apply(&refund(charge)), Err(CommandRejection::NoSuchCharge));
    let source = ChargeSource::Journal(read_back(&books, charge));
    refunded(&mut books, &CreditCommand::Refund { charge, source });
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
    assert_eq!(books.system(BalanceCurrency::Usd, SystemKind::Writeoff), 0);
    assert_eq!(books.system(BalanceCurrency::Usd, SystemKind::Revenue), 0);
}

#[test]
fn a_journal_that_lies_about_amounts_is_refused() {
    let mut books = Books::with_usd(10);
    let lot = LotKey { owner: OWNER, currency: BalanceCurrency::Usd, tag: LotTag::Main };
    let charge = EntryId(books.id());
    let amount = Nano::from_nanos(-1);
    let lie = SettledCharge { legs: vec![PaymentLeg { lot, amount }], ..SettledCharge::default() };
    let source = ChargeSource::Journal(lie);
    assert_eq!(
        books.apply(&CreditCommand::Refund { charge, source }),
        Err(CommandRejection::InvalidAmount)
    );
    let source = ChargeSource::Journal(SettledCharge::default());
    assert_eq!(
        books.apply(&CreditCommand::Refund { charge, source }),
        Err(CommandRejection::NoSuchCharge)
    );
}
