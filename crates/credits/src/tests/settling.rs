//! What a settle charges, above all when the work cost more than was held.

use money::{Currency, Nano};

use super::books::*;
use crate::*;

#[test]
fn a_receipt_tells_who_paid_and_what_is_left() {
    let mut books = Books::with_usd(10);
    books.grant(Currency::Diem, 3, None);
    let hold = books.hold(8);
    let receipt = books.settle(hold, 5);
    assert_eq!(receipt.paid(Currency::Diem), Nano::from_nanos(3));
    assert_eq!(receipt.paid(Currency::Usd), Nano::from_nanos(2));
    assert_eq!(receipt.written_off, Nano::ZERO);
    assert_eq!(show(&receipt.remaining), "8 USD");
    assert_eq!(receipt.remaining.total(), Nano::from_nanos(8));
    assert_eq!(books.system(Currency::Usd, SystemKind::Revenue), 2);
}

#[test]
fn a_cost_above_the_hold_is_taken_from_what_else_is_there() {
    let mut books = Books::with_usd(10);
    let hold = books.hold(4);
    let receipt = books.settle(hold, 9);
    assert_eq!(show_legs(&receipt.legs), "USD 4, USD 5");
    assert_eq!(receipt.written_off, Nano::ZERO);
    assert_eq!(books.balance(), "1 USD");
}

#[test]
fn a_cost_above_everything_is_written_off_and_never_negative() {
    let mut books = Books::with_usd(10);
    let other = books.hold(3);
    let hold = books.hold(4);
    let receipt = books.settle(hold, 100);
    assert_eq!(show_legs(&receipt.legs), "USD 4, USD 3");
    assert_eq!(receipt.written_off, Nano::from_nanos(93));
    assert_eq!(books.balance(), "");
    assert_eq!(books.system(Currency::Usd, SystemKind::Revenue), 100);
    assert_eq!(books.system(Currency::Usd, SystemKind::Writeoff), -93);
    books.settle(other, 3);
}

#[test]
fn an_overrun_stays_within_the_limit_of_the_key() {
    let mut books = Books::with_usd(100);
    let key = terms(Some(10), None, LimitPeriod::Epoch);
    let hold = books.hold_with(key, 8);
    let receipt = books.settle(hold, 15);
    assert_eq!(show_legs(&receipt.legs), "USD 8, USD 2");
    assert_eq!(receipt.written_off, Nano::from_nanos(5));
    assert_eq!(books.spent(LimitClass::Usd, LimitPeriod::Epoch), (10, 0));
}

#[test]
fn an_overrun_draws_on_no_limit_that_is_over() {
    let mut books = Books::with_usd(100);
    let key = terms(Some(10), None, LimitPeriod::Epoch);
    let hold = books.hold_with(key, 8);
    books.now = at("2026-11-16");
    let receipt = books.settle(hold, 15);
    assert_eq!(show_legs(&receipt.legs), "USD 8");
    assert_eq!(receipt.written_off, Nano::from_nanos(7));
}

#[test]
fn an_overrun_may_open_the_allowance_of_a_new_day() {
    let mut books = Books::with_usd(5);
    let hold = books.hold(5);
    books.set_allowance(AllowanceKind::DiemDaily, 10);
    books.now = at("2026-11-16");
    assert_eq!(show_legs(&books.settle(hold, 8).legs), "USD 5, DIEM 3");
    assert_eq!(books.balance(), "7 DIEM");
}

#[test]
fn settling_again_by_the_same_entry_tells_the_same_receipt() {
    let mut books = Books::with_usd(10);
    let hold = books.hold(4);
    let (entry, amount) = (EntryId(books.id()), Nano::from_nanos(3));
    let settle = Command::Settle { entry, hold, amount };
    let outcome = books.apply(&settle).unwrap();
    let again = Rejection::Duplicate { earlier: Some(Box::new(outcome)) };
    assert_eq!(books.apply(&settle), Err(again));
    assert_eq!(books.balance(), "7 USD");
}

#[test]
fn a_charge_of_several_lots_is_one_group_of_numbered_legs() {
    let mut books = Books::with_usd(10);
    books.grant(Currency::Diem, 3, None);
    let hold = books.hold_with(terms(Some(9), None, LimitPeriod::Epoch), 8);
    let from = books.journal.len();
    let entry = books.settle(hold, 20).charge;
    let group = &books.journal[from..];
    let legs: Vec<(EntryId, u16, TransferCode)> = group
        .iter()
        .filter_map(|record| match record {
            Record::Transfer(it) => Some((it.entry, it.leg, it.code)),
            _ => None,
        })
        .collect();
    let charge = TransferCode::Charge;
    let expected = [
        (entry, 0, charge),
        (entry, 1, charge),
        (entry, 2, charge),
        (entry, 3, TransferCode::Writeoff),
    ];
    assert_eq!(legs, expected);
    let counted = group.iter().filter(|it| matches!(it, Record::KeySpent { .. })).count();
    assert_eq!(counted, 2);
}
