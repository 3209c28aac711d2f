//! Holds of a share of the balance, and their raises.

use money::{BalanceCurrency, Nano};

use super::books::*;
use crate::*;

fn share(least: i64, most: i64) -> HoldRange {
    HoldRange::Share { least: Nano::from_nanos(least).into(), most: Nano::from_nanos(most).into() }
}

fn up_to(most: i64) -> HoldRange {
    HoldRange::UpTo { least: Nano::ZERO.into(), most: Nano::from_nanos(most).into() }
}

/// Raises a hold and returns all that is then held.
#[track_caller]
fn raise(books: &mut Books, hold: HoldId, want: HoldRange) -> i64 {
    match books.apply(&CreditCommand::Raise { hold, want }) {
        Ok(CommandOutcome::Held(HeldAmounts { means, .. })) => means.total().nanos(),
        other => panic!("{other:?}"),
    }
}

fn held(books: &Books, hold: HoldId) -> i64 {
    books.ledger.held_amount(hold).unwrap().nanos()
}

#[test]
fn a_share_is_a_quarter_of_what_is_free_within_its_range() {
    let mut books = Books::with_usd(1_000);
    let first = books.try_hold(None, share(10, 5_000)).unwrap();
    assert_eq!(held(&books, first), 250);
    let second = books.try_hold(None, share(10, 100)).unwrap();
    assert_eq!(held(&books, second), 100);
    let third = books.try_hold(None, share(600, 5_000)).unwrap();
    assert_eq!(held(&books, third), 600, "the least, since a quarter is not enough");
    let refused = books.try_hold(None, share(51, 5_000)).unwrap_err();
    let (available, wanted) = (Nano::from_nanos(50), Nano::from_nanos(51));
    assert_eq!(refused, CommandRejection::Insufficient { available, wanted });
}

#[test]
fn a_share_is_a_quarter_of_what_the_limit_of_the_key_leaves() {
    let mut books = Books::with_usd(1_000);
    let limit_usd = Some(Nano::from_nanos(400));
    let key = KeyTerms { key: KEY, limit_usd, limit_diem: None, period: LimitPeriod::Epoch };
    let first = books.try_hold(Some(key), share(1, 5_000)).unwrap();
    assert_eq!(held(&books, first), 100);
    let second = books.try_hold(Some(key), share(1, 5_000)).unwrap();
    assert_eq!(held(&books, second), 75);
    assert_eq!(raise(&mut books, second, up_to(5_000)), 300, "up to the limit of the key");
    assert_eq!(books.spent(LimitClass::Usd, LimitPeriod::Epoch), (0, 400));
    books.release(first);
    assert_eq!(raise(&mut books, second, up_to(5_000)), 400);
    books.settle(second, 350);
    assert_eq!(books.spent(LimitClass::Usd, LimitPeriod::Epoch), (350, 0));
    assert_eq!(books.balance(), "650 USD");
}

#[test]
fn a_raise_adds_all_or_a_part_or_nothing() {
    let mut books = Books::with_usd(1_000);
    let hold = books.hold(100);
    assert_eq!(raise(&mut books, hold, up_to(300)), 400);
    assert_eq!(raise(&mut books, hold, share(0, 5_000)), 550, "a quarter of the rest");
    assert_eq!(raise(&mut books, hold, share(500, 5_000)), 1_000, "what is left of the least");
    assert_eq!(raise(&mut books, hold, up_to(1)), 1_000);
    assert_eq!(books.balance(), "");
    let receipt = books.settle(hold, 700);
    assert_eq!(receipt.legs.len(), 1, "one leg for each lot");
    assert_eq!(books.balance(), "300 USD");
}

#[test]
fn a_raise_takes_other_currencies_when_the_first_is_used_up() {
    let mut books = Books::with_usd(100);
    books.grant(BalanceCurrency::Diem, 50, None);
    let hold = books.hold(40);
    assert_eq!(raise(&mut books, hold, up_to(60)), 100);
    let receipt = books.settle(hold, 90);
    assert_eq!(receipt.paid(BalanceCurrency::Diem), Nano::from_nanos(50));
    assert_eq!(receipt.paid(BalanceCurrency::Usd), Nano::from_nanos(40));
}

#[test]
fn only_open_holds_of_requests_are_raised() {
    let mut books = Books::with_usd(100);
    let (job, ended) = (books.job(10), books.hold(10));
    books.release(ended);
    for hold in [job, ended] {
        let command = CreditCommand::Raise { hold, want: up_to(5) };
        assert_eq!(books.apply(&command), Err(CommandRejection::NoSuchHold));
    }
    let hold = books.hold(10);
    let command = CreditCommand::Raise { hold, want: up_to(-5) };
    assert_eq!(books.apply(&command), Err(CommandRejection::InvalidAmount));
    assert_eq!(held(&books, hold), 10);
}

#[test]
fn a_raise_opens_an_allowance_that_is_due_and_only_if_it_adds_something() {
    let mut books = Books::with_usd(100);
    books.set_allowance(AllowanceKind::DiemDaily, 10);
    let opened = |books: &Books| {
        books.journal.iter().filter(|it| matches!(it, JournalRecord::LotOpened { .. })).count()
    };
    let hold = books.hold(5);
    let before = opened(&books);
    books.now = at("2026-11-16");
    assert_eq!(raise(&mut books, hold, up_to(0)), 5);
    assert_eq!(opened(&books), before);
    assert_eq!(raise(&mut books, hold, up_to(8)), 13);
    assert_eq!(opened(&books), before + 1, "the allowance of the new day");
    assert_eq!(books.balance(), "100 USD, 2 DIEM");
}

#[test]
fn a_raise_adds_nothing_to_a_limited_currency_after_the_period_of_the_key() {
    let mut books = Books::with_usd(1_000);
    let hold = books.hold_with(terms(Some(400), None, LimitPeriod::Epoch), 100);
    assert_eq!(raise(&mut books, hold, up_to(50)), 150);
    books.now = at("2026-11-16");
    assert_eq!(raise(&mut books, hold, up_to(50)), 150);
    books.grant(BalanceCurrency::Diem, 30, None);
    assert_eq!(raise(&mut books, hold, up_to(50)), 180, "DIEM has no limit");
}

#[test]
fn a_raise_after_the_period_of_the_key_keeps_what_was_spent_in_it() {
    let mut books = Books::with_usd(1_000);
    let key = terms(None, None, LimitPeriod::Epoch);
    let early = books.hold_with(key, 100);
    let spent = books.hold_with(key, 30);
    let charge = books.settle(spent, 30).charge;
    books.now = at("2026-11-16T01:00:00Z");
    let late = books.hold_with(key, 20);
    books.settle(late, 20);
    raise(&mut books, early, up_to(50));
    // The refund counts for the day of its charge, which the early hold keeps open.
    books.apply(&refund(charge)).unwrap();
    books.settle(early, 150);
    assert_eq!(books.spent(LimitClass::Usd, LimitPeriod::Lifetime), (170, 0));
}
