//! Limits of keys.

use money::BalanceCurrency::{Bundled, Diem, Vcu};
use money::Nano;

use super::books::*;
use crate::LimitClass::{Diem as DiemClass, Usd as UsdClass};
use crate::LimitPeriod::{Epoch, Lifetime, Month};
use crate::*;

fn exactly(nanos: i64) -> HoldRange {
    HoldRange::Exactly(Nano::from_nanos(nanos).into())
}

/// Holds `nanos` through the key and expects its limit to refuse it.
#[track_caller]
fn check_refused(
    books: &mut Books,
    key: KeyTerms,
    nanos: i64,
    expected: (LimitClass, i64, i64, Option<&str>),
) {
    let refused = books.try_hold(Some(key), exactly(nanos)).unwrap_err();
    let (class, limit, used, resets_at) = expected;
    let (limit, used) = (Nano::from_nanos(limit), Nano::from_nanos(used));
    let (period, resets_at) = (key.period, resets_at.map(at));
    assert_eq!(refused, CommandRejection::KeyLimit { class, limit, used, period, resets_at });
}

#[test]
fn a_limit_refuses_what_the_owner_could_pay_and_says_when_it_resets() {
    let mut books = Books::with_usd(100);
    let key = terms(Some(10), None, Epoch);
    let hold = books.hold_with(key, 6);
    books.settle(hold, 4);
    check_refused(&mut books, key, 7, (UsdClass, 10, 4, Some("2026-11-16")));
    let month = KeyTerms { period: Month, ..key };
    check_refused(&mut books, month, 7, (UsdClass, 10, 4, Some("2026-12-01")));
    let lifetime = KeyTerms { period: Lifetime, ..key };
    check_refused(&mut books, lifetime, 7, (UsdClass, 10, 4, None));
    books.hold_with(key, 6);
}

#[test]
fn open_holds_count_against_the_limit() {
    let mut books = Books::with_usd(100);
    let key = terms(Some(10), None, Epoch);
    let hold = books.hold_with(key, 6);
    assert_eq!(books.spent(UsdClass, Epoch), (0, 6));
    check_refused(&mut books, key, 5, (UsdClass, 10, 6, Some("2026-11-16")));
    books.release(hold);
    assert_eq!(books.spent(UsdClass, Epoch), (0, 0));
    books.hold_with(key, 10);
}

#[test]
fn a_limit_starts_over_with_its_period() {
    let mut books = Books::with_usd(100);
    for (period, last, first) in [
        (Epoch, "2026-11-15T23:59:59.999Z", "2026-11-16"),
        (Month, "2026-11-30T23:59:59.999Z", "2026-12-01"),
    ] {
        books.now = at(last);
        let key = KeyTerms { key: KeyId(books.id()), ..terms(Some(10), None, period) };
        let hold = books.hold_with(key, 10);
        books.settle(hold, 10);
        assert!(books.try_hold(Some(key), exactly(1)).is_err());
        books.now = at(first);
        books.hold_with(key, 10);
    }
}

#[test]
fn the_dollar_limit_covers_bundled_credits_and_vcu() {
    let mut books = Books::with_usd(100);
    books.grant(Bundled, 5, None);
    books.grant(Vcu, 5, None);
    let key = terms(Some(12), None, Epoch);
    let hold = books.hold_with(key, 12);
    assert_eq!(show_legs(&books.settle(hold, 12).legs), "BUNDLED_CREDITS 5, VCU 5, USD 2");
    assert_eq!(books.spent(UsdClass, Epoch), (12, 0));
    assert_eq!(books.spent(DiemClass, Epoch), (0, 0));
}

#[test]
fn a_key_at_its_diem_limit_pays_with_dollars() {
    let mut books = Books::with_usd(100);
    books.grant(Diem, 100, None);
    let key = terms(None, Some(10), Epoch);
    let hold = books.hold_with(key, 15);
    assert_eq!(show_legs(&books.settle(hold, 15).legs), "DIEM 10, USD 5");
    assert_eq!(books.spent(DiemClass, Epoch), (10, 0));
    let hold = books.hold_with(key, 5);
    assert_eq!(show_legs(&books.settle(hold, 5).legs), "USD 5");
}

