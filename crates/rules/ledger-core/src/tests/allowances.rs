//! Daily and monthly allowances.

use money::{BalanceCurrency, Nano};

use super::books::*;
use crate::*;

const STAKE: AllowanceKind = AllowanceKind::DiemDaily;
const PLAN: AllowanceKind = AllowanceKind::BundledMonthly;

#[test]
fn a_stake_is_there_anew_each_day_and_does_not_roll_over() {
    let mut books = Books::new();
    books.set_allowance(STAKE, 10);
    assert_eq!(books.balance(), "10 DIEM");
    books.charge(4);
    assert_eq!(books.balance(), "6 DIEM");
    books.now = at("2026-11-15T23:59:59.999Z");
    assert_eq!(books.balance(), "6 DIEM");
    books.now = at("2026-11-16");
    assert_eq!(books.balance(), "10 DIEM");
    books.charge(10);
    assert_eq!(books.balance(), "");
    books.now = at("2026-11-20");
    assert_eq!(books.balance(), "10 DIEM");
}

#[test]
fn a_plan_is_there_anew_each_month() {
    let mut books = Books::new();
    books.set_allowance(PLAN, 100);
    books.charge(30);
    books.now = at("2026-11-30T23:59:59.999Z");
    assert_eq!(books.balance(), "70 BUNDLED_CREDITS");
    books.now = at("2026-12-01");
    assert_eq!(books.balance(), "100 BUNDLED_CREDITS");
}

#[test]
fn the_first_touch_opens_the_lot_once() {
    let mut books = Books::new();
    books.set_allowance(STAKE, 10);
    let opened = |books: &Books| {
        books.journal.iter().filter(|it| matches!(it, JournalRecord::LotOpened { .. })).count()
    };
    assert_eq!(opened(&books), 0);
    let hold = books.hold(1);
    assert_eq!(opened(&books), 1);
    books.release(hold);
    books.hold(1);
    assert_eq!(opened(&books), 1);
}

#[test]
fn a_refused_hold_opens_nothing() {
    let mut books = Books::new();
    books.set_allowance(STAKE, 10);
    let refused = books.try_hold(None, HoldRange::Exactly(Nano::from_nanos(11).into()));
    let (available, wanted) = (Nano::from_nanos(10), Nano::from_nanos(11));
    assert_eq!(refused, Err(CommandRejection::Insufficient { available, wanted }));
    assert_eq!(books.journal.len(), 1);
}

#[test]
fn raising_a_stake_adds_the_difference_at_once() {
    let mut books = Books::new();
    books.set_allowance(STAKE, 10);
    books.charge(4);
    books.set_allowance(STAKE, 15);
    assert_eq!(books.balance(), "11 DIEM");
    assert_eq!(books.ledger.allocation(OWNER, STAKE, books.now), Nano::from_nanos(15));
}

#[test]
fn lowering_a_stake_takes_back_what_is_left_and_never_more() {
    let mut books = Books::new();
    books.set_allowance(STAKE, 10);
    books.charge(4);
    let hold = books.hold(3);
    books.set_allowance(STAKE, 2);
    assert_eq!(books.balance(), "");
    books.settle(hold, 3);
    // Seven were used before the stake was lowered, so today's allocation is seven.
    assert_eq!(books.ledger.allocation(OWNER, STAKE, books.now), Nano::from_nanos(7));
    books.now = at("2026-11-16");
    assert_eq!(books.balance(), "2 DIEM");
    books.set_allowance(STAKE, 0);
    assert_eq!(books.balance(), "");
    assert_eq!(books.ledger.allowance(OWNER, STAKE), Nano::ZERO);
}

#[test]
fn the_allocation_less_the_balance_is_what_was_used() {
    let mut books = Books::new();
    books.set_allowance(STAKE, 10);
    assert_eq!(books.ledger.allocation(OWNER, STAKE, books.now), Nano::from_nanos(10));
    let charge = books.charge(4);
    books.apply(&refund(charge)).unwrap();
    books.charge(3);
    assert_eq!(books.ledger.allocation(OWNER, STAKE, books.now), Nano::from_nanos(10));
    assert_eq!(books.balance(), "7 DIEM");
}

#[test]
fn a_clock_set_back_opens_no_lot_again() {
    let mut books = Books::new();
    books.set_allowance(STAKE, 10);
    books.now = at("2026-11-16");
    books.charge(10);
    books.now = at("2026-11-15T23:00:00Z");
    assert_eq!(books.balance(), "");
    books.now = at("2026-11-18");
    books.sweep();
    books.now = at("2026-11-16");
    assert_eq!(books.balance(), "");
}

#[test]
fn setting_an_allowance_again_by_the_same_entry_changes_nothing() {
    let mut books = Books::new();
    let entry = EntryId(books.id());
    let set = |nanos| CreditCommand::SetAllowance {
        entry,
        owner: OWNER,
        kind: STAKE,
        amount: Nano::from_nanos(nanos),
    };
    books.apply(&set(10)).unwrap();
    assert!(matches!(books.apply(&set(10)), Err(CommandRejection::Duplicate { earlier: Some(_) })));
    books.set_allowance(STAKE, 20);
    assert!(matches!(books.apply(&set(10)), Err(CommandRejection::Duplicate { .. })));
    assert_eq!(books.balance(), "20 DIEM");
    assert_eq!(AllowanceKind::from_currency(BalanceCurrency::Diem), Some(STAKE));
    assert_eq!(AllowanceKind::from_currency(BalanceCurrency::Usd), None);
}

#[test]
fn neighbouring_owners_and_periods_never_share_an_entry() {
    let mut entries = std::collections::HashSet::new();
    for owner in 0..64 {
        let owner = OwnerId(uuid::Uuid::from_u128(owner));
        for period in 20_400..20_500 {
            for kind in AllowanceKind::ALL {
                assert!(entries.insert(EntryId::for_allowance(owner, kind, period)));
            }
        }
    }
}
