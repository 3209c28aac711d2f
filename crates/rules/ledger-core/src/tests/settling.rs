//! The amounts that a settle charges, especially when the cost exceeds the hold.

use money::{BalanceCurrency, Nano};

use super::books::*;
use crate::*;

#[test]
fn a_receipt_tells_who_paid_and_what_is_left() {
    let mut books = Books::with_usd(10);
    books.grant(BalanceCurrency::Diem, 3, None);
    let hold = books.hold(8);
    let receipt = books.settle(hold, 5);
    assert_eq!(receipt.paid(BalanceCurrency::Diem), Nano::from_nanos(3));
    assert_eq!(receipt.paid(BalanceCurrency::Usd), Nano::from_nanos(2));
    assert_eq!(receipt.written_off, Nano::ZERO);
    assert_eq!(show(&receipt.remaining), "8 USD");
    assert_eq!(receipt.remaining.total(), Nano::from_nanos(8));
    assert_eq!(books.system(BalanceCurrency::Usd, SystemKind::Revenue), 2);
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
    assert_eq!(books.system(BalanceCurrency::Usd, SystemKind::Revenue), 100);
    assert_eq!(books.system(BalanceCurrency::Usd, SystemKind::Writeoff), -93);
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
    let settle = CreditCommand::Settle { entry, hold, cost: amount.into() };
    let outcome = books.apply(&settle).unwrap();
    let again = CommandRejection::Duplicate { earlier: Some(Box::new(outcome)) };
    assert_eq!(books.apply(&settle), Err(again));
    assert_eq!(books.balance(), "7 USD");
}

#[test]
fn a_charge_of_several_lots_is_one_group_of_numbered_legs() {
    let mut books = Books::with_usd(10);
    books.grant(BalanceCurrency::Diem, 3, None);
    let hold = books.hold_with(terms(Some(9), None, LimitPeriod::Epoch), 8);
    let from = books.journal.len();
    let entry = books.settle(hold, 20).charge;
    let group = &books.journal[from..];
    let legs: Vec<(EntryId, u16, TransferCode)> = group
        .iter()
        .filter_map(|record| match record {
            JournalRecord::Transfer(it) => Some((it.entry, it.leg, it.code)),
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
    let counted = group.iter().filter(|it| matches!(it, JournalRecord::KeySpent { .. })).count();
    assert_eq!(counted, 2);
}

/// A cost of seven in dollars or six in DIEM, times a factor.
fn dearer_in_usd(factor: i64) -> money::WorkCost {
    money::WorkCost { usd: Nano::from_nanos(7 * factor), diem: Nano::from_nanos(6 * factor) }
}

fn settle(books: &mut Books, hold: HoldId, cost: money::WorkCost) -> ChargeReceipt {
    let entry = EntryId(books.id());
    match books.apply(&CreditCommand::Settle { entry, hold, cost }) {
        Ok(CommandOutcome::Settled(receipt)) => receipt,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_currency_pays_its_own_price_for_its_share() {
    let mut books = Books::with_usd(1_000);
    books.grant(BalanceCurrency::Diem, 300, None);
    let hold = books.try_hold(None, HoldRange::Exactly(dearer_in_usd(100))).unwrap();
    assert_eq!(books.balance(), "650 USD", "half of the work is held in each");
    // Two thirds of the work: three quarters of it in DIEM, and the last quarter in dollars.
    let cost = money::WorkCost { usd: Nano::from_nanos(466), diem: Nano::from_nanos(400) };
    let receipt = settle(&mut books, hold, cost);
    assert_eq!(show_legs(&receipt.legs), "DIEM 300, USD 117", "116½ is rounded up");
    assert_eq!(receipt.written_off, Nano::ZERO);
    assert_eq!(books.balance(), "883 USD");
}

#[test]
fn an_account_with_one_currency_pays_its_price() {
    for (currency, balance, legs) in [
        (BalanceCurrency::Usd, 700, "USD 700"),
        (BalanceCurrency::Diem, 600, "DIEM 600"),
        (BalanceCurrency::Bundled, 700, "BUNDLED_CREDITS 700"),
    ] {
        let mut books = Books::new();
        books.grant(currency, balance, None);
        let want = HoldRange::Exactly(dearer_in_usd(100));
        let hold = books.try_hold(None, want).unwrap();
        assert_eq!(books.balance(), "");
        assert_eq!(show_legs(&settle(&mut books, hold, dearer_in_usd(100)).legs), legs);
        books.grant(currency, balance - 1, None);
        assert!(books.try_hold(None, want).is_err(), "one nano short in {currency}");
    }
}

#[test]
fn a_shortage_is_told_in_dollars() {
    let mut books = Books::with_usd(100);
    books.grant(BalanceCurrency::Diem, 300, None);
    let refused = books.try_hold(None, HoldRange::Exactly(dearer_in_usd(100)));
    let (available, wanted) = (Nano::from_nanos(450), Nano::from_nanos(700));
    assert_eq!(refused, Err(CommandRejection::Insufficient { available, wanted }));
    let up_to = HoldRange::UpTo { least: dearer_in_usd(60), most: dearer_in_usd(100) };
    let hold = books.try_hold(None, up_to).unwrap();
    assert_eq!(books.balance(), "");
    let receipt = settle(&mut books, hold, dearer_in_usd(100));
    assert_eq!(show_legs(&receipt.legs), "DIEM 300, USD 100");
    assert_eq!(receipt.written_off, Nano::from_nanos(250), "and nobody is below zero");
}

#[test]
fn a_limit_counts_what_was_paid_in_its_currency() {
    let mut books = Books::with_usd(1_000);
    books.grant(BalanceCurrency::Diem, 1_000, None);
    let key = terms(Some(350), Some(300), LimitPeriod::Epoch);
    let hold = books.try_hold(Some(key), HoldRange::Exactly(dearer_in_usd(100))).unwrap();
    settle(&mut books, hold, dearer_in_usd(100));
    assert_eq!(books.spent(LimitClass::Diem, LimitPeriod::Epoch), (300, 0));
    assert_eq!(books.spent(LimitClass::Usd, LimitPeriod::Epoch), (350, 0));
    let one_more = books.try_hold(Some(key), HoldRange::Exactly(Nano::from_nanos(1).into()));
    assert!(matches!(one_more, Err(CommandRejection::KeyLimit { class: LimitClass::Usd, .. })));
}