#[test]
fn the_limit_that_stopped_the_hold_is_the_one_that_is_told() {
    let mut books = Books::with_usd(100);
    books.grant(Diem, 100, None);
    let both = terms(Some(5), Some(10), Epoch);
    check_refused(&mut books, both, 16, (UsdClass, 5, 0, Some("2026-11-16")));
    let mut books = Books::with_usd(3);
    books.grant(Diem, 100, None);
    let both = terms(Some(5), Some(10), Epoch);
    check_refused(&mut books, both, 16, (DiemClass, 10, 0, Some("2026-11-16")));
    // Above the owner's balance, the balance refuses and not the limit.
    let refused = books.try_hold(Some(both), exactly(104)).unwrap_err();
    let (available, wanted) = (Nano::from_nanos(13), Nano::from_nanos(104));
    assert_eq!(refused, CommandRejection::Insufficient { available, wanted });
}

#[test]
fn a_late_settle_counts_in_the_period_of_its_hold() {
    let mut books = Books::with_usd(100);
    let key = terms(Some(10), None, Epoch);
    let hold = books.hold_with(key, 10);
    books.now = at("2026-11-16");
    let today = books.hold_with(key, 10);
    books.settle(hold, 8);
    assert_eq!(books.spent(UsdClass, Epoch), (0, 10));
    books.settle(today, 9);
    assert_eq!(books.spent(UsdClass, Epoch), (9, 0));
    assert_eq!(books.spent(UsdClass, Month), (17, 0));
    assert_eq!(books.spent(UsdClass, Lifetime), (17, 0));
}

#[test]
fn a_limit_set_later_knows_what_was_spent_before() {
    let mut books = Books::with_usd(100);
    let hold = books.hold_with(terms(None, None, Epoch), 7);
    books.settle(hold, 7);
    let key = terms(Some(10), None, Lifetime);
    check_refused(&mut books, key, 4, (UsdClass, 10, 7, None));
}

#[test]
fn a_limit_of_zero_lets_nothing_through_but_free_work() {
    let mut books = Books::with_usd(100);
    let key = terms(Some(0), None, Epoch);
    check_refused(&mut books, key, 1, (UsdClass, 0, 0, Some("2026-11-16")));
    books.hold_with(key, 0);
}

#[test]
fn a_lowered_limit_refuses_new_holds_and_keeps_old_ones() {
    let mut books = Books::with_usd(100);
    let hold = books.hold_with(terms(Some(50), None, Epoch), 50);
    let lowered = terms(Some(10), None, Epoch);
    check_refused(&mut books, lowered, 1, (UsdClass, 10, 50, Some("2026-11-16")));
    assert_eq!(show_legs(&books.settle(hold, 50).legs), "USD 50");
}

#[test]
fn a_refund_gives_the_limit_back() {
    let mut books = Books::with_usd(100);
    let key = terms(Some(10), None, Epoch);
    let hold = books.hold_with(key, 10);
    let charge = books.settle(hold, 10).charge;
    books.apply(&refund(charge)).unwrap();
    assert_eq!(books.spent(UsdClass, Epoch), (0, 0));
    books.hold_with(key, 10);
}

#[test]
fn counters_of_past_days_do_not_pile_up() {
    let mut books = Books::with_usd(1_000);
    let key = terms(Some(10), None, Epoch);
    for day in 16..=30 {
        books.now = at(&format!("2026-11-{day}"));
        let hold = books.hold_with(key, 10);
        books.settle(hold, 10);
    }
    let counters = &books.ledger.keys[&KEY];
    assert_eq!(counters.counter(UsdClass).buckets().len(), 3);
}

#[test]
fn names_of_periods_and_classes_are_read_as_they_are_written() {
    for period in LimitPeriod::ALL {
        assert_eq!(LimitPeriod::from_name(period.name()), Some(period));
    }
    for class in LimitClass::ALL {
        assert_eq!(LimitClass::from_name(class.name()), Some(class));
    }
    assert_eq!(LimitPeriod::from_name("DAY"), None);
}
